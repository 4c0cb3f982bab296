"""The log: what it takes, what it keeps, what it lets go of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contextkit import InvalidRequestError, Records
from contextkit.indexing.retention import Retention
from contextkit_events import Event, EventLog, InvalidEventError, contextkit_source

NOW = datetime.now(UTC)


def test_an_event_comes_back_as_it_was_logged(log: EventLog) -> None:
    """All of its parts are stored, and `list` gives them newest first."""
    first = log.add(
        "shell_exec", session="monday", command="make", output="done", exit_code=0, outcome="ok"
    )
    second = log.add("turn", session="monday", text="thanks", role="assistant")
    assert log.list() == [second, first]
    assert Event.from_record(first.as_record()) == first
    assert (first.exit_code, first.outcome, second.role) == (0, "ok", "assistant")
    assert second.id > first.id


def test_without_a_session_an_event_joins_the_latest_one(log: EventLog) -> None:
    """The first one of all goes to `default`."""
    assert log.add("note", text="one").session == "default"
    log.add("note", session="monday", text="two")
    assert log.add("note", text="three").session == "monday"
    assert log.sessions() == ["monday", "default"]


def test_sessions_are_in_the_order_of_their_newest_event(log: EventLog) -> None:
    """An old event that is logged late makes its session no older."""
    log.add("note", session="monday", text="one", created_at=NOW - timedelta(hours=2))
    log.add("note", session="tuesday", text="two", created_at=NOW - timedelta(hours=1))
    log.add("note", session="tuesday", text="late", created_at=NOW - timedelta(hours=3))
    assert log.sessions() == ["tuesday", "monday"]
    assert log.latest_session() == "tuesday"


def test_lists_and_counts_by_session_and_kind(log: EventLog) -> None:
    """What the log keeps of sessions is never an event."""
    log.add("error", session="a", text="one")
    log.add("note", session="a", text="two")
    log.add("note", session="b", text="three")
    assert [event.text for event in log.list(session="a", kind="note")] == ["two"]
    assert (log.count(), log.count(session="a"), log.count(kind="note")) == (3, 2, 2)
    assert (log.count(kind="session"), log.list(kind="session")) == (0, [])
    assert len(log.list(limit=1)) == 1
    with pytest.raises(InvalidRequestError, match="limit must be at least 1"):
        log.list(limit=0)


def test_the_same_id_replaces_the_event(log: EventLog) -> None:
    """So an event that is told twice is there once."""
    log.add("note", session="a", text="one", id="evt_x")
    log.add("note", session="a", text="two", id="evt_x")
    assert [event.text for event in log.list()] == ["two"]


def test_clear_by_session_and_by_age(log: EventLog) -> None:
    """It says how many are gone, and a session without events is no session."""
    log.add("note", session="a", text="old", created_at=NOW - timedelta(days=3))
    log.add("note", session="a", text="new")
    log.add("note", session="b", text="other")
    assert log.clear(before=NOW - timedelta(days=1)) == 1
    assert log.clear(session="a") == 1
    assert log.sessions() == ["b"]
    assert (log.clear(), log.clear(), log.latest_session()) == (1, 0, None)
    with pytest.raises(InvalidEventError, match="before must have a time zone"):
        log.clear(before=datetime(2025, 1, 1))  # noqa: DTZ001 - that is what is wrong


def test_what_is_old_goes_at_write_time(records: Records) -> None:
    """The first writing of a process removes what is older than `keep_days`."""
    EventLog(records).add("note", session="a", text="old", created_at=NOW - timedelta(days=40))
    log = EventLog(records, Retention(keep_days=30))
    log.add("note", session="b", text="new")
    assert [event.text for event in log.list()] == ["new"]
    assert log.sessions() == ["b"]


def test_what_is_too_much_goes_in_batches(records: Records) -> None:
    """A tenth too many may be there; then all that is beyond `keep_records` goes at once."""
    log = EventLog(records, Retention(keep_records=20))
    many = [
        {"kind": "note", "session": "a", "text": f"{n}", "created_at": NOW - timedelta(minutes=n)}
        for n in range(23)
    ]
    log.add_all(many[:22])
    log.clean()
    assert log.count() == 22
    log.add_all(many[22:])
    log.clean()
    assert log.count() == 20
    assert [event.text for event in log.list(limit=30)] == [f"{n}" for n in range(20)]


def test_what_is_the_users_does_not_count_among_a_projects_events(records: Records) -> None:
    """As where somebody imported it: the project's are not deleted for its sake."""
    users = EventLog(records.shared)
    users.add_all({"kind": "note", "session": "s", "text": f"{n}"} for n in range(30))
    log = EventLog(records, Retention(keep_records=20))
    log.add("note", session="s", text="old", created_at=NOW - timedelta(days=1))
    log.clean()
    assert len(log.list(limit=100)) == 31


def test_cleaning_comes_round_after_a_hundred_events(records: Records) -> None:
    """Between two cleanings a hundred events are written without one."""
    log = EventLog(records, Retention(keep_days=1))
    log.add("note", session="a", text="now")
    log.add("note", session="a", text="old", created_at=NOW - timedelta(days=3))
    assert log.count() == 2
    log.add_all([{"kind": "note", "session": "a", "text": f"{n}"} for n in range(100)])
    assert log.count() == 101


def test_a_wrong_event_stores_none(log: EventLog) -> None:
    """Several events are logged together or not at all."""
    with pytest.raises(InvalidEventError):
        log.add_all([{"kind": "note", "text": "fine"}, {"kind": "error"}])
    assert log.add_all([]) == []
    assert (log.count(), log.sessions()) == (0, [])


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"kind": "Bad Kind", "text": "x"}, "kind must be a word of lower-case letters"),
        ({"kind": None, "text": "x"}, "kind must be a word"),
        ({"kind": "session", "text": "x"}, "kind must not be 'session'"),
        ({"kind": "turn", "text": "x", "id": "ses_1"}, "id must not begin with ses_"),
        ({"kind": "file_read"}, "an event of the kind file_read needs a path"),
        ({"kind": "file_write", "text": "x"}, "needs a path"),
        ({"kind": "shell_exec", "path": "x"}, "needs a command"),
        ({"kind": "error", "path": "x"}, "needs a text"),
        ({"kind": "turn", "text": " \n"}, "needs a text"),
        ({"kind": "note"}, "an event needs a text, a path or a command"),
        ({"kind": "note", "text": 3}, "text must be a text, got 3"),
        ({"kind": "note", "text": "x", "when": 1}, "an event has no when"),
        ({"kind": "note", "text": "x", "exit_code": "1"}, "exit_code must be a whole number"),
        ({"kind": "note", "text": "x", "exit_code": True}, "exit_code must be a whole number"),
        ({"kind": "note", "text": "x", "exit_code": 2**40}, "exit_code must be a whole number"),
        ({"kind": "turn", "text": "x", "role": "king"}, "role must be one of user, assistant"),
        ({"kind": "note", "text": "x", "session": ""}, "session must be a text on one line"),
        ({"kind": "note", "text": "x", "session": "a\nb"}, "session must be a text on one line"),
        ({"kind": "note", "text": "x", "session": "s" * 201}, "of 1 to 200 characters"),
        ({"kind": "note", "text": "x", "id": 7}, "id must be a text on one line"),
        ({"kind": "note", "text": "x", "created_at": "soon"}, "created_at must be a time such as"),
        ({"kind": "note", "text": "x", "created_at": 5}, "a time with a time zone"),
        ({"kind": "note", "text": "x", "created_at": "2025-01-01"}, "a time with a time zone"),
        (
            {"kind": "note", "text": "x", "created_at": NOW + timedelta(days=3)},
            "created_at lies in the future",
        ),
        (
            {"kind": "note", "text": "x", "created_at": "0001-01-01T00:00:00+14:00"},
            "created_at lies before the year 1",
        ),
    ],
)
def test_what_is_no_event_is_refused(log: EventLog, event: dict[str, Any], message: str) -> None:
    """The error says what was wrong and what would be right."""
    with pytest.raises(InvalidEventError, match=message):
        log.add_all([event])


def test_a_time_may_be_text(log: EventLog) -> None:
    """As JSON lines have it."""
    event = log.add("note", text="x", created_at="2026-01-02T04:00:00+01:00")
    assert event.created_at == datetime(2026, 1, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"colour": 1}, "colour: the source events has no such setting"),
        ({"feed": 1}, "feed: must be true or false, got 1"),
        ({"half_life_hours": 0}, "half_life_hours: must be a number over 0, got 0"),
        ({"half_life_hours": True}, "half_life_hours: must be a number over 0, got True"),
        (
            {"highlight_half_life_hours": float("inf")},
            "highlight_half_life_hours: must be a number over 0",
        ),
        ({"recent": 0}, "recent: must be a whole number from 1 to 1,000,000, got 0"),
        ({"beside": -1}, "beside: must be a whole number from 0 to 1,000,000, got -1"),
        ({"turns": 2.5}, "turns: must be a whole number from 1 to 1,000,000, got 2.5"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], problem: str) -> None:
    """Each text begins with the key."""
    assert [
        found[: len(problem)] for found in contextkit_source().setting_problems("events", settings)
    ] == [problem]


def test_right_settings_have_no_problems() -> None:
    """Whole and broken hours are both right."""
    given = {"feed": False, "half_life_hours": 1.5, "recent": 5}
    assert list(contextkit_source().setting_problems("events", given)) == []
