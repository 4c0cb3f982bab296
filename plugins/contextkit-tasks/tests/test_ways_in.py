"""The commands `contextkit task ...` and the tools, as people and agents use them."""

from __future__ import annotations

from pathlib import Path

import pytest

import contextkit_tasks
from contextkit import ContextItem, ContextKit, InvalidRequestError
from contextkit.agent.tools import offered_tools
from contextkit.models.items import Detail
from contextkit.testing import CommandLine, ToolCaller, printed_json, write_distribution
from contextkit_tasks import EmptyStackError, TaskStack

TIDE = """
from contextkit import ContextItem, IndexReport, Record, hookimpl

@hookimpl
def contextkit_index(indexer):
    indexer.records.put([Record(id="1", text="High water at noon, asks the tide")])
    return IndexReport(added=1)

@hookimpl
def contextkit_query(request):
    return [ContextItem("tide", r.text, 0.9) for r in request.records.newest(5)]
"""
README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def call(kit: ContextKit) -> ToolCaller:
    """Calls a tool by its name."""
    return ToolCaller(kit)


def test_a_day_at_the_command_line(run: CommandLine) -> None:
    """Push, path, peek, pop, list."""
    first = run("task", "push", "Make the release")
    assert first.stdout.startswith("Pushed task_")
    assert first.stdout.endswith(" (depth 0): Make the release\n")
    pushed = printed_json(run("task", "push", "Fix the test", "--detail", "test_wheel", "--json"))
    assert (pushed["depth"], pushed["detail"]) == (1, "test_wheel")
    assert run("task", "path").stdout == "Make the release\n  Fix the test\n"
    assert [frame["goal"] for frame in printed_json(run("task", "path", "--json"))] == [
        "Make the release",
        "Fix the test",
    ]
    assert run("task", "peek").stdout == (
        f"{pushed['id']} (active, depth 1)\n\nFix the test\n\ntest_wheel\n"
    )
    assert printed_json(run("task", "peek", "--json")) == pushed
    popped = run("task", "pop", "A path was joined by hand").stdout.splitlines()
    assert popped == [f"Popped {pushed['id']} (complete): Fix the test", "now: Make the release"]
    ended = printed_json(run("task", "pop", "no key", "--blocked", "--json"))
    assert (ended["status"], ended["result"]) == ("blocked", "no key")
    lines = run("task", "list").stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("complete  1  Fix the test -> A path was joined by hand")
    assert len(printed_json(run("task", "list", "--limit", "1", "--json"))) == 1
    run("task", "push", "Sign")
    run("task", "pop", "word " * 100)
    assert run("task", "list").stdout.splitlines()[0].endswith("-> " + "word " * 14 + "w…")


def test_an_empty_stack_at_the_command_line(run: CommandLine) -> None:
    """Looking at it is no error; popping it is."""
    assert run("task", "peek").stdout == "No task.\n"
    assert printed_json(run("task", "peek", "--json")) is None
    assert run("task", "path").stdout == "No task.\n"
    assert run("task", "list").stdout == "No tasks.\n"
    for command in (["pop", "done"], ["context"]):
        failed = run("task", *command)
        assert failed.exit_code == 5
        assert "the project's task stack is empty" in failed.stderr
    run("task", "push", "x")
    assert run("task", "pop", "done").stdout.endswith("\nthe stack is empty\n")
    refused = run("task", "push", " ")
    assert refused.exit_code == 2
    assert "a task's goal must not be empty" in refused.stderr


def test_a_context_at_the_command_line(run: CommandLine) -> None:
    """Of the session's current task, as text and as JSON."""
    run("task", "push", "Make the release", "--session", "monday")
    run("task", "push", "Fix the test", "--session", "monday", "--detail", "test_wheel")
    options = ("--session", "monday", "--sources", "tasks", "--max-tokens", "500")
    shown = run("task", "context", *options)
    assert shown.exit_code == 0, shown.stderr
    assert "## Root Goal\n\n**Task** (active): Make the release" in shown.stdout
    assert "test_wheel" in shown.stdout
    assert printed_json(run("task", "context", *options, "--json"))["trace"]["recipe"] == "task"
    assert run("task", "peek").stdout == "No task.\n"


def test_a_context_takes_what_assemble_takes(run: CommandLine) -> None:
    """A strategy, filters and looks reach the request, and the stack's own sections."""
    run("task", "push", "Make the release")
    pushed = printed_json(run("task", "push", "Fix the test", "--json"))
    alone = ("task", "context", "--sources", "tasks", "--json")
    balanced = printed_json(run(*alone, "--strategy", "balanced"))["trace"]
    assert (balanced["strategy"]["name"], balanced["recipe"]) == ("balanced", "task")
    for options in (["--set", "kinds=decision"], ["--since", "2999-01-01"]):
        assert printed_json(run(*alone, *options))["markdown"] == ""
    found = printed_json(run(*alone, "--set", f"exclude={pushed['id']}"))["markdown"]
    assert "Make the release" in found
    assert "Current Task" not in found
    compact = run("task", "context", "--sources", "tasks", "--set", "detail=compact").stdout
    assert "## Current Task\n\n- active: Fix the test" in compact
    refused = run("task", "context", "--strategy", "hasty")
    assert refused.exit_code == 2
    assert "hasty" in refused.stderr
    assert run("task", "context", "--set", "exclude_sources=moon").exit_code == 2


def test_a_context_is_made_of_records_that_are_up_to_date(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other sources index first, as for any context; with --no-index they do not."""
    write_distribution(tmp_path / "site", "their-tide", {"tide": "tide_beside_tasks"})
    (tmp_path / "site" / "tide_beside_tasks.py").write_text(TIDE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    run("task", "push", "Ask the tide")
    asked = ("task", "context", "--sources", "tasks,tide")
    assert "High water" not in run(*asked, "--no-index").stdout
    assert "High water at noon" in run(*asked).stdout


@pytest.mark.parametrize(
    "command", [[], *([name] for name in ("push", "pop", "peek", "path", "list", "context"))]
)
def test_every_help_has_an_example(run: CommandLine, command: list[str]) -> None:
    """The last line of each help can be copied."""
    shown = run("task", *command, "--help").stdout
    assert f"Example: contextkit {' '.join(['task', *command])}" in shown


def test_what_is_offered(kit: ContextKit) -> None:
    """Two tools write, two only read."""
    offered = offered_tools(kit.registry)
    assert list(offered) == ["pop_task", "push_task", "show_tasks", "task_context"]
    assert [name for name, offer in offered.items() if offer.tool.read_only] == [
        "show_tasks",
        "task_context",
    ]
    assert offered["push_task"].input_schema["required"] == ["goal"]


async def test_an_agents_task(kit: ContextKit, call: ToolCaller) -> None:
    """The tools and `TaskStack` are two ways to the same records."""
    assert (await call("show_tasks")).text == "No task."
    root = (await call("push_task", goal="Make the release", session="monday")).data
    await call("push_task", goal="Read the log", detail="of CI", session="monday")
    popped = await call("pop_task", result="Step 7 fails", session="monday")
    assert popped.text.endswith("(complete): Read the log")
    await call("push_task", goal="Run step 7", session="monday")
    shown = await call("show_tasks", session="monday")
    assert len(shown.data["path"][0]["children"]) == 2
    assert {**shown.data["path"][0], "children": []} == root
    assert [task["result"] for task in shown.data["sibling_results"]] == ["Step 7 fails"]
    assert shown.text.startswith("Make the release\n  Run step 7\n\nResults beside it:\ntask_")
    context = await call("task_context", session="monday", max_tokens=400)
    assert "Step 7 fails" in context.text
    assert 0 < context.data["tokens"] <= 400
    with pytest.raises(InvalidRequestError, match="hasty"):
        await call("task_context", session="monday", strategy="hasty")
    frames = TaskStack.of(kit, "monday").path()
    assert [frame.goal for frame in frames] == ["Make the release", "Run step 7"]


async def test_an_agent_is_told_what_is_wrong(call: ToolCaller) -> None:
    """The stack's own errors."""
    with pytest.raises(EmptyStackError):
        await call("pop_task", result="done")
    with pytest.raises(EmptyStackError):
        await call("task_context")


def test_the_names_of_the_module() -> None:
    """They are imported when they are first used; there is no other."""
    assert contextkit_tasks.TaskFrame.__name__ == "TaskFrame"
    with pytest.raises(AttributeError, match="no attribute 'TaskPile'"):
        _ = contextkit_tasks.TaskPile


def test_the_readme_is_true(
    kit: ContextKit, run: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its Python runs, and its commands are there."""
    code = README.split("```python\n")[1].split("```")[0]
    exec(code, {"kit": kit})  # noqa: S102
    printed = capsys.readouterr().out
    assert printed.startswith("['Make the release', 'Fix the failing test'] TaskFrame(")
    assert printed.endswith("['A path was joined by hand; fixed']\n")
    for line in README.splitlines():
        if line.startswith("contextkit task "):
            assert run("task", line.split()[2], "--help").exit_code == 0, line
    shown = [text.split("```")[0].strip() for text in README.split("```markdown\n")[1:]]
    stack = TaskStack.of(kit, "monday")
    ended = stack.children(stack.path()[0].id)[0]
    item = ContextItem("tasks", ended.text, 1.0, id=ended.id, metadata=ended.as_dict())
    details: tuple[Detail, ...] = ("full", "compact")
    for text, detail in zip(shown, details, strict=True):
        assert contextkit_tasks.contextkit_format([item], "markdown", detail) == [text]
