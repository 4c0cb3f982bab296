"""A project that agents ask about, with a real store on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextItem, ContextKit, ContextRequest, Record, hookimpl
from contextkit.testing import open_kit

NOTES = {
    "retry": "Payments are retried once, because the bank drops every tenth call",
    "refund": "Refunds of payments are never retried: the bank pays them twice",
    "office": "The office is closed on Mondays",
}


class _Notes:
    """A source of notes that the store keeps."""

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """Return the notes that match."""
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem("notes", hit.record.text, hit.relevance, id=hit.record.id, title="A note")
            for hit in hits
        ]


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with three notes."""
    settings: dict[str, Any] = {"embedding.model": "none"}
    with open_kit(tmp_path / "bank", {"notes": _Notes()}, settings=settings) as opened:
        records = [Record(id=name, text=text) for name, text in NOTES.items()]
        opened.records("notes").put(records)
        yield opened
