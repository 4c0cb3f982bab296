"""The log fills itself from an agent's hooks, each event in a real process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import World

pytestmark = pytest.mark.one_python

Until = Callable[[Callable[[], bool], str], None]

BROKEN = """
from contextkit import hookimpl

@hookimpl
def contextkit_agent_event(event, kit):
    raise RuntimeError("the tide is out")
"""


def without_times(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without what differs from run to run."""
    return [{k: v for k, v in e.items() if k not in {"id", "created_at"}} for e in events]


def test_what_an_agent_does_is_logged(world: World) -> None:
    """Prompts, reading, writing, running and failing become events of the agent's session."""
    root = world.workspace
    answer = world.tool(
        "Read", tool_input={"file_path": str(root / "src" / "a.py")}, tool_response="secret text"
    )
    assert answer == {"context": "", "items": []}
    world.wait_for_events(1)
    world.tool("Edit", tool_input={"file_path": str(root / "b.py"), "new_string": "x"})
    world.wait_for_events(2)
    world.tool("Bash", tool_input={"command": "ls"}, tool_response={"stdout": "a.py", "stderr": ""})
    world.wait_for_events(3)
    world.tool("Bash", tool_input={"command": "pytest -q"}, error="Exit code 2\n1 failed")
    world.wait_for_events(4)
    world.hook("UserPromptSubmit", prompt="why does the upload fail?")
    world.wait_for_events(5)
    world.hook("Stop", last_assistant_message="The disk is full.")
    assert without_times(world.wait_for_events(6)) == [
        {"session": "s1", "kind": "turn", "text": "The disk is full.", "role": "assistant"},
        {"session": "s1", "kind": "turn", "text": "why does the upload fail?", "role": "user"},
        {
            "session": "s1",
            "kind": "shell_exec",
            "command": "pytest -q",
            "output": "1 failed",
            "exit_code": 2,
        },
        {"session": "s1", "kind": "shell_exec", "command": "ls", "output": "a.py"},
        {"session": "s1", "kind": "file_write", "path": "b.py"},
        {"session": "s1", "kind": "file_read", "path": "src/a.py"},
    ]
    assert world.journal() == []


def test_a_new_session_hears_of_the_last_one_and_not_of_itself(world: World) -> None:
    """At a prompt the earlier session's error is shown; what the session did itself is not."""
    world.tool("Bash", "old", tool_input={"command": "pytest upload"}, error="Exit code 1\nfull")
    world.wait_for_events(1)
    world.tool("Write", "new", tool_input={"file_path": "upload.py"})
    world.wait_for_events(2)
    told = world.hook("UserPromptSubmit", "new", prompt="why does pytest upload fail?")["context"]
    assert "Executed: `pytest upload` [exit 1] (earlier session)" in told
    assert "upload.py" not in told
    world.wait_for_events(3)
    again = world.hook("SessionStart", "new", source="compact")["context"]
    assert "Wrote: upload.py" in again


def test_one_setting_turns_the_feed_off(world: World, until: Until) -> None:
    """With `feed = false` nothing is logged, though another listener is told."""
    world.install("marker", MARKER)
    (world.workspace / "contextkit.toml").write_text(
        'project = "tide"\n[sources.events]\nfeed = false\n', encoding="utf-8"
    )
    world.tool("Read", tool_input={"file_path": "a.py"})
    until((world.workspace / "z-told").exists, "the other listener")
    assert world.events() == []


MARKER = """
from pathlib import Path
from contextkit import hookimpl

@hookimpl
def contextkit_agent_event(event, kit):
    (kit.workspace.root / "z-told").write_text(repr(dict(event)))
"""


def test_a_listener_that_fails_costs_nothing(world: World, until: Until) -> None:
    """What one raises is noted; the agent and the other listeners go on."""
    world.install("broken", BROKEN)
    assert world.tool("Read", tool_input={"file_path": "a.py"}) == {"context": "", "items": []}
    world.wait_for_events(1)
    until(lambda: bool(world.journal()), "the note")
    noted = world.journal()[0]
    assert (noted["event"], noted["plugin"]) == ("listener_failed", "broken")
    assert noted["reason"] == "RuntimeError: the tide is out"


def test_a_session_that_is_off_is_not_logged(world: World, until: Until) -> None:
    """`contextkit hook --off` stops the feed of that session alone."""
    world.contextkit("hook", "--off", "--session", "s1")
    world.tool("Read", "s1", tool_input={"file_path": "a.py"})
    world.tool("Read", "s2", tool_input={"file_path": "b.py"})
    assert [event["path"] for event in world.wait_for_events(1)] == ["b.py"]


def test_hooks_that_are_off_tell_nobody(world: World) -> None:
    """Where hooks are off there is neither an answer nor an event."""
    off = {"CONTEXTKIT_HOOKS_ENABLED": "no"}
    world.tool("Read", tool_input={"file_path": "a.py"}, variables=off)
    world.tool("Read", tool_input={"file_path": "b.py"})
    assert [event["path"] for event in world.wait_for_events(1)] == ["b.py"]


def test_the_resident_process_tells_by_itself(world: World, until: Until) -> None:
    """Once one serves, it logs what hooks ask it, answered with something or not."""
    on = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}
    world.hook("UserPromptSubmit", prompt="is anybody there today?", variables=on)
    world.wait_for_events(1)
    until(lambda: '"warming": false' in world.contextkit("serve", "--status", "--json"), "ready")
    world.tool("Read", tool_input={"file_path": "a.py"}, tool_use_id="toolu_1", variables=on)
    world.hook("UserPromptSubmit", prompt="what did you read in a.py?", variables=on)
    events = world.wait_for_events(3)
    assert [event["kind"] for event in events].count("turn") == 2
    assert [event["id"] for event in events if event["kind"] == "file_read"] == ["evt_toolu_1"]
    assert world.journal() == []


def test_a_huge_event_is_cut_on_its_way(world: World) -> None:
    """Megabytes of output arrive as their beginning and their end."""
    printed = f"begins {'x' * 2_000_000} ends"
    world.tool("Bash", tool_input={"command": "yes"}, tool_response={"stdout": printed})
    output = world.wait_for_events(1)[0]["output"]
    assert (output[:7], output[-5:]) == ("begins ", " ends")
    assert len(output) <= 2000
