"""A project that agents ask about, with a real store on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextItem, ContextKit, ContextRequest, Record, hookimpl
from contextkit.testing import open_kit

NOTES = {
    "retry": "Payments are retried once, because the bank drops every tenth call",
    "refund": "Refunds are sent by hand on Fridays",
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
def open_notes(tmp_path: Path) -> Iterator[Callable[..., ContextKit]]:
    """Opens a kit with the source of notes, and settings."""
    with ExitStack() as stack:

        def opened(**settings: Any) -> ContextKit:
            chosen = {"embedding.model": "none", **settings}
            return stack.enter_context(
                open_kit(tmp_path / "bank", {"notes": _Notes()}, settings=chosen)
            )

        yield opened


@pytest.fixture
def kit(open_notes: Callable[..., ContextKit]) -> ContextKit:
    """A kit with three notes."""
    opened = open_notes()
    records = [Record(id=name, text=text) for name, text in NOTES.items()]
    opened.records("notes").put(records)
    return opened


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs find this environment's `contextkit`, in an empty folder and a home of its own.

    Skips a test if contextkit-mcp is not installed.
    """
    pytest.importorskip("contextkit_mcp", reason="install contextkit-mcp to run this test")
    scripts = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([scripts, os.environ["PATH"]]))
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
