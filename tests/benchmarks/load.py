"""Many assemblies at once in one process, and its memory over many of them.

`python -m tests.benchmarks.load --concurrent 10 100 1000 --requests 10000`
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from contextkit import ContextKit
from contextkit.logs import silenced
from tests.benchmarks.growth.records import SearchingSource, batches, made
from tests.benchmarks.growth.resident import resident_bytes, slope
from tests.benchmarks.harness import Report, machine, percentile, write_json
from tests.benchmarks.peers.corpus import SOURCES
from tests.benchmarks.peers.system import BUDGET, LIMIT

__all__ = ["main"]

_SAMPLES = 20
_WARM_UP = 0.3
"""The part of the requests in which caches fill, which the slope leaves out."""

_TRACED = 5
"""One request in so many is made once more with every allocation traced."""

_PATIENCE = 600.0
_LEAST_REQUESTS = 100
"""So many for each number at once, also where that is small."""

_ANSWERED = {"ok", "empty", "below_floor"}

_CONCURRENT = 10
"""So many at once while memory is watched."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if min([given.records - 199, given.requests, *given.concurrent]) < 1:
        parser.error("expected at least 200 records, 1 request and 1 at once")
    records, requests = (200, 40) if given.small else (given.records, given.requests)
    least = 10 if given.small else _LEAST_REQUESTS
    with tempfile.TemporaryDirectory() as name:
        before = os.environ.get("CONTEXTKIT_HOME")
        os.environ["CONTEXTKIT_HOME"] = f"{name}/home"
        try:
            # A source that gives up is counted; a line for each would be all there is to read.
            with silenced():
                reports = _measured(Path(name), records, requests, given.concurrent, least)
        finally:
            os.environ.pop("CONTEXTKIT_HOME")
            if before is not None:
                os.environ["CONTEXTKIT_HOME"] = before
    for report in reports.values():
        report.show()
    if given.json is not None:
        write_json(given.json, machine(), reports)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.load", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--concurrent", nargs="+", type=int, default=[10, 100, 1000], metavar="N")
    parser.add_argument("--requests", type=int, default=10_000, metavar="N", help="10000")
    parser.add_argument("--records", type=int, default=10_000, metavar="N", help="10000")
    parser.add_argument("--small", action="store_true", help="only whether everything runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables as data")
    return parser


def _measured(
    folder: Path, records: int, requests: int, concurrent: Sequence[int], least: int
) -> dict[str, Report]:
    corpus = made(records)
    with _kit(folder, patience=None) as kit:
        for source, batch in batches(corpus, records):
            kit.records(source).put(batch)
        kit.store.optimize()
    queries = _queries([question.query for question in corpus.questions])
    rows = []
    for patience in (_PATIENCE, None):
        for at_once in [1, *concurrent]:
            # One of its own for each: what was given up at one number is left alone for a while.
            with _kit(folder, patience) as kit:
                row = asyncio.run(_throughput(kit, queries, at_once, least))
            rows.append({"timeouts": f"{patience:g} s" if patience else "default", **row})
    with _kit(folder, _PATIENCE) as kit:
        memory = asyncio.run(_memory(kit, queries, requests))
    sources = f"{records:,} records, {len(SOURCES)} sources, {BUDGET:,} tokens"
    return {
        "throughput": Report(
            title="Assemblies at once",
            rows=rows,
            note=f"{sources}. Incomplete: contexts that lack a source, which gave up or failed.",
        ),
        "memory": Report(
            title=f"Memory over {requests:,} assemblies, {_CONCURRENT} at once",
            rows=memory,
            note=(
                f"The slope leaves out the first {_WARM_UP:.0%}. Traced is Python's own memory, "
                f"in a run of its own of {max(requests // _TRACED, 1):,}, as tracing takes time."
            ),
        ),
    }


def _kit(folder: Path, patience: float | None) -> ContextKit:
    """A kit of the corpus' sources whose timeouts are so many seconds, or the default ones."""
    settings: dict[str, Any] = {"store.path": str(folder / "store")}
    if patience is not None:
        settings |= {"assemble.source_timeout": patience, "assemble.deadline": patience}
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    kit = ContextKit.open(workspace, settings=settings, environment={}, entry_points=False)
    for source in SOURCES:
        kit.register(SearchingSource(source), source)
    return kit


def _queries(questions: Sequence[str]) -> Iterator[str]:
    """Queries without end, no two the same, so that none is answered from a memory of them."""
    return (f"{questions[number % len(questions)]} {number}" for number in count())


# -- throughput -------------------------------------------------------------------------------


async def _throughput(
    kit: ContextKit, queries: Iterator[str], at_once: int, least: int
) -> dict[str, Any]:
    """So many requests are under way at any time, three each, after one each to warm up."""
    await _asked(kit, queries, at_once, at_once)
    requests = max(least, 3 * at_once)
    started, busy = time.perf_counter(), time.process_time()
    spans, incomplete = await _asked(kit, queries, requests, at_once)
    whole, worked = time.perf_counter() - started, time.process_time() - busy
    return {
        "at once": at_once,
        "requests": requests,
        "a second": requests / whole,
        "median, ms": 1000 * statistics.median(spans),
        "95%, ms": 1000 * percentile(spans, 95),
        "CPU each, ms": 1000 * worked / requests,
        "incomplete": incomplete,
        "resident, MB": resident_bytes() / 2**20,
    }


async def _asked(
    kit: ContextKit,
    queries: Iterator[str],
    requests: int,
    at_once: int,
    after_each: Callable[[], None] = lambda: None,
) -> tuple[list[float], int]:
    """Seconds of each request, and how many contexts lack a source."""
    left = iter(range(requests))
    spans: list[float] = []
    incomplete = 0

    async def client() -> None:
        nonlocal incomplete
        for _ in left:
            started = time.perf_counter()
            context = await kit.assemble_context(
                next(queries), SOURCES, limit=LIMIT, max_tokens=BUDGET
            )
            spans.append(time.perf_counter() - started)
            incomplete += any(source.state not in _ANSWERED for source in context.trace.sources)
            after_each()

    await asyncio.gather(*(client() for _ in range(at_once)))
    return spans, incomplete


# -- memory -----------------------------------------------------------------------------------


async def _memory(kit: ContextKit, queries: Iterator[str], requests: int) -> list[dict[str, Any]]:
    """The process's memory, and Python's own part of it, as requests go by."""
    resident = await _watched(kit, queries, requests, resident_bytes)
    tracemalloc.start()
    try:
        traced = await _watched(
            kit, queries, max(requests // _TRACED, 1), lambda: tracemalloc.get_traced_memory()[0]
        )
    finally:
        tracemalloc.stop()
    return [_grown("resident", resident), _grown("traced", traced)]


async def _watched(
    kit: ContextKit, queries: Iterator[str], requests: int, read: Callable[[], int]
) -> list[tuple[int, int]]:
    """Requests done and bytes then, at intervals."""
    samples: list[tuple[int, int]] = []
    done = count(1)
    every = max(requests // _SAMPLES, 1)

    def after_each() -> None:
        number = next(done)
        if number % every == 0:
            gc.collect()
            samples.append((number, read()))

    await _asked(kit, queries, requests, _CONCURRENT, after_each)
    return samples


def _grown(memory: str, samples: Sequence[tuple[int, int]]) -> dict[str, Any]:
    settled = samples[int(_WARM_UP * len(samples)) :]
    at, values = zip(*settled, strict=True)
    each = slope(at, values)
    return {
        "memory": memory,
        "requests": samples[-1][0],
        "first, MB": samples[0][1] / 2**20,
        "after warm-up, MB": values[0] / 2**20,
        "last, MB": values[-1] / 2**20,
        "slope, B a request": each,
        "MB over 10,000": each * 10_000 / 2**20,
    }


if __name__ == "__main__":
    main()
