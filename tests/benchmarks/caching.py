"""Contexts from the cache beside contexts that are assembled, and what a cache that is off costs.

`python -m tests.benchmarks.caching --records 10000`
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from contextkit import ContextItem, ContextKit, ContextRequest, SourceInfo, hookimpl
from contextkit.models.context import FormattedContext
from tests.benchmarks.growth.records import batches, made
from tests.benchmarks.harness import Report, machine, percentile, write_json
from tests.benchmarks.peers.corpus import SOURCES
from tests.cache.redis_server import RedisServer

__all__ = ["main"]

_PATIENCE = 600.0
_QUERIES = 50
_FEW_QUERIES = 3

_Times = tuple[float, float]
"""Milliseconds by the clock and of processor."""

Ask = Callable[[str], Awaitable[FormattedContext]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.caching", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--records", type=int, default=10_000, metavar="N", help="10000")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="10")
    parser.add_argument("--small", action="store_true", help="only whether everything runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables as data")
    given = parser.parse_args(arguments)
    if given.records < 200 or given.rounds < 1:
        parser.error("expected at least 200 records and 1 round")
    if shutil.which("redis-server") is None:
        parser.error("redis-server is not installed")
    records, rounds = (200, 1) if given.small else (given.records, given.rounds)
    asked = _FEW_QUERIES if given.small else _QUERIES
    with tempfile.TemporaryDirectory(prefix="ck") as name, _home(Path(name)):
        report = asyncio.run(_measured(Path(name), records, rounds, asked))
    report.show()
    if given.json is not None:
        write_json(given.json, machine(), {"caching": report})


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    before = os.environ.get("CONTEXTKIT_HOME")
    os.environ["CONTEXTKIT_HOME"] = f"{folder}/home"
    try:
        yield
    finally:
        os.environ.pop("CONTEXTKIT_HOME")
        if before is not None:
            os.environ["CONTEXTKIT_HOME"] = before


class _Source:
    """Finds what the store finds, and says that it does no more."""

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return SourceInfo(cacheable=True, scale="calibrated")

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        hits = await request.records.search(request.query, limit=request.limit)
        source = request.records.source
        return [ContextItem(source, h.record.text, h.relevance, id=h.record.id) for h in hits]


async def _measured(folder: Path, records: int, rounds: int, asked: int) -> Report:
    corpus = made(records)
    queries = [question.query for question in corpus.questions][:asked]
    with ExitStack() as stack:
        redis = RedisServer(folder)
        redis.start()
        stack.callback(redis.kill)

        def kit(**settings: Any) -> ContextKit:
            workspace = folder / "workspace"
            workspace.mkdir(exist_ok=True)
            patience = {"assemble.source_timeout": _PATIENCE, "assemble.deadline": _PATIENCE}
            given = {**patience, **settings}
            opened = ContextKit.open(workspace, settings=given, entry_points=False)
            for source in SOURCES:
                opened.register(sources[source], source)
            # One store for all: two of one process would take turns.
            kits.append(
                ContextKit(
                    workspace=opened.workspace,
                    config=opened.config,
                    registry=opened.registry,
                    store=kits[0].store if kits else opened.store,
                    caches=opened.caches,
                )
            )
            return stack.enter_context(kits[-1])

        kits: list[ContextKit] = []
        sources = {source: _Source() for source in SOURCES}
        long = {"cache.contexts_ttl": 3600.0, "cache.timeout": 30.0}
        off = kit()
        for source, batch in batches(corpus, records):
            off.records(source).put(batch)
        off.store.optimize()
        memory = kit(**{"cache.enabled": True, **long})
        shared = {"cache.enabled": True, "cache.url": redis.url, **long}
        # One context in memory at a time: each question is another one.
        in_redis = kit(**{**shared, "cache.contexts_size": 1, "cache.results_size": 1})

        async def without(query: str) -> FormattedContext:
            request, recipe = off._asked(query, None, None, None, {})
            return await off.pipeline.assemble(request, recipe)

        ways: Mapping[str, Ask] = {
            "assembled, the cache passed by": without,
            "assembled, the cache off": off.assemble_context,
            "assembled, the cache on and passed over": lambda query: memory.assemble_context(
                query, cache=False
            ),
            "from memory": memory.assemble_context,
            "from Redis": in_redis.assemble_context,
        }
        kept = kit(**{"cache.enabled": True, **long})

        async def keeping(query: str) -> FormattedContext:
            if kept.caches is not None:
                kept.caches.clear()
            return await kept.assemble_context(query)

        ways = {**ways, "assembled, then kept in memory": keeping}
        return Report(
            title="A context from the cache",
            rows=_rows(await _timed(ways, queries, rounds)),
            note=(
                f"{records:,} records, {len(SOURCES)} sources, {len(queries)} questions "
                f"{rounds} times each, the ways in turns; milliseconds by the clock "
                f"and of processor, all threads of the process."
            ),
        )


async def _timed(
    ways: Mapping[str, Ask], queries: Sequence[str], rounds: int
) -> dict[str, list[_Times]]:
    for ask in ways.values():
        for query in queries:
            await ask(query)
    found: dict[str, list[_Times]] = {name: [] for name in ways}
    for _ in range(rounds):
        for query in queries:
            for name, ask in ways.items():
                begun, worked = time.perf_counter(), time.process_time()
                context = await ask(query)
                its = time.perf_counter() - begun, time.process_time() - worked
                found[name].append((its[0] * 1000, its[1] * 1000))
                cache = context.trace.cache
                if name.startswith("from") != (cache is not None and cache.state == "hit"):
                    raise RuntimeError(f"{name}: {cache}")
    return found


def _rows(found: Mapping[str, Sequence[_Times]]) -> list[dict[str, Any]]:
    rows, whole = [], 0.0
    for name, times in found.items():
        clock, processor = ([*each] for each in zip(*times, strict=True))
        median = statistics.median(clock)
        whole = whole or median
        rows.append(
            {
                "way": name,
                "median, ms": median,
                "95th percentile, ms": percentile(clock, 95),
                "part of the first": round(median / whole, 3),
                "of processor, ms": statistics.median(processor),
                "its 95th percentile, ms": percentile(processor, 95),
            }
        )
    return rows


if __name__ == "__main__":
    main()
