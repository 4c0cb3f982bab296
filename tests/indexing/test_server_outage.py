"""An index run over a server that goes down meanwhile."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from contextkit import Records
from contextkit.config.sections import StoreSettings
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import KeywordsOnly
from contextkit.errors import StoreError
from contextkit.store.server import ServerStore
from tests.indexing.conftest import Lines
from tests.store.faulty_qdrant import FaultyQdrant

FILES = 600
BATCH = 256


class Outage(FaultyQdrant):
    """A server that goes down at the second batch of records.

    Attributes:
        refusals: how many requests it then refuses.
    """

    def __init__(self, refusals: float) -> None:
        super().__init__()
        self.refusals = refusals
        self.writes = 0

    def respond(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        """Answer one request, or refuse it."""
        self.writes += handler.command == "PUT" and len((body or {}).get("points", ())) > 1
        self.down = self.writes > 1 and self.refusals > 0
        self.refusals -= self.down
        super().respond(handler, body)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder of many files."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:03}").write_text(f"line {number}\n")
    return folder


def _lines(server: FaultyQdrant, workspace: Path, retry_timeout: float) -> Lines:
    settings = StoreSettings(retry_timeout=retry_timeout)
    store = ServerStore.connect(server.url, OneEmbedder(KeywordsOnly()), settings=settings)
    return Lines(Records(store, "lines", "p"), workspace, workspace.parent / "state.json")


def test_an_index_run_goes_on_after_a_503(workspace: Path) -> None:
    """It waits and repeats the request; each file is read once, and none is lost."""
    with Outage(refusals=4) as server:
        lines = _lines(server, workspace, retry_timeout=30)
        assert lines.index() == (FILES, 0, 0, 0)
        assert server.failed == 4
        assert len(lines.made) == lines.records.count() == FILES


def test_an_index_run_resumes_after_a_long_outage(workspace: Path) -> None:
    """It fails with one clear error, and the next one goes on behind the stored batches."""
    with Outage(refusals=1_000_000) as server:
        lines = _lines(server, workspace, retry_timeout=0.5)
        with pytest.raises(StoreError, match="overloaded or restarting, try later"):
            lines.index()
        server.refusals = 0
        lines.made.clear()
        lines.index()
        assert len(lines.made) == FILES - BATCH
        assert lines.records.count() == FILES
