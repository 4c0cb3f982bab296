"""What is remembered of each file between two index runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from attrs import define, field

from contextkit.file_index.listing import Stamp
from contextkit.indexing import IndexState

__all__ = ["FileState", "Remembered"]

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
