"""Transcripts of Claude Code become events; what says nothing is counted."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit.models import LeftOut, PastEvent
from contextkit_agents.transcripts import find_transcripts, read_transcript

if TYPE_CHECKING:
    from conftest import ClaudeSession

NOON = datetime(2026, 11, 12, 12, tzinfo=UTC)


@pytest.fixture
def session(claude: type[ClaudeSession]) -> ClaudeSession:
    """A session without lines."""
    return claude("5e551011", "/home/ada/tide", NOON)


def read(session: ClaudeSession, folder: Path) -> tuple[list[PastEvent], Counter[str]]:
    """The events of a session, and the reasons for what is left out."""
    parts = list(read_transcript(session.write(folder)))
    left_out = Counter(part.reason for part in parts if isinstance(part, LeftOut))
    return [part for part in parts if isinstance(part, PastEvent)], left_out


def reports(session: ClaudeSession, folder: Path) -> list[Any]:
    """The reports of a session's events."""
    return [event.report for event in read(session, folder)[0]]


def test_prompts_and_answers_have_their_time_and_place(
    session: ClaudeSession, tmp_path: Path
) -> None:
    """A session is read in order; ids are those of the lines."""
    session.user("How do we retry uploads?")
    session.says("With exponential backoff.")
    events, _ = read(session, tmp_path)
    assert [event.report for event in events] == [
        {"hook_event_name": "UserPromptSubmit", "prompt": "How do we retry uploads?"},
        {"hook_event_name": "Stop", "last_assistant_message": "With exponential backoff."},
    ]
    assert events[0].created_at == datetime(2026, 11, 12, 12, 0, 30, 250_000, tzinfo=UTC)
    assert {event.folder for event in events} == {"/home/ada/tide"}
    assert [event.id for event in events] == [line["uuid"] for line in session.lines]


def test_a_tool_call_is_read_with_its_result(session: ClaudeSession, tmp_path: Path) -> None:
    """Results name their calls; a failure has its message, a refusal is an interruption."""
    ran = {"stdout": "2 passed", "stderr": "", "interrupted": False}
    session.uses("Bash", {"command": "pytest"}, "2 passed", structured=ran)
    session.uses("Bash", {"command": "make"}, "Exit code 2\nno rule", error=True)
    session.uses("Write", {"file_path": "a.py"}, "The user doesn't want to proceed", error=True)
    passed, failed, refused = reports(session, tmp_path)
    assert (passed["tool_response"], passed["tool_input"]) == (ran, {"command": "pytest"})
    assert passed["tool_use_id"].startswith("toolu_")
    assert (failed["hook_event_name"], failed["error"]) == (
        "PostToolUseFailure",
        "Exit code 2\nno rule",
    )
    assert [failed["is_interrupt"], refused["is_interrupt"]] == [False, True]


def test_plans_and_choices_are_turns(session: ClaudeSession, tmp_path: Path) -> None:
    """A plan is the agent's, and the answer to a question the user's."""
    session.uses("ExitPlanMode", {"plan": "1. Retry five times."}, "approved")
    session.uses("AskUserQuestion", {"questions": []}, 'Your answers: "Retries?"="Five"')
    assert reports(session, tmp_path) == [
        {"hook_event_name": "Stop", "last_assistant_message": "1. Retry five times."},
        {"hook_event_name": "UserPromptSubmit", "prompt": 'Your answers: "Retries?"="Five"'},
    ]


def test_lines_of_the_program_are_left_out(session: ClaudeSession, tmp_path: Path) -> None:
    """Thinking, the program's own lines and those of subagents are counted by reason."""
    session.add("assistant", {"content": [{"type": "thinking", "thinking": "hm"}]})
    session.user("<command-name>/clear</command-name>")
    session.user("[Request interrupted by user for tool use]")
    session.user("Caveat: the messages below", isMeta=True)
    session.user("This session is being continued", isCompactSummary=True)
    session.user("Look for retries", isSidechain=True)
    session.lines += [{"type": "summary", "summary": "Retries"}, {"type": "of-tomorrow"}, {"a": 1}]
    events, left_out = read(session, tmp_path)
    assert events == []
    assert left_out == {
        "thinking": 1,
        "text written by the program": 4,
        "line of a subagent": 1,
        "bookkeeping line": 2,
        "line of an unknown form": 1,
    }


def test_damaged_lines_do_not_stop_the_reading(session: ClaudeSession, tmp_path: Path) -> None:
    """They are counted; a line that is still being written is read the next time."""
    session.user("first")
    session.user("second")
    first, second = map(json.dumps, session.lines)
    lines = [first, "{", "[]", "\ufffd", "", '{"type": "user", "message": 3}', second, first[:40]]
    file = tmp_path / "5e551011.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    parts = list(read_transcript(file))
    assert [part.report["prompt"] for part in parts if isinstance(part, PastEvent)] == [
        "first",
        "second",
    ]
    assert Counter(part.reason for part in parts if isinstance(part, LeftOut)) == {
        "damaged line": 3,
        "line of an unknown form": 1,
    }


@pytest.mark.parametrize(
    "line",
    [
        {"timestamp": "yesterday"},
        {"timestamp": "2026-11-12T12:00:00"},
        {"message": {"content": [{"type": "tool_result", "tool_use_id": "unknown"}]}},
        {"message": {"content": [3, {"type": "image"}, {"type": "text", "text": 7}]}},
        {"message": {"content": None}},
        {"message": {"content": [{"type": "tool_use", "id": 3, "input": []}]}},
    ],
)
def test_odd_lines_are_no_events(
    session: ClaudeSession, tmp_path: Path, line: dict[str, Any]
) -> None:
    """Values of other types than expected are passed over."""
    session.user("hello")
    session.lines[0] |= line
    assert read(session, tmp_path)[0] == []


def test_only_sessions_are_transcripts(
    session: ClaudeSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of subagents are none; `CLAUDE_CONFIG_DIR` names the folder."""
    session.user("hello")
    file = session.write(tmp_path / "projects")
    inner = file.parent / "5e551011" / "subagents" / "a.jsonl"
    inner.parent.mkdir(parents=True)
    for other in (file.parent / "agent-1.jsonl", inner):
        other.write_bytes(file.read_bytes())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (found,) = find_transcripts(None)
    assert (found.session, found.file) == ("5e551011", file)
    assert [each.file for each in find_transcripts(file.parent)] == [file]
