"""A host's own object as a store: which method is asked, how, and that it is searched alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import Range, Records
from contextkit.errors import ContextAssemblyError, RecordError, SourceError, StoreError
from contextkit.models.searcher import Searcher
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.searcher import SearcherStore
from tests.store.searchers import asked, hit_of, host, note

MakePlugin = Callable[..., ModuleType]
MakeRegistry = Callable[..., SourceRegistry]


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


class Proxy:
    """Makes up what it is asked for, as a mock does, so that its signature cannot be read."""

    def __init__(self, method: Callable[..., list[Any]], signature: object) -> None:
        self._method = method
        self._signature = signature

    def __getattr__(self, name: str) -> object:
        if name == "__signature__" and isinstance(self._signature, Exception):
            raise self._signature
        return self._signature

    def __call__(self, *args: Any, **options: Any) -> list[Any]:
        return self._method(*args, **options)


@pytest.mark.parametrize("signature", ["?", RuntimeError("the line is dead")])
def test_filters_are_given_to_an_object_whose_signature_cannot_be_read(signature: object) -> None:
    """Its class's `__call__` says what it takes: without the filter it would find nothing."""
    recorder = Recorder()
    proxy = Proxy(lambda query, **options: recorder.answer(query, options), signature)
    (hit,) = asked(host(search_notes=proxy), limit=3, filters={"axis": "full"})
    assert recorder.calls == [("tide", {"axis": "full", "limit": 3})]
    assert hit.record.fields["axis"] == "full"


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
        with pytest.raises(StoreError, match="Half can only search: "):
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
        (Half, "expected an object, got the class Half"),
        (object(), "object has no method search_NAME"),
        (None, "NoneType has no method search_NAME"),
    ],
)
def test_what_is_no_searcher_is_refused_at_once(searcher: Any, problem: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ContextAssemblyError, match=problem):
        SearcherStore(searcher)


class Whole:
    """What type checkers accept as a `Searcher`: async or not, with parameters of its own."""

    def search_memories(self, query: str, limit: int = 5) -> list[dict[str, Any]]:
        return []

    async def search_code(self, query: str, limit: int = 5) -> tuple[Any, ...]:
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
