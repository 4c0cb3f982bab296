"""Hostile text, time and cancellation: what the conformance suite finds in sources."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit.pipeline.looks import Look, default_text
from contextkit.testing import hook_checks, query_checks, text_checks
from contextkit.testing.subject import NotConformingError, Subject, slowness
from tests.authors.sources import answering, giving, item, plugin

SubjectOf = Callable[..., Subject]
NO_TIME = 0.0
LONGER = 0.05

# -- time ------------------------------------------------------------------------------------


async def _forever(request: Any) -> list[ContextItem]:
    await asyncio.Event().wait()
    return []


def _blocking(request: Any) -> list[ContextItem]:
    threading.Event().wait(600)
    return [item("a")]


async def _holding_the_loop(request: Any) -> list[ContextItem]:
    threading.Event().wait(LONGER)
    return [item("a")]


async def _deaf(request: Any) -> list[ContextItem]:
    with_luck = [item("a")]
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return with_luck
    return []


async def _clinging(request: Any) -> list[ContextItem]:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if asyncio.current_task().cancelling() > 1:  # type: ignore[union-attr]
                raise


async def _failing_at_the_end(request: Any) -> list[ContextItem]:
    try:
        await asyncio.Event().wait()
    finally:
        raise OSError("connection lost")


_KEPT: set[asyncio.Task[Any]] = set()


async def _leaving_a_task(request: Any) -> list[ContextItem]:
    task = asyncio.create_task(asyncio.Event().wait())
    _KEPT.add(task)
    task.add_done_callback(_KEPT.discard)
    await asyncio.shield(task)
    return []


@pytest.mark.parametrize(
    ("check", "query", "message"),
    [
        (query_checks.check_time, _forever, "no answer within 0.4 s"),
        (query_checks.check_time, _blocking, "no answer within 0.4 s"),
        (query_checks.check_items, _forever, r"has not ended after 0.4 s"),
        (query_checks.check_cancellation, _deaf, "returns items after it was cancelled"),
        (query_checks.check_cancellation, _clinging, "still runs 0.4 s after it was cancelled"),
        (
            query_checks.check_cancellation,
            _failing_at_the_end,
            "raises OSError: connection lost after it was cancelled",
        ),
        (
            query_checks.check_cancellation,
            _leaving_a_task,
            "leaves Event.wait running: .*TaskGroup",
        ),
    ],
)
def test_a_query_that_does_not_end_is_found(
    subject_of: SubjectOf,
    check: Callable[[Subject], None],
    query: Callable[..., Any],
    message: str,
) -> None:
    """In time or when it is cancelled; no check waits longer than it says."""
    with pytest.raises(NotConformingError, match=message):
        check(subject_of(plugin(contextkit_query=query), timeout=0.4))


def test_a_query_that_holds_the_event_loop_is_found_though_it_is_in_time(
    subject_of: SubjectOf,
) -> None:
    """The others' time goes by: slow is told from in the way."""
    subject = subject_of(plugin(contextkit_query=_holding_the_loop))
    with pytest.raises(NotConformingError, match=r"holds the event loop for .* plain function"):
        query_checks.check_time(subject, NO_TIME)


def _slow(result: Any) -> Callable[..., Any]:
    def function() -> Any:
        threading.Event().wait(LONGER)
        return result

    return function


@pytest.mark.parametrize(
    ("hook", "result"),
    [
        ("contextkit_weight", 1.0),
        ("contextkit_signals", None),
        ("contextkit_dedup_keys", None),
        ("contextkit_format", None),
    ],
)
def test_a_hook_that_holds_the_event_loop_is_found(
    subject_of: SubjectOf, hook: str, result: Any
) -> None:
    """Only the query is given up on."""
    subject = subject_of(giving(hook, _slow(result)))
    with pytest.raises(NotConformingError, match=f"{hook} takes .* whenever it is called"):
        hook_checks.check_promptness(subject, NO_TIME)


def test_what_is_slow_once_is_not_slow(subject_of: SubjectOf) -> None:
    """An import, or a machine that is busy, whose own slowness is measured there and then."""
    calls: list[int] = []

    def contextkit_weight() -> float:
        calls.append(1)
        if len(calls) == 1:
            threading.Event().wait(LONGER)
        return 1.0

    subject = subject_of(answering(item("a"), contextkit_weight=contextkit_weight))
    hook_checks.check_promptness(subject, LONGER / 5)
    assert calls
    assert slowness() >= 1.0


def test_what_belongs_to_one_event_loop_is_found(subject_of: SubjectOf) -> None:
    """A lock that waits in one loop cannot be waited for in another."""
    lock = asyncio.Lock()

    async def contextkit_query(request: Any) -> list[ContextItem]:
        async with lock:
            await asyncio.sleep(0)
            return [item()]

    with pytest.raises(NotConformingError, match="in one event loop and then in another: Runtime"):
        query_checks.check_concurrency(subject_of(plugin(contextkit_query=contextkit_query)))


# -- hostile text ----------------------------------------------------------------------------


def _unescaped(careless: str) -> Callable[..., Any]:
    """A format that is careful but in one style."""

    def format_all(items: Any, style: Any, detail: Any) -> list[str]:
        if style != careless or detail == "compact":
            return [default_text(each, Look(style, detail)) for each in items]
        if style == "xml":
            return [f"<tide>{each.content}</tide>" for each in items]
        return [f"**Tide** {each.content}" for each in items]

    return format_all


def _with(shown: Callable[[ContextItem], str], only: str) -> Callable[..., Any]:
    def format_all(items: Any, style: str, detail: str) -> list[str]:
        return [shown(each) if f"{style} {detail}" == only else "tide" for each in items]

    return format_all


def _closed_early(each: ContextItem) -> str:
    start = each.content.find("</tide>")
    return f"<tide>{each.content[start : each.content.find('words behind')]}</tide>"


def _no_tags(each: ContextItem) -> str:
    if "<" in each.content:
        raise ValueError("no tags, please")
    return "tide"


FULL = item("a", title="Tide", location="harbour", metadata={"by": ["Ada"], "n": 1})
LEAKS = [
    ("plain full", lambda i: i.content, r"`content`.*a line that looks like a title"),
    (
        "markdown full",
        lambda i: f"By {i.metadata['by'][0].partition('***')[0]}",
        r"`metadata\['by'\]\[0\]` \(style markdown, detail full\).*becomes a heading, a quote;",
    ),
    (
        "xml full",
        lambda i: f"<t>{i.content.translate({0: None, 7: None, 27: None, 38: None})}</t>",
        "`content`.*it becomes <injected a>, <injected>, <script>",
    ),
    ("markdown compact", lambda i: i.title, "`title`.*line ends break out of its one line"),
    ("markdown summary", lambda i: f"| {i.location} |", "`location`.*it takes in the text"),
    ("xml full", _closed_early, "it becomes <injected>"),
    ("plain full", _no_tags, r"fails for hostile text in `content`.*no tags"),
]


@pytest.mark.parametrize(
    ("format_all", "message"),
    [
        (_unescaped("markdown"), "`content` .style markdown.*: (it becomes|it takes in)"),
        (_unescaped("xml"), "`content` .style xml.*not well-formed"),
        *((_with(shown, look), message) for look, shown, message in LEAKS),
    ],
)
def test_text_that_breaks_out_of_its_place_is_found(
    subject_of: SubjectOf, format_all: Callable[..., Any], message: str
) -> None:
    """Every text of an item is tried; the message says which one leaks, and what it becomes."""
    with pytest.raises(NotConformingError, match=message):
        text_checks.check_hostile_text(subject_of(answering(FULL, contextkit_format=format_all)))


def test_a_field_of_a_fixed_form_is_passed_over(subject_of: SubjectOf) -> None:
    """What no record can hold is not held against the source."""
    known = item("a", metadata={"at": "2026-03-01T00:00:00+00:00"})

    def shown(each: ContextItem) -> str:
        return f"{datetime.fromisoformat(each.metadata['at']):%A}"

    source = answering(known, contextkit_format=_with(shown, "plain full"))
    text_checks.check_hostile_text(subject_of(source))


# -- contexts --------------------------------------------------------------------------------


def _no_xml(request: Any) -> list[ContextItem]:
    if request.style == "xml":
        raise ValueError("no XML, please")
    return [item("a")]


LONG = f"<tide>{'tide ' * 5000}</tide>"
OF_CONTEXTS = [
    (
        answering(item("a", 0.01)),
        r"state is below_floor: .*no result was relevant",
    ),
    (
        answering(
            item("a"),
            contextkit_format=lambda items, style: [LONG if style == "xml" else "a" for _ in items],
        ),
        "not one of its items is shown: ",
    ),
    (plugin(contextkit_query=_no_xml), r"its state is failed: .*no XML"),
]


@pytest.mark.parametrize(("source", "message"), OF_CONTEXTS)
def test_a_source_that_shows_nothing_in_a_context_is_found(
    subject_of: SubjectOf, source: object, message: str
) -> None:
    """Below the floor, too long to be shortened, or failing where a context asks in its style."""
    with pytest.raises(NotConformingError, match=message):
        text_checks.check_contexts(subject_of(source))


def test_nobodys_configuration_is_read(
    tide: type, subject_of: SubjectOf, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The author's own settings do not decide whether the tests pass."""
    (home / "config.toml").write_text("[sources.tide]\nenabled = false\n")
    monkeypatch.setenv("CONTEXTKIT_SOURCES_TIDE_ENABLED", "false")
    subject = subject_of(tide, settings={"station": "Oslo"})
    assert subject.kit.registry.sources == ["tide"]
    assert subject.request().settings == {"station": "Oslo"}
