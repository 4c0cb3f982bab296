"""Write records so that the next run repairs what a crash interrupted.

The state of an index run remembers each file. Before the first write it is saved with every file
in doubt that may be touched; after each batch its files are out of doubt again. A file's new
records are stored before its old ones are deleted, so that searches always find it; old records
are recognized by their time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from attrs import define, evolve, field

from contextkit.errors import RecordError
from contextkit.indexing.listing import Stamp
from contextkit.models.indexer import Indexer, IndexState
from contextkit.models.record import Range, Record

# The coarsest clock of a file system in use (FAT): a file that was written this short a time
# before it was read may be written again and keep its stamp.
_CLOCK_NANOSECONDS = 2_000_000_000
_UNTRUSTED = Stamp(-1, 0, 0)


class FileState(NamedTuple):
    """One file as it was last read.

    Attributes:
        stamp: its stamp then.
        digest: of its content; empty while its records may be half written.
        skipped: why it has no records, or empty.
    """

    stamp: Stamp
    digest: str
    skipped: str = ""

    @classmethod
    def read(cls, stamp: Stamp, digest: str, skipped: str, at: int) -> FileState:
        """The state of a file that was read at a time, in nanoseconds since the epoch."""
        settled = max(stamp.mtime, stamp.ctime) < at - _CLOCK_NANOSECONDS
        return cls(stamp if settled else _UNTRUSTED, digest, skipped)


_IN_DOUBT = FileState(_UNTRUSTED, "")


@define
class Remembered:
    """What is remembered of all files.

    Attributes:
        version: the source's, of how it makes records.
        files: path -> state.
        created_at: the last run's records carry this time.
        kept: what else the source remembers.
        known: False when nothing is remembered, or another version's.
    """

    version: int
    files: dict[str, FileState] = field(factory=dict)
    created_at: datetime = datetime.fromtimestamp(0, UTC)
    kept: dict[str, Any] = field(factory=dict)
    known: bool = False

    @classmethod
    def load(cls, state: IndexState, version: int) -> Remembered:
        """What was saved last; nothing when that was another version or is damaged."""
        stored = state.load()
        try:
            return cls._of(stored) if stored.get("version") == version else cls(version)
        except (AttributeError, KeyError, TypeError, ValueError):
            return cls(version)

    @classmethod
    def _of(cls, stored: Mapping[str, Any]) -> Remembered:
        return cls(
            version=stored["version"],
            files={
                path: FileState(Stamp(int(size), int(mtime), int(ctime)), str(digest), str(skipped))
                for path, (size, mtime, ctime, digest, skipped) in stored["files"].items()
            },
            created_at=datetime.fromisoformat(stored["created_at"]).astimezone(UTC),
            kept=dict(stored["kept"]),
            known=True,
        )

    @classmethod
    def paths_in(cls, state: IndexState) -> frozenset[str]:
        """The files with records in a state of any version; none of a damaged one's."""
        try:
            files = cls._of(state.load()).files
        except (AttributeError, KeyError, TypeError, ValueError):
            return frozenset()
        return frozenset(path for path, file in files.items() if not file.skipped)

    def save(self, state: IndexState, in_doubt: Collection[str]) -> None:
        """Remember it, atomically.

        Args:
            state: where.
            in_doubt: files whose records may be half written when the run ends now: the next
                one makes them anew, or deletes them.
        """
        files = {**self.files, **dict.fromkeys(in_doubt, _IN_DOUBT)}
        state.save(
            {
                "version": self.version,
                "created_at": self.created_at.isoformat(),
                "kept": self.kept,
                "files": {path: [*s.stamp, s.digest, s.skipped] for path, s in files.items()},
            }
        )

    def begin_run(self) -> None:
        """Take a time for a run's records: now, and later than the last run's."""
        self.created_at = max(datetime.now(UTC), self.created_at + timedelta(milliseconds=1))


_BATCH_RECORDS = 512
_BATCH_FILES = 256
_CHECKPOINT_FILES = 1024
_RECENT = timedelta(days=1)
"""A record's time is its making's, unless its source gave it one."""


@define
class RecordWriter:
    """Writes one run's records and keeps what is remembered true.

    Attributes:
        indexer: the run.
        remembered: brought up to date as records are written.
        in_doubt: the files that the run may still touch.
    """

    indexer: Indexer
    remembered: Remembered
    in_doubt: set[str]
    _begun: bool = field(default=False, init=False)
    _records: list[Record] = field(factory=list, init=False)
    _files: dict[str, FileState] = field(factory=dict, init=False)
    _since_checkpoint: int = field(default=0, init=False)

    def start_anew(self) -> None:
        """Delete whatever records there are: nothing is known of them."""
        if self.indexer.records.count():
            self.indexer.records.delete_where({})

    def replace(self, path: str, records: Sequence[Record], state: FileState) -> None:
        """Give a file these records in place of those it has; written with its batch.

        Raises `RecordError` for a record of which the file could not be told later, and for one
        whose time would be lost.
        """
        for record in records:
            if record.fields.get("file_path") != path:
                raise RecordError(
                    f"{self.indexer.records.source} record {record.id!r}: its field file_path is "
                    f"{record.fields.get('file_path')!r}, and must be its file's path, {path!r}"
                )
            if abs(record.created_at - datetime.now(UTC)) > _RECENT:
                raise RecordError(
                    f"{self.indexer.records.source} record {record.id!r} of {path}: its created_at "
                    f"is {record.created_at.isoformat()}, and will be the run's: keep a time of "
                    f"its own in a field"
                )
            self._records.append(evolve(record, created_at=self.remembered.created_at))
        self._files[path] = state
        if len(self._records) >= _BATCH_RECORDS or len(self._files) >= _BATCH_FILES:
            self.flush()

    def confirm(self, path: str, state: FileState) -> None:
        """Remember a file whose records are what they should be."""
        self.in_doubt.discard(path)
        self.remembered.files[path] = state

    def remove(self, paths: Collection[str]) -> None:
        """Delete files' records and forget the files."""
        ordered = sorted(paths)
        for start in range(0, len(ordered), _BATCH_FILES):
            batch = ordered[start : start + _BATCH_FILES]
            self._begin()
            self.indexer.records.delete_where({"file_path": batch})
            for path in batch:
                self.in_doubt.discard(path)
                self.remembered.files.pop(path, None)

    def flush(self) -> None:
        """Write what is waiting."""
        if not self._files:
            return
        self._begin()
        if self._records:
            self.indexer.records.put(self._records)
        known = [path for path in self._files if path in self.remembered.files]
        if known:
            self.indexer.records.delete_where(
                {"file_path": known, "created_at": Range(lt=self.remembered.created_at)}
            )
        for path, state in self._files.items():
            self.confirm(path, state)
        self._since_checkpoint += len(self._files)
        self._records, self._files = [], {}
        if self._since_checkpoint >= _CHECKPOINT_FILES:
            self.save()

    def save(self) -> None:
        """Save what is remembered, with the files in doubt that are."""
        self._since_checkpoint = 0
        self.remembered.save(self.indexer.state, self.in_doubt)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.save()
