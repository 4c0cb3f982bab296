"""A source that indexes the lines of files, on a real store."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit import IndexReport, Record, Records
from contextkit.indexing.files import FileIndex, SkipFileError
from contextkit.indexing.listing import FileListing, WorkspaceFile
from contextkit.models.indexer import Progress
from contextkit.testing import make_indexer, open_records

Stored = Callable[[], dict[str, Record]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The source's records on a real store."""
    with open_records(tmp_path / "store", "lines", model="none") as opened:
        yield opened


@pytest.fixture
def stored(records: Records) -> Stored:
    """All records by id."""
    return lambda: {record.id: record for record in records.scan()}


class Lines:
    """A source that has a record for each line of each file of a folder.

    Attributes:
        made: paths of the files whose records were made, of all runs.
        version: of its records.
        max_file_bytes: of its listings.
        kept: what its last run found kept.
    """

    def __init__(self, records: Records, workspace: Path, state_path: Path) -> None:
        self.records = records
        self.workspace = workspace
        self.state_path = state_path
        self.made: list[str] = []
        self.version = 1
        self.max_file_bytes = 10_000
        self.kept: dict[str, Any] = {}

    def listing(self) -> FileListing:
        """All files of the folder."""
        listing = FileListing(self.workspace, self.max_file_bytes)
        for path in sorted(self.workspace.iterdir()):
            listing.add(path.name)
        return listing

    def records_of(self, file: WorkspaceFile, content: bytes) -> list[Record]:
        """A record for each line, none for a file that is not UTF-8."""
        self.made.append(file.path)
        try:
            lines = content.decode().splitlines()
        except UnicodeDecodeError:
            raise SkipFileError("it is not UTF-8") from None
        return [
            Record(id=f"{file.path}:{line}", text=line, fields={"file_path": file.path})
            for line in lines
        ]

    def index(self, **run: Any) -> tuple[int, int, int, int]:
        """One run: how many were added, updated, removed and unchanged."""
        report = self.report(**run)
        return report.added, report.updated, report.removed, report.unchanged

    def report(
        self,
        listing: FileListing | None = None,
        *,
        again: Collection[str] = (),
        keep: Any = None,
        progress: list[Progress] | None = None,
    ) -> IndexReport:
        """One run's report."""
        indexer = make_indexer(self.records, self.workspace, self.state_path, progress=progress)
        index = FileIndex(indexer, version=self.version, label="pages")
        self.kept = dict(index.kept)
        if keep is not None:
            index.kept["words"] = keep
        return index.update(listing or self.listing(), self.records_of, again=again)

    def trust(self) -> None:
        """Let the state trust the files' times, as if they had been written long before.

        Their change times are those of this moment, and nobody can set them back.
        """
        state = json.loads(self.state_path.read_text())
        for path, entry in state["files"].items():
            status = (self.workspace / path).stat()
            entry[:3] = status.st_size, status.st_mtime_ns, status.st_ctime_ns
        self.state_path.write_text(json.dumps(state))


@pytest.fixture
def lines(records: Records, workspace: Path, tmp_path: Path) -> Lines:
    """The source."""
    return Lines(records, workspace, tmp_path / "state" / "lines.json")
