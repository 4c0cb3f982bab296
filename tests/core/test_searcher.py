"""A host's own object in place of the store: how it is asked, and what its results become."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
import sqlite3
import threading
import uuid
from collections import namedtuple
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import attrs
import numpy as np
import pytest
from structlog.testing import capture_logs

from contextkit import ContextAssembler, ContextItem, ContextRequest, Hit, Range, Records
from contextkit.errors import (
    ContextAssemblyError,
    RecordError,
    SourceError,
    StoreError,
)
from contextkit.records import Search
from contextkit.registry import SourceRegistry
from contextkit.searcher.protocol import Searcher
from contextkit.searcher.store import SearcherStore
from contextkit.store.base import RecordStore

MakePlugin = Callable[..., ModuleType]
MakeRegistry = Callable[..., SourceRegistry]

PATIENT: dict[str, Any] = {"source_timeout": 30, "deadline": 30}
"""Options of a request whose sources may take their time on a busy machine."""


def host(**methods: Any) -> Any:
    """A host's object with these methods; a value stands for a method that returns it."""
    return SimpleNamespace(
        **{
            name: given if callable(given) else lambda query, limit, given=given: given
            for name, given in methods.items()
        }
    )


def asked(searcher: object, source: str = "notes", **options: Any) -> list[Hit]:
    """What a searcher finds for a source, as the pipeline would ask it."""
    search = Search(**{"query": "tide", "source": source, "projects": ("p", ""), **options})
    return asyncio.run(SearcherStore(searcher).answer(search))


def hit_of(result: object) -> Hit:
    """The one hit of a searcher that returns this result."""
    (hit,) = asked(host(search_notes=[result]))
    return hit


def note(**values: Any) -> dict[str, Any]:
    """A result that is right, but for what is given."""
    return {"id": "n1", "content": "High water at noon", "score": 0.5, **values}


# -- what a result may be -------------------------------------------------------------------


@dataclasses.dataclass(slots=True)
class Slotted:
    id: str
    content: str
    score: float
    place: str


@attrs.frozen
class Attributed:
    id: str
    content: str
    score: float
    place: str


Named = namedtuple("Named", ["id", "content", "score", "place"])


class Plain:
    def __init__(self, name: str, content: str, score: float, place: str) -> None:
        self.id, self.content, self.score, self.place = name, content, score, place
        self._connection = object()


def row(*values: Any) -> sqlite3.Row:
    """The same as a row of a database."""
    with sqlite3.connect(":memory:") as connection:
        connection.row_factory = sqlite3.Row
        names = "? AS id, ? AS content, ? AS score, ? AS place"
        found = connection.execute(f"SELECT {names}", values).fetchone()
    connection.close()
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "make",
    [
        Slotted,
        Attributed,
        Named,
        Plain,
        row,
        lambda *values: dict(zip(("id", "content", "score", "place"), values, strict=True)),
        lambda name, text, score, place: {
            "id": name,
            "text": text,
            "relevance": score,
            "metadata": {"place": place},
        },
        lambda name, text, score, place: SimpleNamespace(
            content=text,
            score=score,
            metadata=SimpleNamespace(id=name, place=place, content="not this", score=7),
        ),
    ],
    ids=["dataclass", "attrs", "namedtuple", "class", "row", "dict", "metadata", "nested"],
)
def test_a_result_may_be_any_object_or_mapping(make: Callable[..., object]) -> None:
    """What it says at the top or in its metadata becomes one record and its relevance."""
    hit = hit_of(make("n1", "High water at noon", 0.5, "Dover"))
    assert (hit.record.id, hit.record.text, hit.relevance) == ("n1", "High water at noon", 0.5)
    assert hit.record.fields == {"id": "n1", "place": "Dover"}
    assert (hit.record.source, hit.record.project) == ("notes", "p")


@pytest.mark.parametrize("name", ["content", "text", "code", "message"])
def test_the_words_have_the_names_of_the_seeds(name: str) -> None:
    """One of four; whichever it is, it is not kept twice."""
    record = hit_of({"id": "1", name: "High water", "score": 1}).record
    assert (record.text, record.fields) == ("High water", {"id": "1"})


@pytest.mark.parametrize("name", ["goal", "signature", "docstring"])
def test_fields_may_hold_the_words(name: str) -> None:
    """An experience is its goal and more, a code unit may be its signature."""
    record = hit_of({"id": "1", name: "High water", "score": 1}).record
    assert (record.text, record.fields[name]) == ("", "High water")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"id": "a"}, "a"),
        ({"id": 7}, "7"),
        ({"id": uuid.UUID(int=7)}, str(uuid.UUID(int=7))),
        ({"sha": "abc"}, "abc"),
        ({"ghap_id": "ghap_1"}, "ghap_1"),
        ({"id": "a", "sha": "b"}, "a"),
        ({"id": None, "sha": "b"}, "b"),
        ({"file_path": "a.py", "start_line": 3}, "a.py:3"),
    ],
)
def test_an_id_is_what_the_result_has_for_one(values: dict[str, Any], expected: str) -> None:
    """Its id, or what else the seeds tell records apart by."""
    assert hit_of({"content": "x", "score": 1, **values}).record.id == expected


def test_a_result_without_an_id_gets_one_that_stays() -> None:
    """It is made from all that the result says but its score."""
    results = [
        {"content": "x", "score": 1.0},
        {"content": "x", "score": 0.5},
        {"content": "x", "score": 0.5, "place": "Dover"},
    ]
    one, same, other = (hit_of(result).record.id for result in results)
    assert one == same != other


@pytest.mark.parametrize(
    ("score", "relevance"),
    [
        (0, 0.0),
        (1, 1.0),
        (np.float32(0.5), 0.5),
        (1.0000001, 1.0),
        (-1e-7, 0.0),
    ],
)
def test_a_score_is_any_number_within_its_bounds(score: Any, relevance: float) -> None:
    """What rounding adds to a cosine is taken off."""
    assert hit_of(note(score=score)).relevance == relevance


@pytest.mark.parametrize(
    ("values", "moment"),
    [
        ({"created_at": datetime(2026, 5, 1, tzinfo=UTC)}, datetime(2026, 5, 1, tzinfo=UTC)),
        ({"created_at": datetime(2026, 5, 1)}, datetime(2026, 5, 1, tzinfo=UTC)),  # noqa: DTZ001
        ({"created_at": "2026-05-01T12:00:00+02:00"}, datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ({"committed_at": "2026-05-01T12:00:00Z"}, datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ({"timestamp": " 2026-05-01 "}, datetime(2026, 5, 1, tzinfo=UTC)),
        ({"timestamp": "yesterday"}, None),
        (
            {"created_at": datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))},
            None,
        ),
        ({}, None),
    ],
)
def test_a_time_is_a_datetime_or_a_text(values: dict[str, Any], moment: datetime | None) -> None:
    """In UTC where it has no zone; what has no time, or none that can be read, is old."""
    record = hit_of(note(**values)).record
    assert record.created_at == (moment or datetime(1970, 1, 1, tzinfo=UTC))
    if moment and "timestamp" not in values:
        assert record.fields["timestamp"] == moment.isoformat()


class Tier(enum.Enum):
    GOLD = "gold"


def test_fields_become_plain_values() -> None:
    """Objects within a result are mappings, as the sources' formats want them."""
    record = hit_of(
        note(
            lesson=SimpleNamespace(what_worked="waiting", takeaway=None, _row=1),
            tier=Tier.GOLD,
            at=datetime(2026, 5, 1, tzinfo=UTC),
            places=("Dover", Path("a") / "b"),
            marks={"b", "a"},
            count=np.int64(3),
            share=np.float64(0.5),
            sure=True,
            raw=b"x",
            key=uuid.UUID(int=7),
            nothing=None,
            _private=1,
        )
    ).record
    assert record.fields == {
        "id": "n1",
        "lesson": {"what_worked": "waiting"},
        "tier": "gold",
        "at": "2026-05-01T00:00:00+00:00",
        "places": ["Dover", str(Path("a") / "b")],
        "marks": ["a", "b"],
        "count": 3,
        "share": 0.5,
        "sure": True,
        "raw": "b'x'",
        "key": str(uuid.UUID(int=7)),
    }
    assert type(record.fields["count"]) is int


# -- what is wrong with a result ------------------------------------------------------------

CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ("High water", "result 1: it is 'High water', expected an object or a mapping"),
        (7, "result 1: it is 7, expected"),
        (None, "result 1: it is None, expected"),
        (Plain, "expected an object or a mapping"),
        (("High water", 0.5), "expected an object or a mapping"),
        (note(metadata="Dover"), "its metadata is 'Dover', expected a mapping"),
        (note(score=None), "it has no relevance or score: how well it matches, 0..1"),
        (note(score="0.5"), "its score is '0.5', expected a number within 0..1"),
        (note(score=True), "its score is True, expected a number"),
        (note(score=17.3), "its score is 17.3, expected a number within 0..1, 1 the best"),
        (note(score=-0.2), "its score is -0.2, expected"),
        (note(score=float("nan")), "its score is nan, expected"),
        (note(relevance=2), "its relevance is 2, expected"),
        (note(content=None), "it has none of content, text, code, message: the words to show"),
        (note(content=["High water"]), r"its content is \['High water'\], expected a text"),
        (note(id=["n1"]), r"its id is \['n1'\], expected a text or a number"),
        (note(id=""), "its id is '', expected"),
        (note(id=True), "its id is True, expected"),
        (note(created_at=1714521600), "its created_at is 1714521600, expected a datetime or ISO"),
        (note(own=CYCLE), "its fields are nested deeper than 8 levels"),
    ],
)
def test_a_result_that_is_wrong_is_named(result: object, problem: str) -> None:
    """The error says which source, which method, which result and what would be right."""
    with pytest.raises(SourceError, match=problem) as caught:
        asked(host(search_notes=[note(), result]))
    assert (caught.value.source, caught.value.hook) == ("notes", "search_notes")


@pytest.mark.parametrize("results", [None, "High water", note(), {note()["id"]}, iter([note()])])
def test_what_is_no_list_of_results_is_refused(results: object) -> None:
    """A generator too: whoever iterates it would block the event loop."""
    with pytest.raises(SourceError, match=r"returned .*, expected a list of results"):
        asked(host(search_notes=lambda query, limit: results))


# -- which method, and how it is called -----------------------------------------------------


def test_the_method_is_named_after_the_source() -> None:
    """A hyphen is an underscore there."""
    assert asked(host(search_my_notes=[note()]), source="my-notes")[0].record.id == "n1"


def test_a_source_without_a_method_finds_nothing_and_says_so() -> None:
    """As does one whose method is no method."""
    with pytest.raises(SourceError, match="Half has no such method, so nothing is found") as caught:
        asked(Half(), source="commits")
    assert caught.value.hook == "search_commits"
    with pytest.raises(SourceError, match="has no such method"):
        asked(SimpleNamespace(search_notes=[note()]))
    store = SearcherStore(Half())
    assert [store.can_answer(source) for source in ("notes", "commits")] == [True, False]


class Half:
    def search_notes(self, query: str, limit: int) -> list[Any]:
        return []


class Recorder:
    """Answers every call with one note, and keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def answer(self, *call: Any) -> list[Any]:
        self.calls.append(call)
        return [note()]

    @staticmethod
    def nothing() -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        (Recorder.nothing, r"as search_notes\(query\): got an unexpected keyword argument 'query'"),
        (lambda query, limit, user: [], r"\(query, limit=\): missing a required argument: 'user'"),
    ],
)
def test_a_method_that_cannot_be_called_is_named(method: Any, problem: str) -> None:
    """What it was to be called with, and what it lacks."""
    with pytest.raises(SourceError, match=problem):
        asked(host(search_notes=method))


def unknown_to_python(recorder: Recorder) -> Callable[..., Any]:
    """A method without a signature, as one written in C may be."""

    def method(query: str, *, limit: int) -> list[Any]:
        return recorder.answer(query, limit)

    method.__signature__ = "?"  # type: ignore[attr-defined]
    return method


@pytest.mark.parametrize(
    ("make", "call"),
    [
        (lambda r: lambda query, limit=9: r.answer(query, limit), ("tide", 3)),
        (lambda r: lambda words, *, limit: r.answer(words, limit), ("tide", 3)),
        (lambda r: lambda words, /, limit=9: r.answer(words, limit), ("tide", 3)),
        (lambda r: lambda *, limit, query: r.answer(query, limit), ("tide", 3)),
        (lambda r: lambda query: r.answer(query, "all"), ("tide", "all")),
        (lambda r: lambda *a, **k: r.answer(a, k), (("tide",), {"limit": 3})),
        (lambda r: lambda **k: r.answer(k), ({"query": "tide", "limit": 3},)),
        (unknown_to_python, ("tide", 3)),
    ],
)
def test_a_method_is_given_the_query_and_the_limit(
    make: Callable[[Recorder], Any], call: tuple[Any, ...]
) -> None:
    """In whichever way it takes them."""
    recorder = Recorder()
    asked(host(search_notes=make(recorder)), limit=3)
    assert recorder.calls == [call]


def test_a_long_query_is_cut_as_for_a_store() -> None:
    """The trace says how much of it was searched for."""
    recorder = Recorder()
    asked(host(search_notes=lambda query, limit: recorder.answer(len(query))), query="a" * 9000)
    assert recorder.calls == [(8192,)]


@pytest.mark.parametrize(
    ("make", "call"),
    [
        (
            lambda r: (
                lambda query, *, axis, limit, domain=None, outcome=None: r.answer(
                    axis, domain, outcome, limit
                )
            ),
            ("full", "debugging", "falsified", 3),
        ),
        (
            lambda r: (
                lambda query, limit, axis, domain, outcome_status, outcome=None: r.answer(
                    axis, domain, outcome_status, outcome
                )
            ),
            ("full", "debugging", "falsified", None),
        ),
        (
            lambda r: lambda query, **k: r.answer(k),
            ({"axis": "full", "domain": "debugging", "outcome": "falsified", "limit": 3},),
        ),
    ],
)
def test_filters_are_given_to_a_method_that_takes_them(
    make: Callable[[Recorder], Any], call: tuple[Any, ...]
) -> None:
    """By their names, `outcome_status` also by seed 1's; the host is trusted to apply them."""
    recorder = Recorder()
    filters = {"axis": "full", "domain": "debugging", "outcome_status": "falsified"}
    (hit,) = asked(host(search_notes=make(recorder)), limit=3, filters=filters)
    assert recorder.calls == [call]
    assert filters.items() <= hit.record.fields.items()


def test_what_a_result_says_is_not_overwritten_by_what_was_asked_for() -> None:
    """And a filter of several values says nothing of any one result."""
    results = [note(axis="surprise")]
    searcher = host(search_notes=lambda query, limit, axis, domain: results)
    (hit,) = asked(searcher, filters={"axis": "full", "domain": ["a", "b"]})
    assert hit.record.fields == {"id": "n1", "axis": "surprise"}


def test_a_name_is_given_once() -> None:
    """Two filters of one name, or one named like the query: the second is applied here."""
    recorder = Recorder()

    def method(words: str, **rest: Any) -> list[Any]:
        recorder.answer(words, rest)
        return [note(words="x", query="x", limit=9, outcome="x", **{"a b": 1})]

    filters = {
        "words": "x",
        "query": "x",
        "limit": 9,
        "outcome_status": "falsified",
        "outcome": "x",
        "a b": 1,
    }
    assert len(asked(host(search_notes=method), limit=3, filters=filters)) == 1
    assert recorder.calls == [("tide", {"outcome": "falsified", "limit": 15})]


NOTES = [
    note(
        id="1",
        height=3,
        place="Dover",
        sure=True,
        marks=["a", "b"],
        at={"port": "east"},
        created_at="2026-05-01T00:00:00Z",
        seen="2026-05-02T00:00:00Z",
    ),
    note(id="2", height=5.5, place="Deal", sure=1, marks=[], created_at="2026-06-01T00:00:00Z"),
    note(id="3", place="Deal", seen="soon", **{"at.port": "west"}),
]
MAY = datetime(2026, 5, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"place": "Deal"}, "23"),
        ({"place": ["Dover", "Hythe"]}, "1"),
        ({"place": {"Dover", "Deal"}}, "123"),
        ({"place": "Deal", "height": Range(gte=5)}, "2"),
        ({"marks": "b"}, "1"),
        ({"marks": ["b", "c"]}, "1"),
        ({"sure": True}, "1"),
        ({"sure": 1}, "2"),
        ({"height": 3}, "1"),
        ({"height": Range(gt=3)}, "2"),
        ({"height": Range(lte=3)}, "1"),
        ({"height": Range(gte=3, lt=5.5)}, "1"),
        ({"place": Range(gte=3)}, ""),
        ({"sure": Range(gte=1)}, "2"),
        ({"at.port": "east"}, "1"),
        ({"at.port": "west"}, "3"),
        ({"created_at": Range(gte=MAY)}, "2"),
        ({"created_at": Range(lt=MAY)}, "13"),
        ({"seen": Range(gte=datetime(2026, 1, 1, tzinfo=UTC))}, "1"),
        ({"height": Range(lt=MAY)}, ""),
    ],
)
def test_filters_that_a_method_does_not_take_are_applied_to_its_results(
    filters: dict[str, Any], ids: str
) -> None:
    """As a store's engine would: what lacks the field does not match."""
    hits = asked(host(search_notes=NOTES), filters=filters)
    assert "".join(hit.record.id for hit in hits) == ids


def test_more_is_asked_for_where_results_will_be_dropped() -> None:
    """The limit is kept all the same; the best come first."""
    limits = []

    def method(query: str, limit: int) -> list[Any]:
        limits.append(limit)
        return [note(id=str(n), score=n / 10, even=n % 2 == 0) for n in range(10)]

    found = [hit.record.id for hit in asked(host(search_notes=method), limit=2)]
    even = [
        hit.record.id for hit in asked(host(search_notes=method), limit=2, filters={"even": True})
    ]
    assert (found, even, limits) == (["9", "8"], ["8", "6"], [2, 10])


def test_a_filter_on_a_field_that_no_result_has_is_logged() -> None:
    """The host would wonder why nothing is found."""
    with capture_logs() as logs:
        assert asked(host(search_notes=NOTES), filters={"axis": "full", "place": "Deal"}) == []
        assert asked(host(search_notes=[]), filters={"axis": "full"}) == []
    (log,) = logs
    assert log == {
        "event": "searcher_filters_unknown",
        "log_level": "warning",
        "source": "notes",
        "method": "search_notes",
        "filters": ["axis"],
    }


def test_seed_1s_values_are_not_filtered_by_what_they_do_not_say() -> None:
    """Principles have no domains there; where one has, or the method takes them, they count."""
    filters = {"domains": "debugging"}
    with capture_logs() as logs:
        assert len(asked(host(search_notes=NOTES), filters=filters)) == 3
    assert logs == []
    of_domains = [note(id="1", domains=["debugging"]), note(id="2", domains=[]), note(id="3")]
    hits = asked(host(search_notes=of_domains), filters=filters)
    assert [hit.record.id for hit in hits] == ["1"]
    recorder = Recorder()
    asked(host(search_notes=lambda query, limit, domain: recorder.answer(domain)), filters=filters)
    assert recorder.calls == [("debugging",)]


def test_a_filter_that_cannot_be_compared_is_refused() -> None:
    """By the same rules as a store's."""
    with pytest.raises(RecordError, match="filter place: expected a string"):
        asked(host(search_notes=NOTES), filters={"place": 1.5})


# -- async and not --------------------------------------------------------------------------


def searching(request: ContextRequest) -> Awaitable[list[ContextItem]]:
    """A source's query hook that searches its records."""

    async def search() -> list[ContextItem]:
        hits = await request.records.search(
            request.query, limit=request.limit, filters=request.filters
        )
        return [_item(request, hit) for hit in hits]

    return search()


def searching_sync(request: ContextRequest) -> list[ContextItem]:
    """The same, blocking."""
    hits = request.records.search_sync(request.query, limit=request.limit, filters=request.filters)
    return [_item(request, hit) for hit in hits]


async def searching_wrongly(request: ContextRequest) -> list[ContextItem]:
    """A hook that blocks the event loop."""
    return searching_sync(request)


def _item(request: ContextRequest, hit: Hit) -> ContextItem:
    record = hit.record
    return ContextItem(
        source=request.records.source, content=record.text, relevance=hit.relevance, id=record.id
    )


@pytest.fixture
def assembler_of(
    make_plugin: MakePlugin, make_registry: MakeRegistry
) -> Callable[..., ContextAssembler]:
    """An assembler over a host's object, whose sources are the methods that it has."""

    def make(
        searcher: Any, query: Any = searching, sources: Sequence[str] = ("notes",)
    ) -> ContextAssembler:
        plugins = {name: make_plugin(contextkit_query=query) for name in sources}
        return ContextAssembler(searcher, registry=make_registry(plugins))

    return make


AssemblerOf = Callable[..., ContextAssembler]


@pytest.mark.parametrize("query", [searching, searching_sync])
@pytest.mark.parametrize("wrapped", [False, True])
async def test_an_async_method_runs_in_the_hosts_loop(
    assembler_of: AssemblerOf, query: Any, wrapped: bool
) -> None:
    """Whether the source that asks is async or not, and whether Python can tell or not."""
    seen: list[Any] = []

    async def search(query: str, limit: int) -> list[Any]:
        await asyncio.sleep(0)
        seen.append((asyncio.get_running_loop(), threading.get_ident()))
        return [note()]

    @functools.wraps(search)
    def wrapping(*args: Any, **options: Any) -> Any:
        return search(*args, **options)

    method = functools.partial(wrapping) if wrapped else search
    assembler = assembler_of(host(search_notes=method), query)
    context = await assembler.assemble_context("tide", **PATIENT)
    assert [item.id for item in context.items] == ["n1"], context.trace.sources
    assert seen == [(asyncio.get_running_loop(), threading.get_ident())]


@pytest.mark.parametrize("query", [searching, searching_sync])
async def test_a_method_that_is_not_async_runs_in_a_thread(
    assembler_of: AssemblerOf, query: Any
) -> None:
    """The host's loop goes on meanwhile."""
    loop, beats = asyncio.get_running_loop(), []

    def search(query: str, limit: int) -> list[Any]:
        beat = threading.Event()
        loop.call_soon_threadsafe(beat.set)
        beats.append((beat.wait(20), threading.get_ident()))
        return [note()]

    context = await assembler_of(host(search_notes=search), query).assemble_context(
        "tide", **PATIENT
    )
    assert len(context.items) == 1
    ((beaten, thread),) = beats
    assert beaten
    assert thread != threading.get_ident()


async def test_a_source_that_blocks_the_loop_cannot_have_an_async_method_awaited(
    assembler_of: AssemblerOf,
) -> None:
    """It fails with a reason, where it would wait for itself for ever."""

    async def search(query: str, limit: int) -> list[Any]:
        return [note()]

    context = await assembler_of(host(search_notes=search), searching_wrongly).assemble_context(
        "tide", **PATIENT
    )
    (source,) = context.trace.sources
    assert source.state == "failed"
    assert "no thread that an event loop has started" in str(source.reason)


# -- what goes wrong costs one source -------------------------------------------------------


class Sea:
    """A searcher of which everything but `search_calm` goes wrong."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.begun: list[str] = []
        self.ended: list[str] = []

    def search_calm(self, query: str, limit: int) -> list[Any]:
        return [note()]

    async def search_raising(self, query: str, limit: int) -> list[Any]:
        raise ConnectionError("the line\nis dead")

    def search_leaving(self, query: str, limit: int) -> list[Any]:
        raise SystemExit(3)

    def search_nonsense(self, query: str, limit: int) -> Any:
        return {"hits": 3}

    def search_unscored(self, query: str, limit: int) -> Any:
        return [note(), note(score=17)]

    async def search_hanging(self, query: str, limit: int) -> list[Any]:
        self.begun.append("hanging")
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append("hanging")
        return []

    def search_stuck(self, query: str, limit: int) -> list[Any]:
        self.go_on.wait(60)
        return []


async def turns_of_the_loop() -> None:
    """Lets what was cancelled end: it takes a few turns, and no time."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def sea() -> Iterator[Sea]:
    """The searcher; what is stuck in it goes on at the end."""
    sea = Sea()
    yield sea
    sea.go_on.set()


async def test_a_method_that_fails_costs_its_source(sea: Sea, assembler_of: AssemblerOf) -> None:
    """The others' items are there; the trace names the method and says why."""
    sources = ["calm", "raising", "leaving", "nonsense", "unscored", "missing"]
    assembler = assembler_of(sea, sources=sources)
    context = await assembler.assemble_context("tide", sources, **PATIENT)
    assert [(item.source, item.id) for item in context.items] == [("calm", "n1")]
    reasons = {source.section: source.reason for source in context.trace.sources}
    assert reasons == {
        "calm": None,
        "raising": "search_raising: ConnectionError: the line is dead",
        "leaving": "search_leaving: RuntimeError: SystemExit: 3",
        "nonsense": "search_nonsense: returned {'hits': 3}, expected a list of results",
        "unscored": (
            "search_unscored: result 1: its score is 17, expected a number within 0..1, 1 the best"
        ),
        "missing": "search_missing: Sea has no such method, so nothing is found",
    }


@pytest.mark.parametrize("query", [searching, searching_sync])
async def test_a_method_that_hangs_costs_its_source(
    sea: Sea, assembler_of: AssemblerOf, query: Any
) -> None:
    """It is given up at its time; an async one has ended then."""
    assembler = assembler_of(sea, query, ["calm", "hanging", "stuck"])
    timeouts = {"hanging": 0.05, "stuck": 0.05}
    context = await assembler.assemble_context("tide", timeouts=timeouts, **PATIENT)
    states = {source.section: source.state for source in context.trace.sources}
    assert states == {"calm": "ok", "hanging": "timed_out", "stuck": "timed_out"}
    await turns_of_the_loop()
    # A busy machine may be late to call it.
    assert sea.ended == sea.begun


@pytest.mark.parametrize("query", [searching, searching_sync])
async def test_cancelling_leaves_nothing_running(
    sea: Sea, assembler_of: AssemblerOf, query: Any
) -> None:
    """The host's coroutine is cancelled with the context that it was for."""
    begun = asyncio.Event()

    async def hang(words: str, limit: int) -> list[Any]:
        begun.set()
        return await sea.search_hanging(words, limit)

    assembler = assembler_of(host(search_notes=hang), query)
    task = asyncio.create_task(assembler.assemble_context("tide", **PATIENT))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(3):
        await turns_of_the_loop()
    assert sea.ended == ["hanging"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


# -- a store that is searched and no more ---------------------------------------------------


def test_there_is_nothing_to_write_to() -> None:
    """Every write says so, and so do counting and what an index run begins with."""
    records = Records(SearcherStore(Half()), "notes", "p")
    store: RecordStore = SearcherStore(Half())
    refused: list[Callable[[], object]] = [
        lambda: records.put([hit_of(note()).record]),
        lambda: records.delete_where({}),
        records.count,
        lambda: store.delete(["x"]),
        store.optimize,
        lambda: store.identity,
    ]
    for write in refused:
        with pytest.raises(StoreError, match="Half can be searched and no more: no "):
            write()


def test_looking_up_beside_searching_finds_nothing() -> None:
    """A source goes on with what it finds by searching."""
    records = Records(SearcherStore(Half()), "notes", "p")
    assert records.get("n1") == []
    assert records.delete("n1") == 0
    assert list(records.scan()) == []
    assert records.newest(3) == []


def test_there_is_nothing_to_open_hold_or_close() -> None:
    """The object is the host's."""
    store: RecordStore = SearcherStore(Half())
    store.prepare()
    with store.hold():
        assert store.problem is None
        assert store.embedders.of("notes").dense(["tide"]) is None
    store.close()


@pytest.mark.parametrize(
    ("searcher", "problem"),
    [
        (Half, "Half is a class: pass an object of it"),
        (object(), "object is no searcher: it has no method search_NAME"),
        (None, "NoneType is no searcher"),
    ],
)
def test_what_is_no_searcher_is_refused_at_once(searcher: Any, problem: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ContextAssemblyError, match=problem):
        SearcherStore(searcher)


async def test_a_searcher_that_makes_up_its_methods_is_one(assembler_of: AssemblerOf) -> None:
    """As a proxy does, and as the mock in the seeds' own tests."""
    searcher = AsyncMock()
    assembler = assembler_of(searcher)
    searcher.search_notes.return_value = [note()]
    context = await assembler.assemble_context("tide", filters={"axis": "full"}, **PATIENT)
    assert [item.id for item in context.items] == ["n1"]
    searcher.search_notes.assert_awaited_once_with("tide", axis="full", limit=20)


class Whole:
    """What type checkers accept as a `Searcher`: async or not, with parameters of its own."""

    def search_memories(self, query: str, limit: int = 5) -> list[dict[str, Any]]:
        return []

    async def search_code(self, query: str, limit: int = 5) -> tuple[Attributed, ...]:
        return ()

    async def search_experiences(
        self,
        query: str,
        axis: str = "full",
        limit: int = 5,
        domain: str | None = None,
        outcome: str | None = None,
        strategy: str | None = None,
    ) -> list[Any]:
        return []

    def search_values(self, words: str, *, limit: int, user: str = "") -> list[Any]:
        return []

    def search_commits(self, query: str, limit: int) -> list[Any]:
        return []


def test_the_protocol_is_what_a_host_would_write() -> None:
    """Type checkers see to the assignment; every method of the protocol can be asked."""
    searcher: Searcher = Whole()
    names = [name for name in vars(Searcher) if name.startswith("search_")]
    assert len(names) == 5
    for name in names:
        assert asked(searcher, name.removeprefix("search_")) == []
