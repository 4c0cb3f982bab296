"""Rollouts of Codex become events, of each generation of its format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contextkit.models import LeftOut, PastEvent
from contextkit_agents.codex import find_rollouts, read_rollout

Line = dict[str, Any]

ID = "019a7b3e-0000-7000-8000-00000000c0de"
NAME = f"rollout-2026-11-12T12-00-00-{ID}.jsonl"


def write_lines(file: Path, lines: Iterable[Line]) -> Path:
    """Write a rollout."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


def wrapped(kind: str, second: int, **payload: Any) -> Line:
    """A line since September 2025."""
    return {"timestamp": f"2026-11-12T12:00:{second:02}.5Z", "type": kind, "payload": payload}


def said(role: str, text: str) -> Line:
    """A message."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def called(name: str, output: Any, **arguments: Any) -> list[Line]:
    """A call of a function, and its output."""
    ids = {"call_id": f"call_{name}"}
    return [
        {"type": "function_call", "name": name, "arguments": json.dumps(arguments), **ids},
        {"type": "function_call_output", "output": output, **ids},
    ]


META = wrapped("session_meta", 0, id=ID, cwd="/home/ada/tide", cli_version="0.149.0")


def read(folder: Path, *items: Line) -> tuple[list[PastEvent], Counter[str]]:
    """The events of a rollout with these response items, and what was left out."""
    lines = [wrapped("response_item", number, **item) for number, item in enumerate(items, 1)]
    parts = list(read_rollout(write_lines(folder / NAME, [META, *lines])))
    left_out = Counter(part.reason for part in parts if isinstance(part, LeftOut))
    return [part for part in parts if isinstance(part, PastEvent)], left_out


def test_messages_are_turns(tmp_path: Path) -> None:
    """What Codex wrote in the user's name is none."""
    events, left_out = read(
        tmp_path,
        said("developer", "<permissions instructions>"),
        said("user", "<environment_context>\n<cwd>/x</cwd>"),
        said("user", "# AGENTS.md instructions for /x"),
        said("user", "How do we retry uploads?"),
        {"type": "reasoning", "summary": []},
        said("assistant", "With exponential backoff."),
    )
    assert [event.report for event in events] == [
        {"hook_event_name": "UserPromptSubmit", "prompt": "How do we retry uploads?"},
        {"hook_event_name": "Stop", "last_assistant_message": "With exponential backoff."},
    ]
    assert events[0].created_at == datetime(2026, 11, 12, 12, 0, 4, 500_000, tzinfo=UTC)
    assert {event.folder for event in events} == {"/home/ada/tide"}
    assert left_out == {
        "text written by the program": 3,
        "thinking": 1,
        "bookkeeping line": 1,
    }


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nno rule", 3),
        ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nno rule", 3),
        ('{"output": "no rule", "metadata": {"exit_code": 3, "duration_seconds": 0.1}}', 3),
        ({"content": "Exit code: 3\nOutput:\nno rule", "success": False}, 3),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nno rule", 0),
        ("no rule", 0),
    ],
)
def test_commands_have_their_exit_code(tmp_path: Path, output: Any, code: int) -> None:
    """Each version writes it in its own way; the header is no output."""
    ((event,), _) = read(tmp_path, *called("exec_command", output, cmd="make"))
    assert event.report["tool_input"] == {"command": "make"}
    if code:
        assert event.report["error"] == "Exit code 3\nno rule"
    else:
        assert event.report["tool_response"] == "no rule"


@pytest.mark.parametrize(
    "arguments",
    [{"command": ["bash", "-lc", "make -j2"]}, {"command": ["make", "-j2"]}, {"cmd": "make -j2"}],
)
def test_commands_are_texts_or_lists(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """A shell around a command is left out."""
    ((event,), _) = read(tmp_path, *called("shell", "ok", **arguments))
    assert event.report["tool_input"] == {"command": "make -j2"}


def test_a_patch_writes_its_files(tmp_path: Path) -> None:
    """A patch is a tool of its own, or a command; each file is an event."""
    patch = "*** Begin Patch\n*** Update File: src/a.py\n+x\n*** Add File: b.py\n*** End Patch"
    custom = [
        {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "1"},
        {"type": "custom_tool_call_output", "output": "Exit code: 0\nOutput:\nok", "call_id": "1"},
    ]
    events, _ = read(tmp_path, *custom, *called("shell", "ok", command=["apply_patch", patch]))
    assert [event.report["tool_input"]["file_path"] for event in events] == [
        "src/a.py",
        "b.py",
        "src/a.py",
        "b.py",
    ]
    assert len({event.id for event in events}) == 4


def test_a_huge_patch_is_read_in_part(tmp_path: Path) -> None:
    """Its first 200 files are events; the output, which each of them has, is cut."""
    patch = "*** Begin Patch" + "\n*** Add File: a" * 5000
    output = f"Exit code: 1\nOutput:\n{'x' * 100_000}"
    events, _ = read(tmp_path, *called("shell", output, command=["apply_patch", patch]))
    assert len(events) == 200
    assert {len(event.report["error"]) for event in events} == {2000}


def test_a_refused_command_is_an_interruption(tmp_path: Path) -> None:
    """It is no failure."""
    ((event,), _) = read(tmp_path, *called("shell", "aborted by user after 2 s", command="rm x"))
    assert event.report["is_interrupt"] is True


def test_rollouts_before_september_2025(tmp_path: Path) -> None:
    """Their lines have no times; order and folder are kept."""
    file = write_lines(
        tmp_path / NAME,
        [
            {"id": ID, "timestamp": "2025-08-02T10:00:00.000Z", "instructions": None},
            {"record_type": "state"},
            said("user", "<environment_context>\n<cwd>/home/ada/tide</cwd>"),
            said("user", "How do we retry uploads?"),
            *called("shell", '{"output": "x", "metadata": {"exit_code": 0}}', command=["ls"]),
            said("assistant", "With backoff."),
        ],
    )
    events = [part for part in read_rollout(file) if isinstance(part, PastEvent)]
    assert [event.folder for event in events] == ["/home/ada/tide"] * 3
    assert [event.created_at.date().isoformat() for event in events] == ["2025-08-02"] * 3
    assert sorted(events, key=lambda event: event.created_at) == events


def test_a_fork_repeats_the_ids_of_its_parent(tmp_path: Path) -> None:
    """So its history is not stored twice."""
    items = [said("user", "How?"), *called("shell", "ok", command="ls")]
    first, _ = read(tmp_path / "a", *items)
    again, _ = read(tmp_path / "b", *items, said("assistant", "So."))
    assert [event.id for event in again[:2]] == [event.id for event in first]


def test_odd_lines_are_no_events(tmp_path: Path) -> None:
    """Values of other types than expected are passed over."""
    odd: list[Line] = [
        {"type": "message", "role": "user", "content": 3},
        {"type": "function_call", "arguments": "[", "call_id": None},
        {"type": "function_call_output", "output": None, "call_id": "never called"},
        {"type": "of_tomorrow"},
    ]
    assert read(tmp_path, *odd)[0] == []
    lines = [META, wrapped("of_tomorrow", 1), {"payload": {}, "type": 3}, {"type": "message"}]
    parts = list(read_rollout(write_lines(tmp_path / NAME, lines)))
    assert all(isinstance(part, LeftOut) for part in parts)


def test_codex_home_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Archived sessions are found, too; the file's name has the session's id."""
    kept = write_lines(tmp_path / "sessions" / "2026" / "11" / "12" / NAME, [META])
    archived = write_lines(tmp_path / "archived_sessions" / NAME, [META])
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    found = list(find_rollouts(None))
    assert [each.file for each in found] == [kept, archived]
    assert found[0].session == ID
    assert [each.file for each in find_rollouts(archived.parent)] == [archived]
