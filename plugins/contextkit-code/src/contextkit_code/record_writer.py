"""Writing records so that a crash at any moment leaves a state from which the next run heals.

Before the first write the state is saved with every file in doubt that may be touched.
After each batch its files are out of doubt again. A file's new records are put before its
old ones go, so that no search finds it missing; the old ones are told by their time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import define, field

from contextkit import Range, Record
from contextkit.indexing import Indexer
from contextkit_code.index_state import CodeState, FileState

__all__ = ["RecordWriter"]

_BATCH_RECORDS = 512
_BATCH_FILES = 256
_CHECKPOINT_FILES = 1024


@define
class RecordWriter:
    """Writes one run's records and keeps the state true.

    Attributes:
        indexer: the run.
        state: what is remembered; brought up to date as records are written.
        in_doubt: the files that the run may still touch.
    """

    indexer: Indexer
    state: CodeState
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
        """Give a file these records in place of those it has; written with its batch."""
        self._records.extend(records)
        self._files[path] = state
        if len(self._records) >= _BATCH_RECORDS or len(self._files) >= _BATCH_FILES:
            self.flush()

    def confirm(self, path: str, state: FileState) -> None:
        """Remember a file whose records are what they should be."""
        self.in_doubt.discard(path)
        self.state.files[path] = state

    def remove(self, paths: Collection[str]) -> None:
        """Delete files' records and forget the files."""
        ordered = sorted(paths)
        for start in range(0, len(ordered), _BATCH_FILES):
            batch = ordered[start : start + _BATCH_FILES]
            self._begin()
            self.indexer.records.delete_where({"file_path": batch})
            for path in batch:
                self.in_doubt.discard(path)
                self.state.files.pop(path, None)

    def flush(self) -> None:
        """Write what is waiting."""
        if not self._files:
            return
        self._begin()
        if self._records:
            self.indexer.records.put(self._records)
        known = [path for path in self._files if path in self.state.files]
        if known:
            self.indexer.records.delete_where(
                {"file_path": known, "created_at": Range(lt=self.state.created_at)}
            )
        for path, state in self._files.items():
            self.confirm(path, state)
        self._since_checkpoint += len(self._files)
        self._records, self._files = [], {}
        if self._since_checkpoint >= _CHECKPOINT_FILES:
            self.save()

    def save(self) -> None:
        """Save the state, with the files in doubt that are."""
        self._since_checkpoint = 0
        doubted = {path: FileState.in_doubt() for path in self.in_doubt}
        CodeState(
            files={**self.state.files, **doubted},
            created_at=self.state.created_at,
            unparsed=self.state.unparsed,
        ).save(self.indexer.state)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.save()
