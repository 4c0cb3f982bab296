"""How an event travels from a hook to the plugins: cut, and never in anybody's way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit_events.feed import events_of

if TYPE_CHECKING:
    from conftest import World

ROOT = Path("/home/ada/tide")
FAILED = "PostToolUseFailure"


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b'{"hook_event_name": 3}'])
def test_what_is_no_event_is_noted(world: World, given: bytes) -> None:
    """The process ends well, and says why in the hooks' log."""
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "contextkit.agent.notify"],
        cwd=world.workspace,
        env=world.environment,
        input=given,
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert [line["event"] for line in world.journal()] == ["telling_failed"]


def test_a_folder_that_has_gone_has_nothing_to_be_told(world: World) -> None:
    """Nothing is written, least of all a home that went with it."""
    world.home.rmdir()
    event = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(world.folder / "gone")}
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "contextkit.agent.notify"],
        cwd=world.workspace,
        env=world.environment,
        input=json.dumps(event).encode(),
        check=False,
    )
    assert ran.returncode == 0
    assert not world.home.exists()


def test_a_broken_configuration_is_noted(world: World) -> None:
    """The hook's own process says it; the agent hears nothing."""
    (world.workspace / "contextkit.toml").write_text("[assemble]\nx = 1\n", encoding="utf-8")
    assert world.hook("UserPromptSubmit", prompt="why does the upload fail?")["context"] == ""
    assert "hook_failed" in [line["event"] for line in world.journal()]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"hook_event_name": "UserPromptSubmit", "prompt": "x"},
        {"hook_event_name": "UserPromptSubmit", "session_id": 7, "prompt": "x"},
        {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "  "},
        {"hook_event_name": "Stop", "session_id": "s"},
        {"hook_event_name": "SessionStart", "session_id": "s"},
        {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Read"},
        {"hook_event_name": "PostToolUse", "session_id": "s", "tool_input": {"file_path": "a"}},
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s",
            "tool_name": "Bash",
            "tool_input": {"command": 3},
        },
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s",
            "tool_name": "Read",
            "tool_input": {"file_path": 3},
        },
        {
            "hook_event_name": FAILED,
            "session_id": "s",
            "tool_name": "Grep",
            "tool_input": {},
            "error": "x",
        },
    ],
)
def test_what_says_nothing_is_no_event(event: dict[str, Any]) -> None:
    """Whatever an agent sends, nothing is made up."""
    assert events_of(event, ROOT) == []


def used(tool: str, given: dict[str, Any], name: str = "PostToolUse", **more: Any) -> Any:
    """The event that is made of the use of a tool."""
    event = {"hook_event_name": name, "session_id": "s", "tool_name": tool, "tool_input": given}
    (made,) = events_of({**event, **more}, ROOT)
    return {name: value for name, value in made.items() if name != "session"}


def test_paths_are_those_of_the_workspace() -> None:
    """What lies elsewhere keeps its whole path."""
    assert used("Read", {"file_path": "/home/ada/tide/a/b.py"})["path"] == "a/b.py"
    assert used("Read", {"file_path": "/etc/hosts"})["path"] == "/etc/hosts"
    assert used("NotebookEdit", {"notebook_path": "n.ipynb"}) == {
        "kind": "file_write",
        "path": "n.ipynb",
    }


def test_failures_have_an_exit_code_or_are_errors() -> None:
    """A person's interruption is neither."""
    command = {"command": "make"}
    assert used("Bash", command, FAILED, error="Exit code 7\nno")["exit_code"] == 7
    assert used("Bash", command, FAILED, error="no")["exit_code"] == 1
    assert used("Bash", command, FAILED, error="Exit code 99999999 x")["exit_code"] == 1
    assert used("Bash", command, FAILED, error="x", is_interrupt=True) == {
        "kind": "shell_exec",
        "command": "make",
        "outcome": "interrupted",
    }
    assert used("Edit", {"file_path": "a.py"}, FAILED, error="no such text") == {
        "kind": "error",
        "text": "Edit: no such text",
        "path": "a.py",
    }
    assert used("Bash", command, tool_response="printed")["output"] == "printed"
    assert used("Bash", command, tool_response={"stdout": "a", "stderr": "b"})["output"] == "a\nb"


def test_a_tool_call_has_one_id() -> None:
    """What could be no id is not made one."""
    assert used("Bash", {"command": "ls"}, tool_use_id="toolu_1")["id"] == "evt_toolu_1"
    for wrong in (3, "", " ", "a\nb", "x" * 200):
        assert "id" not in used("Bash", {"command": "ls"}, tool_use_id=wrong)
