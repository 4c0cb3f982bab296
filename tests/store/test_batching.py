"""Searches of one moment travel as one batch, and one bad question costs itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from contextkit import Hit, Range, Record, Records
from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import OneEmbedder
from contextkit.errors import RecordError
from contextkit.models.record import Search
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.hold import BatchSearcher


@define(eq=False)
class Watched:
    """A real store whose searches are watched, and wait where a test says so."""

    store: EmbeddedStore
    batches: list[int] = field(factory=list)
    go_on: threading.Event = field(factory=threading.Event)
    arrived: Callable[[], object] = lambda: None
    _turn: threading.Lock = field(factory=threading.Lock)
    _is_closed: bool = False

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        self.batches.append(len(searches))
        self.arrived()
        assert self.go_on.wait(20)
        with self._turn:
            # A search that its caller has given up would open the store again.
            return [] if self._is_closed else self.store.search(searches)

    def close(self) -> None:
        """Close the store after the search that is under way."""
        self.go_on.set()
        with self._turn:
            self._is_closed = True
            self.store.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A store with three records."""
    store = EmbeddedStore(tmp_path / "store", OneEmbedder(load_embedder("none")))
    Records(store, "tide", "p").put(
        [
            Record(id=f"{n}", text=f"high water at {place}")
            for n, place in enumerate(("a", "b", "c"))
        ]
    )
    watched = Watched(store)
    watched.go_on.set()
    yield watched
    watched.close()


def search(query: str, **options: Any) -> Search:
    """A question of the source `tide`."""
    return Search(query=query, source="tide", projects=("p",), **options)


def searcher_of(watched: Watched) -> BatchSearcher:
    """A searcher on the watched store."""
    return BatchSearcher(watched)  # type: ignore[arg-type]


async def test_searches_of_one_moment_are_one_batch(watched: Watched) -> None:
    """Each gets its own answer."""
    searcher = searcher_of(watched)
    answers = await asyncio.gather(*(searcher(search("water", limit=n)) for n in (1, 2, 3)))
    assert [len(hits) for hits in answers] == [1, 2, 3]
    assert watched.batches == [3]
    assert len(await searcher(search("water"))) == 3
    assert watched.batches == [3, 1]


async def test_a_bad_question_costs_itself(watched: Watched) -> None:
    """The others are asked again, one by one; it raises what it alone would raise."""
    searcher = searcher_of(watched)
    good, bad, other = await asyncio.gather(
        searcher(search("water")),
        searcher(search("water", filters={"day": object()})),
        searcher(search("water", filters={"created_at": Range(gte=0)})),
        return_exceptions=True,
    )
    assert isinstance(good, list)
    assert len(good) == 3
    assert isinstance(bad, RecordError)
    assert isinstance(other, (list, Exception))
    assert watched.batches == [3, 1, 1, 1]


async def test_what_nobody_waits_for_is_not_searched(watched: Watched) -> None:
    """A search that was given up on before the batch left is not in it."""
    searcher = searcher_of(watched)
    given_up = asyncio.create_task(searcher(search("water")))
    waiting = asyncio.create_task(searcher(search("water")))
    await asyncio.sleep(0)
    given_up.cancel()
    assert len(await waiting) == 3
    assert given_up.cancelled()
    assert watched.batches == [1]


async def test_a_search_that_is_given_up_on_disturbs_no_other(watched: Watched) -> None:
    """The batch goes on for those that still wait."""
    searcher = searcher_of(watched)
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    watched.arrived = lambda: loop.call_soon_threadsafe(asked.set)
    watched.go_on.clear()
    first, second = (asyncio.create_task(searcher(search("water"))) for _ in range(2))
    await asked.wait()
    first.cancel()
    await asyncio.sleep(0)
    watched.go_on.set()
    assert len(await second) == 3


async def test_a_batch_that_nobody_waits_for_ends(watched: Watched) -> None:
    """No task is left behind, although the store has not answered yet."""
    searcher = searcher_of(watched)
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    watched.arrived = lambda: loop.call_soon_threadsafe(asked.set)
    watched.go_on.clear()
    waiting = [asyncio.create_task(searcher(search("water"))) for _ in range(2)]
    await asked.wait()
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert not searcher._running


async def test_a_batch_given_up_on_before_it_left_is_not_asked(watched: Watched) -> None:
    """The store is not troubled for nobody."""
    searcher = searcher_of(watched)
    task = asyncio.create_task(searcher(search("water")))
    await asyncio.sleep(0)
    task.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert watched.batches == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
