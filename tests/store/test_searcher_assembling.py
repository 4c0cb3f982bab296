"""Contexts from a host's own object, async or not, and what goes wrong with it."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from types import ModuleType
from typing import Any
from unittest.mock import AsyncMock

import pytest

from contextkit import ContextAssembler, ContextItem, ContextRequest, Hit
from contextkit.plugin.manager import SourceRegistry
from tests.store.searchers import host, note

MakePlugin = Callable[..., ModuleType]
MakeRegistry = Callable[..., SourceRegistry]

PATIENT: dict[str, Any] = {"source_timeout": 30, "deadline": 30}
"""Options of a request whose sources may take their time on a busy machine."""


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
    assert "expected a thread started by `in_thread`" in str(source.reason)


async def test_a_searcher_that_makes_up_its_methods_is_one(assembler_of: AssemblerOf) -> None:
    """As a proxy does, and as the mock in the seeds' own tests."""
    searcher = AsyncMock()
    assembler = assembler_of(searcher)
    searcher.search_notes.return_value = [note()]
    context = await assembler.assemble_context("tide", filters={"axis": "full"}, **PATIENT)
    assert [item.id for item in context.items] == ["n1"]
    searcher.search_notes.assert_awaited_once_with("tide", axis="full", limit=50)


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
