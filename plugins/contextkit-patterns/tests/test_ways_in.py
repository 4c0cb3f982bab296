"""The commands `contextkit patterns ...` and the tools, as people and agents use them."""

from __future__ import annotations

from pathlib import Path

import pytest

import contextkit_patterns
from contextkit import ContextItem, ContextKit
from contextkit.agent.tools import offered_tools
from contextkit.models.items import Detail
from contextkit.testing import CommandLine, ToolCaller, printed_json
from contextkit_patterns import InvalidPatternError, PatternBook, UnknownPatternError

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def call(kit: ContextKit) -> ToolCaller:
    """Calls a tool by its name."""
    return ToolCaller(kit)


def test_a_pattern_at_the_command_line(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add, count, list, find, edit on a terminal, remove."""
    monkeypatch.setattr("contextkit.cli.edit.is_terminal", lambda _: True)
    added = run(
        *("patterns", "add", "Tame a test", "--step", "Run it alone", "--step", "Set TZ"),
        *("--keyword", "flaky", "--intent", "fix", "--entity-type", "test"),
        *("--applications", "4", "--successes", "3"),
    )
    assert added.stdout == "Added tame-a-test (2 steps, this project)\n"
    counted = run("patterns", "applied", "tame-a-test", "--success")
    assert counted.stdout == "tame-a-test: worked 4 of 5 times\n"
    failed = printed_json(run("patterns", "applied", "Tame a test", "--failure", "--json"))
    assert (failed["applications"], failed["successes"]) == (6, 4)
    everywhere = printed_json(run("patterns", "add", "Bisect", "--step", "x", "--global", "--json"))
    assert (everywhere["scope"], everywhere["outcome"]) == ("user", "stored")
    again = run("patterns", "add", "Bisect", "--step", "x", "--global")
    assert again.stdout == "Already there: bisect (1 step, all your projects)\n"
    lines = run("patterns", "list").stdout.splitlines()
    assert lines[0] == "0.62  4 of 6  tame-a-test  Tame a test"
    assert run("patterns", "list", "--limit", "1").stdout.endswith("\n1 of 2 patterns\n")
    context = run("assemble", "fix a flaky build", "--sources", "patterns", "--no-index")
    assert "**Pattern**: Tame a test\nWorked: 4 of 6 times" in context.stdout
    assert run("patterns", "search", "flaky").stdout.endswith("4 of 6  tame-a-test  Tame a test\n")
    edited = run("patterns", "edit", "tame", EDITOR="sed -i 's/- \"*Set TZ\"*/- Fix: it #1/'")
    assert edited.stdout == "Changed tame-a-test: Tame a test\n"
    assert printed_json(run("patterns", "list", "--json"))[0]["steps"][1] == "Fix: it"
    assert "name cannot be" in run("patterns", "edit", "tame", EDITOR="sed -i '2i name: x'").stderr
    assert run("patterns", "remove", "bis").stdout == "Removed bisect\n"
    assert [each["id"] for each in printed_json(run("patterns", "list", "--json"))] == [
        "tame-a-test"
    ]


def test_what_is_wrong_at_the_command_line(run: CommandLine) -> None:
    """Exit code 2 for what cannot be, 5 for what is not there."""
    assert run("patterns", "list").stdout == "No patterns.\n"
    for arguments, code, message in (
        (("add", "x"), 2, "Missing option"),
        (("add", "!", "--step", "a"), 2, "has a letter or a digit"),
        (("add", "x", "--step", "a", "--intent", "mend"), 2, "'mend' is not one of"),
        (("add", "x", "--step", "a", "--successes", "2"), 2, "got 2 of 0"),
        (("applied", "x"), 2, "--success"),
        (("applied", "x", "--success"), 5, "no pattern has the id 'x'"),
        (("remove", "x"), 5, "no pattern has the id 'x'"),
    ):
        refused = run("patterns", *arguments)
        assert refused.exit_code == code, arguments
        assert message in refused.stderr, arguments


@pytest.mark.parametrize(
    "command", [[], *([one] for one in ["add", "list", "search", "edit", "applied", "remove"])]
)
def test_every_help_has_an_example(run: CommandLine, command: list[str]) -> None:
    """The last line of each help can be copied."""
    shown = run("patterns", *command, "--help").stdout
    assert "Example: contextkit patterns" in shown


def test_what_is_offered(kit: ContextKit) -> None:
    """Only one tool deletes, and one only reads."""
    offered = offered_tools(kit.registry)
    assert list(offered) == ["add_pattern", "list_patterns", "pattern_applied", "remove_pattern"]
    assert [name for name, offer in offered.items() if offer.tool.destructive] == ["remove_pattern"]
    assert [name for name, offer in offered.items() if offer.tool.read_only] == ["list_patterns"]
    assert offered["add_pattern"].input_schema["required"] == ["name", "steps"]


async def test_an_agents_pattern(kit: ContextKit, call: ToolCaller) -> None:
    """The tools and `PatternBook` are two ways to the same records."""
    made = await call("add_pattern", name="Tame", steps=["a"], keywords=["Flaky"], intents=["fix"])
    assert made.text == "Added tame (1 step, this project)"
    counted = await call("pattern_applied", pattern="tame", success=True)
    assert counted.text == "tame: worked 1 of 1 times"
    assert PatternBook.of(kit).get("tame").as_dict() == counted.data
    await call("add_pattern", name="Other", steps=["a"], for_all_projects=True)
    listed = await call("list_patterns", limit=1)
    assert (listed.data["patterns"], listed.data["total"]) == ([counted.data], 2)
    assert (await call("remove_pattern", pattern="Tame")).text == "Removed tame"


async def test_an_agent_is_told_what_is_wrong(call: ToolCaller) -> None:
    """The book's own errors."""
    with pytest.raises(InvalidPatternError, match="1 to 50 values"):
        await call("add_pattern", name="x", steps=[])
    for name, arguments in (("pattern_applied", {"success": True}), ("remove_pattern", {})):
        with pytest.raises(UnknownPatternError):
            await call(name, pattern="x", **arguments)


def test_the_names_of_the_module() -> None:
    """They are imported when they are first used; there is no other."""
    assert contextkit_patterns.Pattern.__name__ == "Pattern"
    with pytest.raises(AttributeError, match="no attribute 'Patterns'"):
        _ = contextkit_patterns.Patterns


def test_the_readme_is_true(
    kit: ContextKit, run: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its Python runs, its commands are there, and its formats are the real ones."""
    code = README.split("```python\n")[1].split("```")[0]
    exec(code, {"kit": kit})  # noqa: S102
    assert capsys.readouterr().out == "1 0.6666666666666666\n"
    for line in README.splitlines():
        if line.startswith("contextkit patterns "):
            assert run("patterns", line.split()[2], "--help").exit_code == 0, line
    data = PatternBook.of(kit).get("fix-a-flaky-test").as_dict()
    item = ContextItem("patterns", "x", 1.0, id=data["id"], metadata=data)
    shown = [text.split("```")[0].strip() for text in README.split("```markdown\n")[1:]]
    details: tuple[Detail, ...] = ("full", "compact")
    for text, detail in zip(shown, details, strict=True):
        assert contextkit_patterns.contextkit_format([item], "markdown", detail) == [text]
