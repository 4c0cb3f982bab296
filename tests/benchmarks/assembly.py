"""Whole assemblies: the time of each stage, and the memory that one takes."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import statistics
import tempfile
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from contextkit import ContextKit
from contextkit.models.context import FormattedContext
from contextkit.pipeline.pipeline import Pipeline
from contextkit.store.base import RecordStore
from tests.benchmarks.harness import Effort, Report, percentile
from tests.benchmarks.sources import BlockingSource, PreparedSource, TimedStore, furnish
from tests.benchmarks.texts import ROOT, SOURCES, prepared_items, repository_texts

__all__ = ["first_party_stages", "framework_stages", "memory"]

_ANY_LENGTH = 10_000
_WARM_UP = 10
_PATIENT = {"assemble.source_timeout": 60.0, "assemble.deadline": 60.0}
_WEIGHTS = {"memories": 1.0, "code": 2.0, "experiences": 3.0, "values": 1.0, "commits": 2.0}


@contextmanager
def _own_home() -> Iterator[Path]:
    """A folder for the user's and the workspace's files, in place of the real ones."""
    before = os.environ.get("CONTEXTKIT_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONTEXTKIT_HOME"] = f"{folder}/home"
        try:
            yield Path(folder)
        finally:
            del os.environ["CONTEXTKIT_HOME"]
            if before is not None:
                os.environ["CONTEXTKIT_HOME"] = before


@contextmanager
def _prepared_kit(
    items: int, source: type[PreparedSource], longest: int = _ANY_LENGTH
) -> Iterator[ContextKit]:
    """A kit of five sources that have so many items in all ready; nothing is embedded."""
    with _own_home() as folder:
        workspace = folder / "workspace"
        workspace.mkdir()
        settings = {**_PATIENT, "embedding.model": "none"}
        with ContextKit.open(
            workspace, settings=settings, environment={}, entry_points=False
        ) as kit:
            for name, own in prepared_items(items, longest=longest).items():
                kit.register(source(own, _WEIGHTS[name]), name)
            yield kit


# -- time -------------------------------------------------------------------------------------


def framework_stages(effort: Effort) -> Report:
    """An assembly of 5 x 20 items that need no search: all of it is the framework's own."""
    runs = effort.pick(200, 3)
    rows = []
    for label, source, longest in (
        ("any length", PreparedSource, _ANY_LENGTH),
        ("up to 300 characters", PreparedSource, 300),
        ("any length, in threads", BlockingSource, _ANY_LENGTH),
    ):
        with _prepared_kit(100, source, longest) as kit:
            rows += [{"items": label, **row} for row in _stages(kit, runs)]
    lengths = [
        round(statistics.mean(len(item.content) for own in items for item in own))
        for items in (prepared_items(100).values(), prepared_items(100, longest=300).values())
    ]
    note = (
        f"5 sources x 20 items of this repository of {lengths[0]} or {lengths[1]} characters in "
        "the mean, 2,000 tokens. No source searches and nothing is embedded: the whole is "
        "overhead, and at most 5 ms of it is wanted. CPU time is that of all threads."
    )
    return Report(title="Stages of an assembly without search", rows=rows, note=note)


def first_party_stages(effort: Effort) -> Report:
    """The five first-party sources over a real store with this repository's records."""
    with _own_home() as folder:
        workspace = ROOT if not effort.small else _small_workspace(folder)
        with ContextKit.open(workspace, settings=_PATIENT, environment={}) as kit:
            known = furnish(kit, effort.pick(60, 3))
            timed = TimedStore(kit.store)
            kit.pipeline = Pipeline(kit.registry, cast("RecordStore", timed))
            rows = _stages(kit, effort.pick(200, 3), timed)
    note = (
        f"{known}; another query each time. Search and embedding happen in `prepare` and "
        "`gather`; what the store takes there is taken off the whole for the overhead."
    )
    return Report(title="Stages of an assembly of the first-party sources", rows=rows, note=note)


def _stages(kit: ContextKit, runs: int, timed: TimedStore | None = None) -> list[dict[str, Any]]:
    """Median and 95th percentile of each stage, after some runs that do not count."""
    spans: dict[str, list[float]] = defaultdict(list)

    async def run() -> None:
        for number, query in enumerate(_queries(runs + _WARM_UP)):
            before = timed.seconds if timed else 0.0
            started, worked = time.perf_counter(), time.process_time()
            context = await kit.assemble_context(query, list(SOURCES), limit=20)
            cpu = 1000 * (time.process_time() - worked)
            whole = 1000 * (time.perf_counter() - started)
            searched = 1000 * ((timed.seconds if timed else 0.0) - before)
            if number < _WARM_UP:
                continue
            stages = context.trace.stages
            for stage, span in stages.items():
                spans[stage].append(span)
            spans["trace and the rest"].append(whole - sum(stages.values()))
            spans["whole"].append(whole)
            spans["whole, CPU time"].append(cpu)
            if timed:
                spans["of it store and embedding"].append(searched)
                spans["overhead"].append(whole - searched)

    asyncio.run(run())
    return [
        {
            "stage": stage,
            "median, ms": statistics.median(found),
            "p95, ms": percentile(found, 95),
            "least, ms": min(found),
            "runs": len(found),
        }
        for stage, found in spans.items()
    ]


def _queries(number: int) -> list[str]:
    """Real questions, more or less: the beginnings of this repository's texts."""
    known = [text for text in repository_texts() if text[0].isalpha()]
    return [known[place % len(known)][:120] for place in range(number)]


def _small_workspace(folder: Path) -> Path:
    shutil.copytree(ROOT / "contextkit" / "budget", folder / "workspace" / "budget")
    return folder / "workspace"


# -- memory -----------------------------------------------------------------------------------


def memory(effort: Effort) -> Report:
    """The most that Python has at once for one assembly, beyond what it had before it."""
    rows = []
    for items, max_tokens in ((100, 2000), (effort.pick(1000, 50), 20_000)):
        with _prepared_kit(items, PreparedSource) as kit:
            peak, kept, context = asyncio.run(_peak(kit, items // len(SOURCES), max_tokens))
        rows.append(
            {
                "items": f"5 x {items // len(SOURCES)}, {max_tokens:,} tokens",
                "peak, MB": peak / 1e6,
                "kept, MB": kept / 1e6,
                "text, MB": len(context.markdown.encode()) / 1e6,
                "placed": len(context.items),
            }
        )
    note = "By tracemalloc, warm; kept: the context with its trace. Under 50 MB is wanted."
    return Report(title="Memory of one assembly", rows=rows, note=note)


async def _peak(kit: ContextKit, limit: int, max_tokens: int) -> tuple[int, int, FormattedContext]:
    for query in _queries(_WARM_UP):
        await kit.assemble_context(query, limit=limit, max_tokens=max_tokens)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        context = await kit.assemble_context("how much is it?", limit=limit, max_tokens=max_tokens)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before, after - before, context
