"""Past sessions become events once, in order, and outlive the limits of recorded ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import contextkit_events
from contextkit import ContextKit, Record
from contextkit.models import Imported, ImportedSession, PastEvent
from contextkit.testing import open_kit
from contextkit_events import EventLog
from contextkit_events.importing import import_session

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and an empty store."""
    settings = {"embedding.model": "none"}
    with open_kit(tmp_path / "work", {"events": contextkit_events}, settings=settings) as opened:
        yield opened


def prompt(text: str) -> dict[str, Any]:
    """What a hook reports of a prompt."""
    return {"hook_event_name": "UserPromptSubmit", "prompt": text}


def answer(text: str) -> dict[str, Any]:
    """What a hook reports of an answer."""
    return {"hook_event_name": "Stop", "last_assistant_message": text}


def used(tool: str, call: str = "", **given: Any) -> dict[str, Any]:
    """What a hook reports of a tool call; with an `error` it failed."""
    name = "PostToolUseFailure" if "error" in given else "PostToolUse"
    report: dict[str, Any] = {"hook_event_name": name, "tool_name": tool, "tool_input": given}
    for key in ("error", "tool_response"):
        report |= {key: given.pop(key)} if key in given else {}
    return {**report, "tool_use_id": call} if call else report


def session_of(
    reports: Sequence[dict[str, Any]], name: str = "s1", day: int = 0, **parts: Any
) -> Any:
    """A past session with an event per minute."""
    start = START + timedelta(days=day)
    events = [
        PastEvent(id=f"{name}-{place}", created_at=start + timedelta(minutes=place), report=report)
        for place, report in enumerate(reports)
    ]
    session = ImportedSession(
        session=name,
        importer="parrot",
        file=Path(f"/transcripts/{name}"),
        size=len(reports),
        root=Path("/home/ada/tide"),
        events=lambda: iter(events),
    )
    return evolve(session, **parts)


STORY = [
    prompt("How do we retry uploads?"),
    answer("I look at the client."),
    used("Read", file_path="/home/ada/tide/src/client.py"),
    answer("Now the tests."),
    used("Bash", command="pytest -q", tool_response="x" * 1500),
    answer("We decided: at most five attempts, with jitter."),
    prompt("Do that."),
    used("Write", "toolu_1", file_path="/home/ada/tide/src/client.py"),
    used("Bash", command="make check", error=f"Exit code 2\n{'y' * 1500}"),
    used("Grep", pattern="retry"),
    answer("Done."),
]


def stored(kit: ContextKit) -> list[Record]:
    """The events in order."""
    found = kit.records("events").scan({"what": ["event", "turn", "past_event", "past_turn"]})
    return sorted(found, key=lambda record: record.created_at)


def test_a_session_becomes_its_events(kit: ContextKit) -> None:
    """What is only looked at, and short texts between tool calls, are counted and left out."""
    assert import_session(session_of(STORY), kit) == Imported(
        stored=8,
        skipped={
            "short text between tool calls": 1,
            "file that was only read": 1,
            "call of another tool": 1,
        },
    )
    records = stored(kit)
    assert [(record.fields["kind"], record.fields.get("position")) for record in records] == [
        ("turn", 2),
        ("turn", 3),
        ("shell_exec", None),
        ("turn", 3),
        ("turn", 4),
        ("file_write", None),
        ("shell_exec", None),
        ("turn", 5),
    ]
    assert records[5].fields["path"] == "src/client.py"
    assert records[0].created_at == START
    assert {record.fields["imported"] for record in records} == {"parrot"}


def test_outputs_are_cut(kit: ContextKit) -> None:
    """Of a success 500 characters are kept, of a failure 2,000."""
    import_session(session_of(STORY), kit)
    passed, failed = [
        record.fields["output"] for record in stored(kit) if record.fields["kind"] == "shell_exec"
    ]
    assert (len(passed) <= 500, len(failed)) == (True, 1500)


def test_secrets_are_hidden(kit: ContextKit) -> None:
    """As they are in recorded events."""
    import_session(session_of([prompt("the password=hunter2-tide is for staging")]), kit)
    assert "hunter2" not in stored(kit)[0].text


def test_a_second_import_writes_nothing(kit: ContextKit) -> None:
    """The events are not even read again."""
    import_session(session_of(STORY), kit)
    before = sorted(kit.records("events").scan(), key=lambda record: record.id)

    def unread() -> Iterator[PastEvent]:
        raise AssertionError

    assert import_session(session_of(STORY, events=unread), kit) == Imported(unchanged=True)
    assert sorted(kit.records("events").scan(), key=lambda record: record.id) == before


def test_a_session_that_went_on_is_continued(kit: ContextKit) -> None:
    """Its new events are stored, in their places."""
    import_session(session_of(STORY[:6]), kit)
    result = import_session(session_of(STORY), kit)
    assert (result.stored, result.known) == (4, 4)
    assert stored(kit)[-1].fields["position"] == 5


def test_a_dry_run_stores_nothing(kit: ContextKit) -> None:
    """It counts what would be stored."""
    assert import_session(session_of(STORY, dry_run=True), kit).stored == 8
    assert list(kit.records("events").scan()) == []


def test_only_later_events_are_wanted(kit: ContextKit) -> None:
    """Earlier ones come with a later import that wants more."""
    late = session_of(STORY, since=START + timedelta(minutes=6))
    result = import_session(late, kit)
    assert (result.stored, result.skipped["event before --since"]) == (4, 4)
    assert import_session(late, kit).unchanged
    assert import_session(session_of(STORY), kit).stored == 4
    assert import_session(late, kit).unchanged


def test_a_recorded_session_is_not_stored_twice(kit: ContextKit) -> None:
    """Recorded turns and tool calls stay as they are; what hooks missed is added."""
    log = EventLog(kit.records("events"))
    for report in (STORY[0], STORY[7], STORY[10]):
        kit.registry.call(
            "events", "contextkit_agent_event", event={**report, "session_id": "s1"}, kit=kit
        )
    result = import_session(session_of(STORY), kit)
    assert (result.stored, result.known) == (5, 3)
    assert len(log.list(session="s1")) == 8


def test_two_sessions_may_share_events(kit: ContextKit) -> None:
    """A session that was forked repeats those of its parent."""
    events = session_of(STORY).events
    import_session(session_of(STORY), kit)
    result = import_session(session_of(STORY, name="fork", events=events), kit)
    assert (result.stored, result.known) == (0, 8)


def test_limits_hold_for_recorded_events_alone(kit: ContextKit) -> None:
    """Neither age nor number removes imported events, and these push out no others."""
    import_session(session_of(STORY), kit)
    log = EventLog(kit.records("events"), kit.retention("events"))
    log.add("note", session="old", text="old", created_at=START)
    for number in range(3):
        log.add("note", session="now", text=f"{number}")
    log.clean()
    pruned = kit.prune(["events"])["events"]
    assert (pruned.too_old, pruned.left) == (0, 3)
    assert log.count() == 11
    assert log.count(session="s1") == 8


def test_imported_events_are_cleared_on_their_own(kit: ContextKit) -> None:
    """Afterwards they can be imported again."""
    log = EventLog(kit.records("events"))
    log.add("note", session="s1", text="recorded")
    import_session(session_of(STORY), kit)
    assert log.clear(imported=True) == 8
    assert [event.text for event in log.list()] == ["recorded"]
    assert import_session(session_of(STORY), kit).stored == 8


def test_a_question_finds_the_turn_and_what_followed(kit: ContextKit) -> None:
    """Although other sessions are newer, and the next turns share no word with it."""
    import_session(session_of(STORY), kit)
    for number in range(1, 9):
        talk = [prompt(f"Rename menu {number}."), answer(f"Menu {number} has a new name.")]
        import_session(session_of(talk, name=f"later{number}", day=number), kit)
    text = kit.assemble_context_sync("what did we decide about upload retries?").markdown
    assert text.index("at most five attempts") < text.index("Do that.")
    assert "[2026-03-02 09:05] Assistant: We decided" in text
    assert "Menu" not in text
