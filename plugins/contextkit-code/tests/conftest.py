"""A workspace, a store on disk, and index runs over them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from contextkit import ContextItem, ContextRequest, IndexReport, Record, Records
from contextkit.models.indexer import Progress
from contextkit.testing import Git, make_indexer, open_records, own_git
from contextkit_code import contextkit_index, contextkit_query, contextkit_source

# A busy machine is slow at times, and a run shall not depend on luck.
settings.register_profile("contextkit", deadline=None, derandomize=True)
settings.load_profile("contextkit")

Index = Callable[..., IndexReport]
MakeItem = Callable[..., ContextItem]

RESTOCK = '''\
def restock(
    self,
    items,
):
    """Put items on the shelf.

    All of them.
    """
    for item in items:
        self.put(item)
    return len(items)'''


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def state_path(tmp_path: Path) -> Path:
    """Where index runs keep their state."""
    return tmp_path / "state" / "code.json"


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The source's records on a real store."""
    with open_records(tmp_path / "store", "code", model="none") as opened:
        yield opened


@pytest.fixture
def index(workspace: Path, records: Records, state_path: Path) -> Index:
    """Index the workspace."""

    def run(
        *,
        progress: list[Progress] | None = None,
        owned_elsewhere: Collection[str] = (),
        **settings: Any,
    ) -> IndexReport:
        indexer = make_indexer(
            records,
            workspace,
            state_path,
            settings={**contextkit_source().setting_defaults, **settings},
            progress=progress,
            owned_elsewhere=owned_elsewhere,
        )
        return contextkit_index(indexer)

    return run


@pytest.fixture
def project(workspace: Path, index: Index) -> Callable[[Mapping[str, str]], IndexReport]:
    """Write files, path -> text, and index them."""

    def written(files: Mapping[str, str]) -> IndexReport:
        for path, text in files.items():
            target = workspace / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return index()

    return written


@pytest.fixture
def ask(records: Records) -> Callable[..., list[ContextItem]]:
    """Query the source."""

    def query(text: str, **request: Any) -> list[ContextItem]:
        return asyncio.run(contextkit_query(ContextRequest(query=text, records=records, **request)))

    return query


@pytest.fixture
def git(workspace: Path) -> Iterator[Git]:
    """Run git, by default in the workspace, with no configuration but its own."""
    with own_git(workspace) as run:
        yield run


@pytest.fixture
def stored(records: Records) -> Callable[[], dict[str, Record]]:
    """All stored units by id."""
    return lambda: {record.id: record for record in records.scan({"kind": "unit"})}


@pytest.fixture
def outlines(records: Records) -> Callable[[], dict[str, Record]]:
    """The outlines of all stored files by path."""
    return lambda: {record.id: record for record in records.scan({"kind": "outline"})}


@pytest.fixture(scope="session")
def make_item() -> MakeItem:
    """Makes that method's item, of which the content and single fields are changed."""

    def made(content: str = RESTOCK, **fields: Any) -> ContextItem:
        known = {
            "file_path": "lib/shelf.py",
            "start_line": 27,
            "end_line": 37,
            "language": "python",
            "qualified_name": "Shelf.restock",
            "name": "restock",
            "unit_type": "method",
            "signature": "def restock(\n    self,\n    items,\n):",
            "docstring": "Put items on the shelf.\n\nAll of them.",
        }
        return ContextItem(
            "code", content, 0.5, id="x", title="Shelf.restock", metadata={**known, **fields}
        )

    return made
