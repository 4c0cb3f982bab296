"""Write an index run's records in a crash-safe order.

Before the first write, the state is saved with every file that may be touched marked as in
doubt. After each batch its files are no longer in doubt. A file's new records are written before
its old ones are deleted, so that every search finds it; old records have an earlier time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from attrs import define, evolve, field

from contextkit.errors import RecordError, StoreError
from contextkit.indexing.listing import Stamp
from contextkit.models.indexer import Indexer, IndexState
from contextkit.models.record import Range, Record

# The coarsest clock of a file system in use (FAT): a file that was modified so shortly before it
# was read may be modified again and keep its stamp.
_CLOCK_NANOSECONDS = 2_000_000_000
_UNTRUSTED = Stamp(-1, 0, 0)

_BATCH_RECORDS = 512
_LEAST_RECORDS = 256
"""A batch when the time of a run is up."""

_BATCH_FILES = 256
_CHECKPOINT_FILES = 1024
_RECENT = timedelta(days=1)
"""Tolerance for a record's default time, which is that of its creation."""


class FileState(NamedTuple):
    """One file as of its last reading.

    Attributes:
        stamp: its stamp at that time.
        digest: the digest of its content; empty while its records may be incomplete.
        skipped: why it has no records, or empty.
    """

    stamp: Stamp
    digest: str
    skipped: str = ""

    @classmethod
    def read(cls, stamp: Stamp, digest: str, skipped: str, at: int) -> FileState:
        """The state of a file read at a time, in nanoseconds."""
        settled = max(stamp.mtime, stamp.ctime) < at - _CLOCK_NANOSECONDS
        return cls(stamp if settled else _UNTRUSTED, digest, skipped)


_IN_DOUBT = FileState(_UNTRUSTED, "")


@define
class Remembered:
    """The state of all files of a source.

    Attributes:
        version: the version of the source's record format.
        files: path -> state.
        created_at: the time of the last run's records.
        kept: further values that the source remembers.
        known: False if there is no state, or one of another version.
    """

    version: int
    files: dict[str, FileState] = field(factory=dict)
    created_at: datetime = datetime.fromtimestamp(0, UTC)
    kept: dict[str, Any] = field(factory=dict)
    known: bool = False

    @classmethod
    def load(cls, state: IndexState, version: int) -> Remembered:
        """Read the saved state.

        Returns an empty value if damaged or of another version.
        """
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
        """The files with records, in a state of any version."""
        try:
            files = cls._of(state.load()).files
        except (AttributeError, KeyError, TypeError, ValueError):
            return frozenset()
        return frozenset(path for path, file in files.items() if not file.skipped)

    def save(self, state: IndexState, in_doubt: Collection[str]) -> None:
        """Save the state, atomically.

        Args:
            state: the target.
            in_doubt: files whose records may be incomplete if the run ends now; the next run
                makes them again or deletes them.
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
        """Choose the time of a run's records."""
        self.created_at = max(datetime.now(UTC), self.created_at + timedelta(milliseconds=1))


@define
class RecordWriter:
    """Writes one run's records and updates the state.

    Attributes:
        indexer: the run.
        remembered: the state, updated as records are written.
        in_doubt: the files that the run may still touch.
        has_stored: whether a batch was stored.
    """

    indexer: Indexer
    remembered: Remembered
    in_doubt: set[str]
    has_stored: bool = field(default=False, init=False)
    _begun: bool = field(default=False, init=False)
    _records: list[Record] = field(factory=list, init=False)
    _files: dict[str, FileState] = field(factory=dict, init=False)
    _since_checkpoint: int = field(default=0, init=False)

    def start_anew(self) -> None:
        """Delete all records, because their state is unknown."""
        if self.indexer.records.count():
            self.indexer.records.delete_where({})

    def replace(self, path: str, records: Sequence[Record], state: FileState) -> None:
        """Replace a file's records.

        They are written with the next batch.

        Raises `RecordError` for a record that could not be assigned to its file later, or whose
        time would be lost.
        """
        for record in records:
            if record.fields.get("file_path") != path:
                raise RecordError(
                    f"{self.indexer.records.source} record {record.id!r}: field file_path: "
                    f"expected its file's path {path!r}, got {record.fields.get('file_path')!r}"
                )
            if abs(record.created_at - datetime.now(UTC)) > _RECENT:
                raise RecordError(
                    f"{self.indexer.records.source} record {record.id!r} of {path}: created_at is "
                    f"{record.created_at.isoformat()}, but the run sets it: store the record's own "
                    f"time in a field"
                )
            self._records.append(evolve(record, created_at=self.remembered.created_at))
        self._files[path] = state
        enough = _LEAST_RECORDS if self.indexer.time_is_up else _BATCH_RECORDS
        if len(self._records) >= enough or len(self._files) >= _BATCH_FILES:
            self.flush()

    def confirm(self, path: str, state: FileState) -> None:
        """Record that a file's records are complete."""
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
        """Write the waiting batch."""
        if not self._files:
            return
        self._begin()
        try:
            self._write()
        except StoreError:
            # The next run goes on behind the batches that are stored.
            self.save()
            raise
        for path, state in self._files.items():
            self.confirm(path, state)
        self.has_stored = True
        self._since_checkpoint += len(self._files)
        self._records, self._files = [], {}
        if self._since_checkpoint >= _CHECKPOINT_FILES:
            self.save()

    def _write(self) -> None:
        if self._records:
            self.indexer.records.put(self._records)
        known = [path for path in self._files if path in self.remembered.files]
        if known:
            self.indexer.records.delete_where(
                {"file_path": known, "created_at": Range(lt=self.remembered.created_at)}
            )

    def save(self) -> None:
        """Save the state, with the files in doubt."""
        self._since_checkpoint = 0
        self.remembered.save(self.indexer.state, self.in_doubt)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.save()
