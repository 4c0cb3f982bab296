"""What Claude Code's hook tells the agent at each event, each in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.secret_kinds import planted

if TYPE_CHECKING:
    from conftest import World

Until = Callable[[Callable[[], bool], str], None]

NOISY = """
import os, sys
from contextkit import ContextItem, hookimpl

print("imported")

@hookimpl
def contextkit_query(request):
    print("asked", file=sys.stderr)
    os.write(1, b"asked")
    return [ContextItem("noisy", "we indent python files loudly", 1.0, id="one")]
"""
ECHO = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    return [ContextItem("echo", f"The query ends with {request.query[-50:]}.", 1.0, id="one")]
"""
LONG = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    text = "\\U0001f600 tide " * 900
    return [ContextItem("long", f"{n} {text}", 1.0, id=str(n)) for n in range(20)]
"""


def test_a_prompt_gets_its_context_once(world: World) -> None:
    """What is relevant is told as data, and not again in the same session."""
    told = world.hook(world.prompt())
    assert "four spaces" in told
    assert told.startswith("<reference-")
    assert "four spaces" not in world.hook(world.prompt())
    assert "four spaces" in world.hook(world.prompt(session="s2"))
    assert world.journal() == []


@pytest.mark.parametrize(
    "text", ["zymurgy quixotic flummoxed", "", "ok!", "/compact four spaces in python files"]
)
def test_a_prompt_that_asks_for_nothing_gets_nothing(world: World, text: str) -> None:
    """Where no source has anything; a short word of consent; a command of the agent."""
    assert world.hook(world.prompt(text)) == ""
    assert world.journal() == []


def test_a_session_starts_with_what_was_told(world: World) -> None:
    """Memories and experiences, and what was shown at the start is not shown at a prompt."""
    told = world.hook(world.event("SessionStart", source="startup"))
    assert "four spaces" in told
    assert "harbour" in told
    assert "freezing the clock" in told
    assert "four spaces" not in world.hook(world.prompt())
    assert world.hook(world.event("SessionStart", source="resume")) == ""


def test_what_the_agent_has_lost_is_told_again(world: World) -> None:
    """After a compaction nothing of it is left in the agent's context."""
    first = world.hook(world.event("SessionStart", source="startup"))
    for source in ("compact", "clear"):
        assert world.hook(world.event("SessionStart", source=source)) == first


def test_an_empty_project_starts_with_nothing(empty_world: World) -> None:
    """Without records there is nothing to say, and nothing has gone wrong."""
    assert empty_world.hook(empty_world.event("SessionStart", source="startup")) == ""
    assert empty_world.journal() == []


def test_a_session_starts_an_index(empty_world: World, until: Until) -> None:
    """A later prompt is answered from the workspace."""
    (empty_world.workspace / "tides.py").write_text("def high_water(harbour):\n    return 12\n")
    asked = empty_world.prompt("where is high_water of the harbour computed?")
    empty_world.hook(empty_world.event("SessionStart", source="startup"))
    until(lambda: "def high_water" in empty_world.hook(asked), "code in an answer")

    assert empty_world.journal() == []


def test_sources_are_a_setting(world: World) -> None:
    """`hooks.start_sources` names those of the start, `hooks.sources` those of a prompt."""
    start = world.event("SessionStart", source="startup")
    told = world.hook(start, CONTEXTKIT_HOOKS_START_SOURCES="experiences")
    assert "freezing the clock" in told
    assert "harbour" not in told
    assert world.hook(world.prompt(), CONTEXTKIT_HOOKS_SOURCES="experiences") == ""


def test_the_first_failing_test_is_warned_of(world: World) -> None:
    """The premortem of testing, once a session; a failing build is another kind."""
    told = world.hook(world.failure())
    assert "freezing the clock" in told
    assert "linker" not in told
    assert world.hook(world.failure("npm test")) == ""
    assert "installing the linker" in world.hook(world.failure("make -j4"))
    assert world.hook(world.failure("cargo build")) == ""
    assert "freezing the clock" in world.hook(world.failure(session="s2"))
    assert world.journal() == []


def test_a_failure_is_counted_though_nothing_is_known(empty_world: World) -> None:
    """Where no experience is there, the first failure of a kind passes in silence."""
    assert empty_world.hook(empty_world.failure()) == ""
    empty_world.contextkit(
        *("experience", "add", "--file", "-"),
        given=json.dumps(
            {
                "goal": "g",
                "hypothesis": "h",
                "action": "a",
                "prediction": "p",
                "domain": "testing",
                "strategy": "s",
                "outcome_status": "falsified",
                "outcome_result": "r",
            }
        ),
    )
    assert empty_world.hook(empty_world.failure()) == ""
    assert empty_world.hook(empty_world.failure(session="s2"))


def test_a_failure_that_a_pipe_hides_is_seen(world: World) -> None:
    """`pytest | tail` succeeds for the shell; its output says otherwise."""
    event = world.event(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "cd src && python -m pytest | tail -3"},
        tool_response={"stdout": "=== 2 failed, 3 passed in 0.1s ===", "stderr": ""},
    )
    assert "freezing the clock" in world.hook(event)


def test_an_event_without_a_session_is_answered_each_time(world: World) -> None:
    """An agent that names no session is told again; a failure's first cannot be known."""
    prompt = world.prompt(session="")
    assert world.hook(prompt) == world.hook(prompt) != ""
    assert world.hook(world.failure(session="")) == ""


def test_other_projects_are_not_seen(world: World) -> None:
    """The event's folder decides whose records are shown; a folder inside is the project's."""
    other = world.folder / "other"
    (other / ".git").mkdir(parents=True)
    inside = world.workspace / "src"
    inside.mkdir()
    assert world.hook({**world.prompt(), "cwd": str(other)}) == ""
    assert "four spaces" in world.hook({**world.prompt(), "cwd": str(inside)})


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"[]",
        b'{"hook_event_name": "UserPromptSubmit", "prompt": 5}',
        b'{"hook_event_name": "UserPromptSubmit", "prompt": "how to indent it?", "cwd": "/no"}',
        b'{"hook_event_name": "SessionStart", "session_id": ["x"]}',
    ],
)
def test_what_is_no_event_is_logged_and_not_told(empty_world: World, given: bytes) -> None:
    """The agent hears nothing and goes on; the log says what was wrong."""
    assert empty_world.hook(given) == ""
    (line,) = empty_world.journal()
    assert line["event"] == "hook_failed"
    assert line["reason"]


@pytest.mark.parametrize("given", [{"hook_event_name": "Stop"}, {"hook_event_name": 7}])
def test_other_events_are_nobodys_business(empty_world: World, given: Any) -> None:
    """An event that is not known is answered with nothing, and is no failure."""
    assert empty_world.hook(json.dumps(given)) == ""
    assert empty_world.journal() == []


def test_a_broken_configuration_is_logged(world: World) -> None:
    """A wrong setting must not cost the agent anything."""
    (world.workspace / "contextkit.toml").write_text("[assemble]\nlimit = 'x'\n", encoding="utf-8")
    assert world.hook(world.prompt()) == ""
    (line,) = world.journal()
    assert "assemble.limit" in line["reason"]


def test_a_damaged_store_is_logged(world: World) -> None:
    """So must a store that does not open."""
    for file in (world.home / "store" / "shard").rglob("*.json"):
        file.write_text("?", encoding="utf-8")
    assert world.hook(world.prompt()) == ""
    (line,) = world.journal()
    assert "StoreDamagedError" in line["reason"]


def test_a_home_that_cannot_be_written_is_borne(world: World) -> None:
    """Where not even the log can be written, the agent goes on."""
    taken = world.folder / "taken"
    taken.write_text("", encoding="utf-8")
    assert world.hook(world.prompt(), CONTEXTKIT_HOME=str(taken / "x")) == ""


def test_a_time_limit_that_makes_no_sense_is_logged(world: World) -> None:
    """It is a wrong setting like any other."""
    assert world.hook(world.prompt(), CONTEXTKIT_HOOKS_TIMEOUT="-1") == ""
    assert world.journal()


def test_what_plugins_print_is_not_told(world: World) -> None:
    """Only the answer is on standard output."""
    world.install("noisy", NOISY)
    assert "loudly" in world.hook(world.prompt())


def test_a_secret_is_replaced_before_a_prompt_is_cut(world: World) -> None:
    """No part of it is searched for, shown or kept."""
    world.install("echo", ECHO)
    token = planted("GitHub personal token", "prompt").value
    told = world.hook(world.prompt(f"{'tide ' * 796}{token} {'tide ' * 9}"))

    assert "The query ends with" in told
    assert token[:4] not in told


@pytest.mark.parametrize("most", ["9500", "300"])
def test_an_answer_is_no_longer_than_its_host_allows(world: World, most: str) -> None:
    """Counted as the host counts, in units of UTF-16, with a budget that would allow more."""
    world.install("long", LONG)
    told = world.hook(
        world.prompt("the tide of the day"),
        CONTEXTKIT_HOOKS_MAX_CHARACTERS=most,
        CONTEXTKIT_HOOKS_MAX_TOKENS="50000",
    )
    assert len(told.encode("utf-16-le")) // 2 <= int(most)
    assert told or most == "300"


def test_a_variable_and_a_setting_switch_everything_off(world: World) -> None:
    """`CONTEXTKIT_HOOKS_ENABLED=false claude` for a session, `[hooks] enabled` for a project."""
    assert world.hook(world.prompt(), CONTEXTKIT_HOOKS_ENABLED="false") == ""
    text = 'project = "tide"\n[hooks]\nenabled = false\n'
    (world.workspace / "contextkit.toml").write_text(text, encoding="utf-8")
    assert world.hook(world.prompt()) == ""
    assert world.journal() == []


def test_a_command_switches_one_session_off(world: World) -> None:
    """`contextkit hook --off` is for the last session of the workspace, and `--on` undoes it."""
    world.hook(world.prompt("what happens on mondays in the harbour?", session="s2"))
    world.contextkit("hook", "--off")
    assert world.hook(world.prompt(session="s2")) == ""
    assert world.hook(world.prompt(session="s1"))
    world.contextkit("hook", "--on", "--session", "s2")
    assert "four spaces" in world.hook(world.prompt(session="s2"))


def test_a_session_to_switch_off_must_be_known(empty_world: World) -> None:
    """Where no session was seen, and none is named, nothing is switched."""
    ran = empty_world.process([*_CONTEXTKIT, "hook", "--off"])
    assert ran.returncode == 2
    assert b"No session has been seen" in ran.stderr
    assert empty_world.process([*_CONTEXTKIT, "hook", "--session", "x"]).returncode == 2


def test_a_sessions_name_is_no_path(world: World) -> None:
    """An id may be any text; what is kept of it stays where it belongs."""
    name = "../../../x\0/é"
    assert world.hook(world.prompt(session=name))
    assert "four spaces" not in world.hook(world.prompt(session=name))
    kept = [file.name for file in (world.home / "hooks" / "sessions").glob("*.json")]
    assert len(kept) == 1


def test_what_was_kept_of_a_session_may_be_damaged(world: World) -> None:
    """It is begun anew."""
    world.hook(world.prompt())
    (file,) = (world.home / "hooks" / "sessions").glob("*.json")
    file.write_text("{", encoding="utf-8")
    assert "four spaces" in world.hook(world.prompt())


def test_the_command_is_the_same_as_the_script(world: World) -> None:
    """`contextkit hook --agent claude-code` tells what `contextkit-hook` tells."""
    ran = world.process(
        [*_CONTEXTKIT, "hook", "--agent", "claude-code"], json.dumps(world.prompt())
    )
    assert ran.returncode == 0
    told = json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]
    assert told == world.hook(world.prompt(session="s2"))


def test_a_hook_needs_no_current_folder(world: World) -> None:
    """An event that names its folder is answered although the process's own was deleted."""
    leave = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"'
    # Python 3.13.0 fails there if the current folder is on its path.
    python, *rest = world.hook_command
    command = ["sh", "-c", leave, python, "-P", *rest]
    for resident in ("no", "yes"):
        event = json.dumps(world.prompt(session=resident))
        ran = world.process(command, event, CONTEXTKIT_HOOKS_RESIDENT=resident)
        assert b"four spaces" in ran.stdout
    assert world.journal() == []


def test_any_agent_gets_plain_json(world: World) -> None:
    """`contextkit hook` says what is told and where it comes from; nothing is an empty text."""
    given = json.dumps(world.prompt())
    told = json.loads(world.contextkit("hook", "--format", "json", given=given))
    assert "four spaces" in told["context"]
    assert told["items"][0]["source"] == "memories"
    assert set(told["items"][0]) == {"source", "id", "title", "location"}
    again = json.loads(world.contextkit("hook", given=given))
    assert again == {"context": "", "items": []}
    assert json.loads(world.contextkit("hook", given="{")) == {"context": "", "items": []}
    text = world.contextkit("hook", "--format", "text", given=json.dumps(world.prompt(session="b")))
    assert text.strip() == told["context"]
    assert world.contextkit("hook", "--format", "text", given="{}") == ""


_CONTEXTKIT = ["contextkit"]
