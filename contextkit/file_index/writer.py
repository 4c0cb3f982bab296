"""Writing records so that a crash at any moment leaves a state from which the next run heals.

Before the first write the state is saved with every file in doubt that may be touched.
After each batch its files are out of doubt again. A file's new records are put before its
old ones go, so that no search finds it missing; the old ones are told by their time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from attrs import define, evolve, field

from contextkit.errors import RecordError
from contextkit.file_index.remembered import FileState, Remembered
from contextkit.indexing import Indexer
from contextkit.records import Range, Record

__all__ = ["RecordWriter"]

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
