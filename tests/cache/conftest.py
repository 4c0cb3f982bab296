"""Kits with a cache, and a real Redis."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from contextkit import ContextItem, ContextKit, ContextRequest, Record, SourceInfo, hookimpl
from tests.cache.redis_server import RedisServer

OpenKit = Callable[..., ContextKit]


@pytest.fixture
def redis(need: Callable[..., None]) -> Iterator[RedisServer]:
    """A server; its socket's path is short, as the system wants it."""
    need("redis-server")
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        server = RedisServer(Path(folder))
        server.start()
        yield server
        server.go_on()
        server.kill()


@define(eq=False)
class Notes:
    """A source of notes that counts how often it is asked.

    Attributes:
        info: what it says of itself.
        asked: the queries that it was asked.
        extra: added to each item's metadata.
    """

    info: SourceInfo = field(factory=lambda: SourceInfo(cacheable=True, embedder="none"))
    asked: list[str] = field(factory=list)
    extra: dict[str, Any] = field(factory=dict)

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        """Its answers come from its records, unless a test says otherwise."""
        return self.info

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> Sequence[ContextItem]:
        """What the store finds."""
        self.asked.append(request.query)
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem(
                source=request.records.source,
                content=hit.record.text,
                relevance=hit.relevance,
                id=hit.record.id,
                created_at=hit.record.created_at,
                metadata={**hit.record.fields, **self.extra},
            )
            for hit in hits
        ]


@pytest.fixture
def notes() -> Notes:
    """The source that kits have."""
    return Notes()


@pytest.fixture
def open_kit(tmp_path: Path, notes: Notes) -> Iterator[OpenKit]:
    """Opens a kit with a cache and the source `notes`: `open_kit(url, **{"cache.jitter": 0.5})`.

    All kits of a test have one store, and their sources patience.
    """
    with contextlib.ExitStack() as stack:

        def open_one(url: str = "memory", /, **settings: Any) -> ContextKit:
            folder = tmp_path / "workspace"
            folder.mkdir(exist_ok=True)
            given = {
                "cache.enabled": True,
                "cache.url": url,
                "assemble.source_timeout": 20.0,
                "assemble.deadline": 20.0,
                **settings,
            }
            kit = stack.enter_context(ContextKit.open(folder, entry_points=False, settings=given))
            kit.register(notes, "notes")
            return kit

        yield open_one


def put(kit: ContextKit, *texts: str) -> None:
    """Store notes; each is its own id."""
    kit.records("notes").put([Record(id=text, text=text) for text in texts])
