"""Index changed files, and forget deleted ones."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from attrs import define, evolve, field

from contextkit.errors import ContextKitError, RecordError, in_words
from contextkit.indexing.listing import FileListing, WorkspaceFile, unreadable
from contextkit.indexing.order import likely_first
from contextkit.indexing.writer import FileState, RecordWriter, Remembered
from contextkit.logs import get_logger
from contextkit.models.indexer import Indexer
from contextkit.models.items import IndexReport
from contextkit.models.record import REDACTIONS, Record
from contextkit.text.secrets import MARK

_log = get_logger(__name__)
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_ORDERED_FILES = 32
"""So few files are indexed in any order at once."""

RecordsOf = Callable[[WorkspaceFile, bytes], Sequence[Record]]
"""Makes the records of a file from its content."""


class SkipFileError(Exception):
    """Raised for a file that has no records.

    The message says why.
    """


@define
class FileIndex:
    """Brings a source's records of files up to date.

    It owns `indexer.state`. The source's records need the field `file_path`; name it in
    `SourceInfo.indexed_fields`. Their `created_at` is the run's time: store a file's own times in a
    field, and leave `SourceInfo.dated` False.

    Attributes:
        indexer: the run, as the hook gets it.
        version: raise it when the same files would give other records; all files are then
            indexed again.
        label: the progress label, for instance `documents`.
        unredacted: suffixes of files that `records_of` gets with their secrets, and whose texts it
            redacts itself: marks in the file would break its syntax.
    """

    indexer: Indexer
    version: int = field(kw_only=True)
    label: str = field(default="files", kw_only=True)
    unredacted: tuple[str, ...] = field(default=(), kw_only=True)
    _remembered: Remembered = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._remembered = Remembered.load(self.indexer.state, self.version)

    @property
    def kept(self) -> dict[str, Any]:
        """Further JSON values that the source remembers.

        Change it in place.

        It is saved together with the state of the files, and empty if that was lost.
        """
        return self._remembered.kept

    def update(
        self, listing: FileListing, records_of: RecordsOf, *, again: Collection[str] = ()
    ) -> IndexReport:
        """Bring the source's records up to date.

        Call it once per run.

        A file is read if its size or times have changed since the last run, and its records are
        replaced if its content has changed. A file that was modified a moment ago is read again
        in the next run: it may change without a visible change of its times. The records of a
        file that is no longer listed are deleted.

        Args:
            listing: all files of the source.
            records_of: makes the records of a file; raises `SkipFileError` for a file without
                records.
            again: paths to index again even if their content is the same.

        Returns the counts, with the files skipped here and in the listing, and the notes.

        Raises `RecordError` for a record with a wrong `file_path` or a `created_at` of its own, or
        if `records_of` fails, naming the file; also what the store raises. The next run repairs
        what such a run left unfinished.
        """
        run = _Run(
            self.indexer,
            self._remembered,
            listing,
            records_of,
            again,
            self.label,
            self.unredacted,
        )
        # A listed folder may have been replaced by a link since.
        listing.folder.close()
        try:
            run.bring_up_to_date()
        finally:
            listing.folder.close()
        return IndexReport(
            added=run.added,
            updated=run.updated,
            removed=run.removed,
            unchanged=run.unchanged,
            skipped=sorted([*listing.skipped, *run.skipped]),
            notes=list(listing.notes),
            remaining=run.remaining,
        )


@define
class _Run:
    indexer: Indexer
    remembered: Remembered
    listing: FileListing
    records_of: RecordsOf
    again: Collection[str]
    label: str
    unredacted: tuple[str, ...]
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    remaining: int = 0
    skipped: list[tuple[str, str]] = field(factory=list)
    _writer: RecordWriter = field(init=False)
    _gone: set[str] = field(factory=set, init=False)
    _done: int = field(default=0, init=False)

    def bring_up_to_date(self) -> None:
        """Index changed files and delete records of deleted ones."""
        started = time.perf_counter()
        files = self.listing.files
        candidates = [
            file
            for file in files
            if (known := self.remembered.files.get(file.path)) is None
            or known.stamp != file.stamp
            or file.path in self.again
        ]
        self._gone = self.remembered.files.keys() - {file.path for file in files}
        if self.remembered.known and not candidates and not self._gone:
            self._count_unchanged(files)
            return
        touched = {file.path for file in candidates}
        self._writer = RecordWriter(self.indexer, self.remembered, touched | self._gone)
        if not self.remembered.known:
            self._writer.start_anew()
        self.remembered.begin_run()
        self._count_unchanged([file for file in files if file.path not in touched])
        query = self.indexer.query
        if query and len(candidates) > _ORDERED_FILES:
            candidates = list(likely_first(candidates, self.listing, query))
        for done, file in enumerate(candidates):
            if self._writer.has_stored and self.indexer.time_is_up:
                # They stay in doubt, so that the next run goes on with them.
                self.remaining = len(candidates) - done
                break
            self._look_into(file)
            self._progress(1)
        self._finish()
        _log.info(
            "files_indexed",
            source=self.indexer.records.source,
            added=self.added,
            updated=self.updated,
            removed=self.removed,
            unchanged=self.unchanged,
            skipped=len(self.skipped),
            seconds=round(time.perf_counter() - started, 3),
        )

    def _finish(self) -> None:
        self._writer.flush()
        self.removed += sum(not self.remembered.files[path].skipped for path in self._gone)
        self._writer.remove(self._gone)
        self._writer.save()

    def _progress(self, files: int) -> None:
        self._done += files
        self.indexer.progress(self._done, len(self.listing.files), self.label)

    def _count_unchanged(self, files: Sequence[WorkspaceFile]) -> None:
        for file in files:
            self._count_same(file.path, self.remembered.files[file.path])
        self._progress(len(files))

    def _count_same(self, path: str, known: FileState) -> None:
        if known.skipped:
            self.skipped.append((path, known.skipped))
        else:
            self.unchanged += 1

    def _look_into(self, file: WorkspaceFile) -> None:
        """Read a file, and index changed content."""
        # Not needed if nothing has changed.
        import hashlib

        known = self.remembered.files.get(file.path)
        read_at = time.time_ns()
        try:
            content, stamp = self.listing.read(file)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError):
                self.skipped.append((file.path, unreadable(error)))
            if known is None:
                self._writer.in_doubt.discard(file.path)
            else:
                self._gone.add(file.path)
            return
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        if known is not None and known.digest == digest and file.path not in self.again:
            self._count_same(file.path, known)
            state = FileState.read(stamp, digest, known.skipped, at=read_at)
            self._writer.confirm(file.path, state)
            return
        try:
            records, skipped = self._records_of(file, content), ""
        except SkipFileError as error:
            records, skipped = [], str(error) or "it has no records"
        except ContextKitError:
            raise
        except Exception as error:
            source = self.indexer.records.source
            raise RecordError(
                f"{source}: cannot make records of {file.path}: {in_words(error)}"
            ) from error
        self._count_changed(file.path, known, skipped)
        self._writer.replace(file.path, records, FileState.read(stamp, digest, skipped, at=read_at))

    def _records_of(self, file: WorkspaceFile, content: bytes) -> Sequence[Record]:
        """Make a file's records without secrets, which could be split between them."""
        unredacted = file.path.lower().endswith(self.unredacted)
        redacted = content if unredacted else self._redacted(content)
        records = self.records_of(file, redacted)
        if redacted == content and not unredacted:
            return records
        return [
            evolve(record, fields={**record.fields, REDACTIONS: marks})
            if (marks := record.text.count(MARK))
            else record
            for record in records
        ]

    def _redacted(self, content: bytes) -> bytes:
        encoding = next((name for mark, name in _UTF_16.items() if content.startswith(mark)), "")
        if not encoding and b"\0" in content:
            # It is binary.
            return content
        try:
            text = content.decode(encoding or "utf-8")
        except UnicodeDecodeError:
            # Latin-1 has a character for each byte.
            encoding, text = "latin-1", content.decode("latin-1")
        return self.indexer.records.redacted(text).encode(encoding or "utf-8")

    def _count_changed(self, path: str, known: FileState | None, skipped: str) -> None:
        # A file without a digest was left over by a run that ended early.
        had_records = known is not None and bool(known.digest) and not known.skipped
        if skipped:
            self.skipped.append((path, skipped))
            self.removed += had_records
        elif had_records:
            self.updated += 1
        else:
            self.added += 1
