"""What is kept of sessions, and what is logged, in this process."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from contextkit import ContextItem, ContextKit, Provenance, hookimpl
from contextkit.agent import answer_with
from contextkit.agent.answer import answer_event
from contextkit.agent.events import HookEvent
from contextkit.agent.sessions import (
    journal,
    latest_session,
    note,
    open_session,
    prune_sessions,
    switch_off,
)
from contextkit.agent.shown import hide_shown
from contextkit.errors import InvalidRequestError
from contextkit_agents.adapters.claude_code import answer

DAY = 24 * 3600


class Tides:
    """A source with the same item under two names, and more than a request takes."""

    @hookimpl
    def contextkit_query(self) -> list[ContextItem]:
        return [
            ContextItem("tides", "high water at noon", 1.0, id="noon"),
            ContextItem("tides", "high water at noon", 0.9, id="midday"),
            ContextItem("tides", "low water at dusk", 0.8, id="dusk"),
        ]


class Async:
    """The same of a source that is awaited."""

    @hookimpl
    async def contextkit_query(self) -> list[ContextItem]:
        return [ContextItem("awaited", "spring tide on sunday", 1.0, id="sunday")]


class Wrong:
    """A source whose answer is no list."""

    @hookimpl
    def contextkit_query(self) -> int:
        return 5


@pytest.fixture
def kit(tmp_path: Path) -> ContextKit:
    """A kit of a host's own sources."""
    made = ContextKit.open(tmp_path, entry_points=False)
    for name, source in {"tides": Tides(), "awaited": Async(), "wrong": Wrong()}.items():
        made.register(source, name)
    hide_shown(made)
    return made


def prompt(session: str = "s") -> HookEvent:
    """A prompt's event."""
    return HookEvent(
        name="UserPromptSubmit", session=session, folder=".", prompt="when is high water?"
    )


def told(kit: ContextKit, session: str = "s") -> set[str]:
    """What a session is told."""
    answer = answer_event(kit, prompt(session), time.monotonic() + 30)
    return {item["id"] for item in answer.get("items", ())}


def test_an_item_and_its_duplicates_are_shown_once(kit: ContextKit) -> None:
    """What was merged into an item that was shown is not shown after it."""
    assert told(kit) == {"noon", "dusk", "sunday"}
    assert told(kit) == set()
    assert told(kit, "other") == {"noon", "dusk", "sunday"}


def test_of_two_events_at_once_one_waits(kit: ContextKit) -> None:
    """And gives up when its time is over, with nothing marked as shown."""
    with open_session("s", 1.0), pytest.raises(TimeoutError, match="being answered"):
        answer_event(kit, prompt(), time.monotonic() + 0.01)
    assert told(kit)


def test_what_came_too_late_was_not_shown(kit: ContextKit) -> None:
    """It may be told the next time."""
    with pytest.raises(TimeoutError):
        answer_event(kit, prompt(), time.monotonic())
    assert told(kit)


def test_provenance_counts_as_shown() -> None:
    """The names of an item are its own and those of its duplicates."""
    from contextkit.agent.shown import item_keys

    also = (Provenance("code", "b"),)
    assert item_keys(ContextItem("a", "x", 1.0, id="a", also_in=also)) == ["a:a", "code:b"]


def test_old_sessions_are_removed(home: Path) -> None:
    """After a week, and the oldest of more than five hundred."""
    folder = home / "hooks" / "sessions"
    now = time.time()
    for number in range(503):
        with open_session(f"n{number}", 1.0) as session:
            session.workspace = "/w"
        os.utime(folder / f"n{number}.json", (now - number, now - number))
    os.utime(folder / "n3.json", (now - 8 * DAY, now - 8 * DAY))
    prune_sessions()
    kept = {file.stem for file in folder.glob("*.json")}
    assert kept == {f"n{number}" for number in range(501)} - {"n3"}
    assert not (folder / "n3.lock").exists()
    assert latest_session("/w") == "n0"
    assert latest_session("/v") is None


def test_a_session_that_is_shown_nothing_new_is_seen(kit: ContextKit, home: Path) -> None:
    """It is the last one of its workspace, and no old one."""
    folder = home / "hooks" / "sessions"
    told(kit, "one")
    told(kit, "other")
    for name, days in (("one", 8), ("other", 1)):
        seen = time.time() - days * DAY
        os.utime(folder / f"{name}.json", (seen, seen))
    assert told(kit, "one") == set()
    prune_sessions()
    assert latest_session(str(kit.workspace.root)) == "one"


def test_a_session_is_switched_off_and_on(kit: ContextKit) -> None:
    """Nothing of what it is not told counts as shown."""
    switch_off("s", off=True)
    assert told(kit) == set()
    switch_off("s", off=False)
    assert told(kit)


def test_the_journal_begins_anew_when_it_is_long() -> None:
    """One older file is kept."""
    note("first")
    with journal().open("a", encoding="utf-8") as file:
        file.write(f"{'x' * (1 << 20)}\n")
    note("second", reason=Path("a"))
    (line,) = journal().read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["event"] == "second"
    assert journal().with_suffix(".log.1").read_text(encoding="utf-8").startswith('{"time"')


@pytest.mark.parametrize("event", [None, [], {}, {"hook_event_name": 5}])
def test_what_is_no_event_is_refused(event: object) -> None:
    """With a line that says what one is."""
    with pytest.raises(InvalidRequestError, match="hook_event_name"):
        HookEvent.from_json(event)


def test_the_folder_of_an_event_is_the_current_one_without_another() -> None:
    """An agent may start its hooks where it works."""
    assert HookEvent.from_json({"hook_event_name": "Stop"}).folder == str(Path.cwd())


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("fix the login", True),
        ("修复登录", True),
        ("ok", False),
        ("", False),
        ("/model opus", False),
    ],
)
def test_a_prompt_asks_for_something(said: str, asks: bool) -> None:
    """In any script."""
    event = {"hook_event_name": "UserPromptSubmit", "prompt": said}
    assert HookEvent.from_json(event).asks is asks


def test_claudes_form_is_empty_for_nothing() -> None:
    """An answer without a context is not written down."""
    assert answer_with(answer)({"hook_event_name": "SessionStart"}, {}) == ""
    assert answer_with(answer)({}, {"context": ""}) == ""
