"""A workspace, a store on disk, and index runs over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import contextkit_documents
from contextkit import ContextKit, IndexReport, Record, Records
from contextkit.models.indexer import Progress
from contextkit.testing import Git, make_indexer, open_kit, open_records, own_git
from contextkit_documents import contextkit_index, contextkit_source

Index = Callable[..., IndexReport]
Stored = Callable[[], list[Record]]

GUIDE = """\
# Shelf

A shelf holds items.

## Restocking

Items are restocked at night, see `restock`.

```sh
shelf restock
```

## The lamp

It is green while that goes on.

## Prices

Prices are in cents.
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A workspace with a README, a configuration and metadata."""
    folder = tmp_path / "shelf"
    (folder / "docs").mkdir(parents=True)
    (folder / "README.md").write_text(GUIDE)
    (folder / "docs" / "other.md").write_text("# Weather\n\nIt rains.\n")
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "shelf"\ndependencies = ["attrs"]\n\n[tool.ruff]\nline-length = 100\n'
    )
    return folder


@pytest.fixture
def kit(workspace: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other, indexed."""
    with open_kit(workspace, {"documents": contextkit_documents}) as opened:
        opened.index()
        yield opened


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The source's records on a real store."""
    with open_records(tmp_path / "store", "documents", model="none") as opened:
        yield opened


@pytest.fixture
def index(workspace: Path, records: Records, tmp_path: Path) -> Index:
    """Index the workspace: `index(progress=[], exclude=["*.md"])`."""
    state_path = tmp_path / "state" / "documents.json"

    def run(*, progress: list[Progress] | None = None, **settings: Any) -> IndexReport:
        known = {**contextkit_source().setting_defaults, **settings}
        indexer = make_indexer(records, workspace, state_path, settings=known, progress=progress)
        return contextkit_index(indexer)

    return run


@pytest.fixture
def stored(records: Records) -> Stored:
    """All stored chunks, by document and place."""
    return lambda: sorted(
        records.scan(), key=lambda record: (record.fields["file_path"], record.fields["position"])
    )


@pytest.fixture
def git(workspace: Path) -> Iterator[Git]:
    """Run git in the workspace, with no configuration but its own."""
    with own_git(workspace) as run:
        yield run
