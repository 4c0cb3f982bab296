"""The source's answers, on a real store and through whole contexts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import contextkit_events
from contextkit import ContextItem, ContextKit, ContextRequest, QuerySignals, Range, Records
from contextkit.testing import open_kit
from contextkit_events import EventLog
from contextkit_events.asked import asks_for_activity
from contextkit_events.finding import find_events, recency
from contextkit_events.settings import SETTINGS

DEFAULTS = contextkit_events.contextkit_source().setting_defaults

NOW = datetime.now(UTC)


async def ask(
    records: Records, query: str = "what did we do so far?", limit: int = 100, **options: Any
) -> list[ContextItem]:
    """What the source finds for a query."""
    settings = {**DEFAULTS, **options.pop("settings", {})}
    request = ContextRequest(
        query=query, limit=limit, records=records, settings=settings, **options
    )
    return await find_events(request)


def texts(items: list[ContextItem]) -> list[str]:
    """What was said or named, in order."""
    return [item.metadata.get("text") or item.metadata.get("path", "") for item in items]


async def test_an_empty_log_has_no_items(records: Records) -> None:
    """There is no session to speak of."""
    assert await ask(records) == []


async def test_the_session_that_asks_gets_its_own_events(log: EventLog) -> None:
    """Without one it is the latest; of the others only errors, writes and failures are shown."""
    log.add("file_read", session="a", path="read-in-a", created_at=NOW - timedelta(hours=2))
    log.add("file_write", session="a", path="written-in-a", created_at=NOW - timedelta(hours=2))
    log.add("file_read", session="b", path="read-in-b")
    log.add("error", session="b", text="error in b")
    log.add("shell_exec", session="b", command="x", text="failed in b", exit_code=3)
    log.add("turn", session="b", text="said in b")
    latest = await ask(log.records)
    assert set(texts(latest)) == {
        *("read-in-b", "error in b", "failed in b", "said in b"),
        "written-in-a",
    }
    named = await ask(log.records, session="a")
    assert set(texts(named)) == {"read-in-a", "written-in-a", "error in b", "failed in b"}
    assert {item.metadata["path"] for item in latest if item.metadata.get("earlier")} == {
        "written-in-a"
    }


async def test_a_new_session_has_the_highlights_of_the_last_five(log: EventLog) -> None:
    """The sixth one back is left out, and `sessions` says how many."""
    for back in range(1, 8):
        when = NOW - timedelta(hours=back)
        log.add("error", session=f"s{back}", text=f"error {back}", created_at=when)
    found = await ask(log.records, session="new")
    assert texts(found) == [f"error {back}" for back in range(1, 6)]
    two = await ask(log.records, session="new", settings={"sessions": 2})
    assert texts(two) == ["error 1", "error 2"]


async def test_a_question_finds_what_an_earlier_session_said(log: EventLog) -> None:
    """Only turns that answer it are shown."""
    log.add("turn", session="a", text="herring are smoked", created_at=NOW - timedelta(days=9))
    log.add("turn", session="a", text="see you", created_at=NOW - timedelta(days=9))
    log.add("turn", session="b", text="hello")
    found = await ask(log.records, "are herring smoked?", settings={"beside": 0})
    assert texts(found) == ["herring are smoked"]


async def test_the_last_twenty_turns_and_fifty_events(log: EventLog) -> None:
    """Older turns are left out even where they answer; older events only where they do not."""
    turns = [
        {"kind": "turn", "session": "a", "text": f"turn {n} herring", "created_at": ago(n)}
        for n in range(25)
    ]
    events = [
        {"kind": "note", "session": "a", "text": f"event {n}", "created_at": ago(n)}
        for n in range(60)
    ]
    log.add_all([*turns, *events])
    log.add("note", session="a", text="an old herring", created_at=ago(100))
    found = await ask(log.records, "herring", settings={"beside": 100})
    assert sorted(text for text in texts(found) if text.startswith("turn")) == sorted(
        f"turn {n} herring" for n in range(20)
    )
    events_found = {text for text in texts(found) if not text.startswith("turn")}
    assert events_found == {*(f"event {n}" for n in range(50)), "an old herring"}


async def test_what_is_recent_and_what_answers_come_first(log: EventLog) -> None:
    """A quarter of the relevance is recency, the rest is how well it answers."""
    log.add("error", session="a", text="the harbour is closed", created_at=NOW)
    log.add("error", session="a", text="the upload failed", created_at=ago(60 * 24))
    log.add("error", session="a", text="something else", created_at=ago(60 * 24))
    log.add("error", session="a", text="long ago", created_at=ago(60 * 24 * 20))
    found = await ask(log.records, "why did the upload fail?")
    by_text = {item.content: item for item in found}
    assert by_text["the upload failed"].relevance > 0.6
    assert by_text["the harbour is closed"].relevance == 0.25
    assert by_text["something else"].relevance == 0.125
    assert by_text["long ago"].relevance < 0.001
    assert found[0].content == "the upload failed"
    top = await ask(log.records, "why did the upload fail?", limit=2)
    assert [item.content for item in top] == [item.content for item in found[:2]]


@pytest.mark.parametrize("asked", ["Where are cookies signed?", "where are  cookies SIGNED"])
async def test_a_question_is_no_answer_to_itself(log: EventLog, asked: str) -> None:
    """An agent logs its prompt before it asks for a context; what answered it stays."""
    log.add("turn", text="Where are cookies signed?", role="user")
    log.add("turn", text="Cookies are signed in sessions.py", role="assistant")
    log.add("turn", text="Where are cookies signed and why not in the app?", role="user")
    request = ContextRequest(query=asked, limit=9, records=log.records, settings=DEFAULTS)
    assert {
        item.metadata["text"] for item in await contextkit_events.contextkit_query(request)
    } == {
        "Cookies are signed in sessions.py",
        "Where are cookies signed and why not in the app?",
    }


async def test_half_lives_are_settings(log: EventLog) -> None:
    """One for the session that asks, a longer one for what the sessions before it did."""
    log.add("error", session="before", text="before", created_at=ago(120))
    log.add("error", session="a", text="own", created_at=ago(119))
    found = await ask(
        log.records,
        "anything",
        session="a",
        settings={"half_life_hours": 1.0, "highlight_half_life_hours": 2.0},
    )
    relevance = {item.content: item.relevance for item in found}
    assert relevance["before"] == 0.125
    assert relevance["own"] == pytest.approx(0.0625, rel=0.05)


async def test_the_newest_few_stand_beside_what_answers(log: EventLog) -> None:
    """What says nothing on a question is there three times at most, or as often as is set."""
    log.add("error", session="a", text="the upload failed", created_at=ago(60))
    for number in range(6):
        log.add("note", session="a", text=f"event {number}", created_at=ago(number))
    found = await ask(log.records, "upload")
    assert texts(found) == ["the upload failed", "event 0", "event 1", "event 2"]
    alone = await ask(log.records, "upload", settings={"beside": 0})
    assert texts(alone) == ["the upload failed"]
    everything = await ask(log.records, "upload", min_relevance=0.0)
    assert len(everything) == 7


async def test_what_was_done_last_comes_in_full_where_it_is_asked_for(log: EventLog) -> None:
    """Nothing of the session is left out then, and each event is a good answer."""
    for number in range(6):
        log.add("note", session="a", text=f"event {number}", created_at=ago(number))
    log.add("error", session="before", text="an old error", created_at=ago(60 * 24))
    found = await ask(log.records, "What did I just do?")
    assert texts(found) == [*(f"event {number}" for number in range(6)), "an old error"]
    assert min(item.relevance for item in found) > 0.7
    weight = contextkit_events.contextkit_weight
    assert weight(ContextRequest(query="What did I just do?")) > weight(ContextRequest(query="it"))


@pytest.mark.parametrize(
    "query",
    [
        *("continue", "Ok, please go on.", "carry on with what you were doing", "next"),
        *("What did we do yesterday?", "what have I changed?", "Where were we?"),
        *("why did that test fail?", "why does it still fail", "show me the last error"),
        *("run the failing tests again", "pick up where I left off", "what I just wrote"),
    ],
)
def test_queries_that_ask_for_what_was_done_last(query: str) -> None:
    """They tell to go on, ask what was done, or point at what has just happened."""
    assert asks_for_activity(query)


@pytest.mark.parametrize(
    "query",
    [
        *("", "fix", "thanks!", "How does the breaker decide to ask a source again?"),
        *("continue the loop after an error", "Which test covers fit?", "next page of results"),
        *("What did we decide about caching?", "where are errors logged?", "resume a download"),
        "why do tests fail on Windows?",
    ],
)
def test_queries_that_ask_for_something_else(query: str) -> None:
    """The same words may be about the project."""
    assert not asks_for_activity(query)


def test_recency_halves() -> None:
    """It is 1 for what is new or said to be to come, and goes down in steps."""
    assert recency(NOW, NOW, 24) == recency(NOW + timedelta(hours=1), NOW, 24) == 1
    assert recency(NOW - timedelta(hours=24), NOW, 24) == 0.5
    assert recency(NOW - timedelta(hours=48, minutes=59), NOW, 24) == 0.25


async def test_the_day_that_a_query_names_comes_first(log: EventLog) -> None:
    """Of turns that match about equally well, though another is newer."""
    for days in (1, 40, 80):
        when = NOW - timedelta(days=days)
        log.add("turn", session="a", text=f"{days}: the herring was salted", created_at=when)
    day = NOW - timedelta(days=40)
    found = await ask(log.records, f"was the herring salted on {day:%Y-%m-%d}?")
    assert found[0].created_at is not None
    assert found[0].created_at.date() == day.date()


async def test_an_irregular_form_of_a_word_matches(log: EventLog) -> None:
    """`taught` answers who teaches."""
    for days, text in ((9, "Bela taught the class"), (8, "the herring was salted")):
        log.add("turn", session="a", text=text, created_at=NOW - timedelta(days=days))
    assert texts(await ask(log.records, "who teaches them?"))[0] == "Bela taught the class"


async def test_filters_of_the_request_hold(log: EventLog) -> None:
    """By kind, by time and by session."""
    log.add("error", session="a", text="old error", created_at=ago(600))
    log.add("error", session="b", text="error", created_at=ago(1))
    log.add("turn", session="b", text="turn", created_at=ago(1))
    assert texts(await ask(log.records, filters={"kind": "turn"})) == ["turn"]
    assert set(texts(await ask(log.records, filters={"kind": "error"}))) == {"error", "old error"}
    since = {"created_at": Range(gte=ago(60))}
    assert set(texts(await ask(log.records, filters=since))) == {"error", "turn"}
    assert texts(await ask(log.records, filters={"session": "a"})) == ["old error"]
    assert texts(await ask(log.records, filters={"session": "none"})) == []


@pytest.mark.parametrize(
    ("query", "lifted"),
    [
        ("fix it", {"error", "file_write"}),
        ("what is it?", {"file_read"}),
        ("why is it?", {"file_read"}),
        ("add it", {"file_write"}),
        ("it", set()),
    ],
)
async def test_the_kinds_that_matter_for_a_query_are_lifted(
    kit: ContextKit, query: str, lifted: set[str]
) -> None:
    """By a tenth, of events that are as old and match as well; the trace names the kinds."""
    log = EventLog(kit.records("events"))
    made = NOW - timedelta(hours=24)
    log.add("error", session="s", text="a.py", created_at=made)
    for kind in ("file_read", "file_write"):
        log.add(kind, session="s", path=f"{kind}.py", created_at=made)
    context = await kit.assemble_context(query, ["events"], min_relevance=0.0)
    relevance = {item.kind: item.relevance for item in context.items}
    plain = recency(made, datetime.now(UTC), SETTINGS["half_life_hours"].default) / 4
    assert relevance == {
        kind: pytest.approx(plain * (1.1 if kind in lifted else 1.0), rel=0.05)
        for kind in ("error", "file_read", "file_write")
    }
    assert lifted <= set(context.trace.signals.kinds)


async def test_events_of_a_kind_are_searched_for(kit: ContextKit) -> None:
    """However many others are newer; and those since a time."""
    log = EventLog(kit.records("events"))
    log.add("error", session="s", text="the old parser", created_at=NOW - timedelta(hours=2))
    for number in range(60):
        log.add("file_read", session="s", path=f"parser{number}.py")
    asked: Any = {"limit": 5, "min_relevance": 0.0}
    errors = await kit.assemble_context("parser", ["events"], kinds=["error"], **asked)
    assert [item.kind for item in errors.items] == ["error"]
    since = NOW - timedelta(hours=1)
    recent = await kit.assemble_context("parser", ["events"], since=since, **asked)
    assert [item.kind for item in recent.items] == ["file_read"] * 5


def test_other_queries_have_no_kinds() -> None:
    """Nothing is lifted where nobody knows what is wanted."""
    assert contextkit_events.contextkit_signals("", QuerySignals()) == QuerySignals()


async def test_what_an_item_carries(log: EventLog) -> None:
    """Its session is its sequence; errors matter more than the rest."""
    log.add("file_write", session="a", path="src/a.py", created_at=ago(5))
    log.add("shell_exec", session="a", command="make", exit_code=2)
    failed, written = await ask(log.records, "anything")
    assert (written.source, written.kind, written.title) == (
        "events",
        "file_write",
        "Wrote: src/a.py",
    )
    assert (written.sequence, written.location, written.salience) == ("a", "src/a.py", 0.5)
    assert (failed.salience, failed.location) == (0.8, None)


def ago(minutes: float) -> datetime:
    """So many minutes before now: a run of all tests may have begun long ago."""
    return datetime.now(UTC) - timedelta(minutes=minutes)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    plugins = {"events": contextkit_events}
    with open_kit(tmp_path, plugins, settings={"embedding.model": "none"}) as opened:
        yield opened


async def test_a_whole_context(kit: ContextKit) -> None:
    """Seed 3's section and its formats."""
    log = EventLog(kit.records("events"))
    when = datetime.now(UTC).replace(microsecond=120_000) - timedelta(minutes=5)
    log.add("file_read", session="a", path="src/upload.py", created_at=when)
    log.add("turn", session="b", text="elsewhere")
    context = await kit.assemble_context("where is the upload?", session="a")
    stamp = f"{when:%Y-%m-%d %H:%M}"
    assert f"## Recent Activity\n\n[{stamp}] Read: src/upload.py" in context.markdown
    assert "elsewhere" not in context.markdown


def test_the_source_counts_events_alone(kit: ContextKit) -> None:
    """What it keeps of sessions is not counted, and its settings are known."""
    info = kit.registry.info("events")
    log = EventLog(kit.records("events"))
    log.add("note", session="a", text="x")
    assert kit.records("events").count() == 2
    assert kit.records("events").count(info.count_filters) == 1
    assert (info.title, info.priority, info.embedder) == ("Recent Activity", 90, "none")
    assert (info.keep_days, info.keep_records) == (90, 10_000)


async def test_a_write_does_not_pass_for_a_read_of_the_same_file(kit: ContextKit) -> None:
    """What was changed is worth knowing beside what was looked at."""
    path = "plugins/harbour/src/harbour/high_water_marks.py"
    log = EventLog(kit.records("events"))
    log.add("file_read", session="a", path=path, created_at=ago(9))
    log.add("file_write", session="a", path=path, created_at=ago(8))
    context = await kit.assemble_context("high water", source_timeout=20, deadline=20)
    assert {item.kind for item in context.items} == {"file_read", "file_write"}
