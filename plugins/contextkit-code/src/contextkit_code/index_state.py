"""What the code source remembers of each file between two index runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from attrs import define, field

from contextkit.indexing import IndexState
from contextkit_code.record_kinds import INDEX_VERSION
from contextkit_code.workspace_files import Stamp

__all__ = ["CodeState", "FileState"]

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

    @classmethod
    def in_doubt(cls) -> FileState:
        """The state of a file whose records are about to be written."""
        return cls(_UNTRUSTED, "")


@define
class CodeState:
    """What is remembered of all files.

    Attributes:
        files: path -> state.
        created_at: the last run's records carry this time.
        unparsed: languages whose grammar did not load.
        known: False when nothing is remembered, or another version's.
    """

    files: dict[str, FileState] = field(factory=dict)
    created_at: datetime = datetime.fromtimestamp(0, UTC)
    unparsed: frozenset[str] = frozenset()
    known: bool = False

    @classmethod
    def load(cls, state: IndexState) -> CodeState:
        """What was saved last; nothing when that was another version or is damaged."""
        stored = state.load()
        try:
            return cls._of(stored) if stored.get("version") == INDEX_VERSION else cls()
        except (AttributeError, KeyError, TypeError, ValueError):
            return cls()

    @classmethod
    def _of(cls, stored: Mapping[str, Any]) -> CodeState:
        return cls(
            files={
                path: FileState(Stamp(int(size), int(mtime), int(ctime)), str(digest), str(skipped))
                for path, (size, mtime, ctime, digest, skipped) in stored["files"].items()
            },
            created_at=datetime.fromisoformat(stored["created_at"]).astimezone(UTC),
            unparsed=frozenset(map(str, stored["unparsed"])),
            known=True,
        )

    def save(self, state: IndexState) -> None:
        """Remember it, atomically."""
        state.save(
            {
                "version": INDEX_VERSION,
                "created_at": self.created_at.isoformat(),
                "unparsed": sorted(self.unparsed),
                "files": {
                    path: [s.stamp.size, s.stamp.mtime, s.stamp.ctime, s.digest, s.skipped]
                    for path, s in self.files.items()
                },
            }
        )

    def next_run(self) -> datetime:
        """A time for the next run's records: now, and later than the last run's."""
        return max(datetime.now(UTC), self.created_at + timedelta(milliseconds=1))
