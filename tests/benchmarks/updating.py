"""Something new joins a context: an update beside assembling anew."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve

from contextkit import ContextItem, ContextKit, ContextRequest, Record, hookimpl
from contextkit.models.context import FormattedContext
from tests.benchmarks.harness import Effort, Report, compared, interleaved
from tests.benchmarks.texts import SOURCES, prepared_items

__all__ = ["update_speed"]

_QUERY = "how is the token budget split over the sources?"
_SETTINGS = {"assemble.source_timeout": 60.0, "assemble.deadline": 60.0}
_EVENT = ContextItem(
    SOURCES[0], "The split of the token budget over the sources was changed.", 1.0, id="event"
)


class _Ready:
    """A source that has its items ready, and what is new before them."""

    def __init__(self, items: Sequence[ContextItem]) -> None:
        self.items = list(items)

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> Sequence[ContextItem]:
        return self.items


class _Stored:
    """A source whose items are records in the store."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> Sequence[ContextItem]:
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem(self.name, hit.record.text, hit.relevance, id=hit.record.id) for hit in hits
        ]


def update_speed(effort: Effort) -> Report:
    """One new item: an update, and an assembly whose source has it."""
    rows: list[dict[str, Any]] = []
    items = prepared_items(effort.pick(100, 15))
    with _kit({name: _Ready(own) for name, own in items.items()}) as kit:
        rows += _rows("5 x 20 items, no search", kit, effort)
    with _kit({name: _Stored(name) for name in SOURCES}) as kit:
        number = effort.pick(1000, 20)
        for name, own in prepared_items(number).items():
            kit.records(name).put([Record(id=item.id, text=item.content) for item in own])
        rows += _rows(f"5 x 20 of {number:,} records", kit, effort)
    note = (
        "2,000 tokens. The reference assembles the same context anew, which is what a host "
        "without updates does for every event; its sources do not even find the event. Kept: "
        "what the context holds for the next update, beyond what its trace holds."
    )
    return Report(title="An event joins a context", rows=rows, note=note)


@contextmanager
def _kit(plugins: dict[str, object]) -> Iterator[ContextKit]:
    with tempfile.TemporaryDirectory() as folder:
        settings = {**_SETTINGS, "store.path": f"{folder}/store"}
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        with ContextKit.open(
            workspace, settings=settings, environment={}, entry_points=False
        ) as kit:
            for name, plugin in plugins.items():
                kit.register(plugin, name)
            yield kit


def _rows(size: str, kit: ContextKit, effort: Effort) -> list[dict[str, Any]]:
    loop = asyncio.new_event_loop()
    try:
        context = loop.run_until_complete(kit.assemble_context(_QUERY, limit=20))

        def update() -> FormattedContext:
            return loop.run_until_complete(kit.update_context(context, _EVENT))

        def anew() -> FormattedContext:
            return loop.run_until_complete(kit.assemble_context(_QUERY, limit=20))

        timings = interleaved({"ours": update, "assembled anew": anew}, effort)
        kept = _kept_bytes(partial(kit.assemble_context, _QUERY, limit=20), loop)
    finally:
        loop.close()
    return [row | {"kept, kB": kept / 1000} for row in compared(size, timings)]


def _kept_bytes(assemble: Any, loop: asyncio.AbstractEventLoop) -> int:
    """What the contexts free when they let go of what updates need."""
    number = 20
    tracemalloc.start()
    try:
        contexts = [loop.run_until_complete(assemble()) for _ in range(number)]
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        contexts = [evolve(context, ongoing=None) for context in contexts]
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        return (before - after) // len(contexts)
    finally:
        tracemalloc.stop()
