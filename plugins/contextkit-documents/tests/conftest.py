"""A workspace, a store on disk, and index runs over them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from contextkit import IndexReport, Record, Records
from contextkit.indexing import Progress
from contextkit.testing import make_indexer, open_records
from contextkit_documents import contextkit_index

Git = Callable[..., str]
Stored = Callable[[], list[Record]]


class Index(Protocol):
    """Runs the index hook over the workspace with some settings."""

    def __call__(self, *, progress: list[Progress] | None = None, **settings: Any) -> IndexReport:
        """One run."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def state_path(tmp_path: Path) -> Path:
    """Where index runs keep their state."""
    return tmp_path / "state" / "documents.json"


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The source's records on a real store."""
    with open_records(tmp_path / "store", "documents", model="none") as opened:
        yield opened


@pytest.fixture
def index(workspace: Path, records: Records, state_path: Path) -> Index:
    """Index the workspace."""

    def run(*, progress: list[Progress] | None = None, **settings: Any) -> IndexReport:
        indexer = make_indexer(records, workspace, state_path, settings=settings, progress=progress)
        return contextkit_index(indexer)

    return run


@pytest.fixture
def stored(records: Records) -> Stored:
    """All stored chunks, by document and place."""
    return lambda: sorted(
        records.scan(), key=lambda record: (record.fields["file_path"], record.fields["position"])
    )


@pytest.fixture
def git(workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Git:
    """Run git in the workspace, with no configuration but its own."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))

    def run(*arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=workspace,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    return run
