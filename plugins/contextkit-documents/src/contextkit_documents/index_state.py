"""What the source remembers of each document between two index runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from attrs import define, field

from contextkit.indexing import IndexState
from contextkit_documents.listing import Stamp

__all__ = ["DocumentState", "DocumentStates"]

_VERSION = 1
"""Another one when chunks are made otherwise: every document is then indexed anew."""

# The coarsest clock of a file system in use: a file that was written this short a time before
# it was read may be written again and keep its stamp.
_CLOCK_NANOSECONDS = 2_000_000_000
_UNTRUSTED = Stamp(-1, 0, 0)


class DocumentState(NamedTuple):
    """A document as it was last read.

    Attributes:
        stamp: its stamp then.
        digest: of its content; empty while its records may be half written.
        skipped: why it has no records, or empty.
    """

    stamp: Stamp
    digest: str
    skipped: str = ""

    @classmethod
    def read(cls, stamp: Stamp, digest: str, skipped: str, at: int) -> DocumentState:
        """The state of a document that was read at a time, in nanoseconds since the epoch."""
        settled = max(stamp.mtime, stamp.ctime) < at - _CLOCK_NANOSECONDS
        return cls(stamp if settled else _UNTRUSTED, digest, skipped)


@define
class DocumentStates:
    """What is remembered of all documents.

    Attributes:
        files: path -> state.
        created_at: the last run's records carry this time.
        known: False when nothing is remembered, or another version's.
    """

    files: dict[str, DocumentState] = field(factory=dict)
    created_at: datetime = datetime.fromtimestamp(0, UTC)
    known: bool = False

    @classmethod
    def load(cls, state: IndexState) -> DocumentStates:
        """What was saved last; nothing when that was another version or is damaged."""
        stored = state.load()
        try:
            return cls._of(stored) if stored.get("version") == _VERSION else cls()
        except (AttributeError, KeyError, TypeError, ValueError):
            return cls()

    @classmethod
    def _of(cls, stored: Mapping[str, Any]) -> DocumentStates:
        return cls(
            files={
                path: DocumentState(Stamp(*map(int, stamp)), str(digest), str(skipped))
                for path, (*stamp, digest, skipped) in stored["files"].items()
            },
            created_at=datetime.fromisoformat(stored["created_at"]).astimezone(UTC),
            known=True,
        )

    def begin_run(self) -> None:
        """Take a time for the run's records: now, and later than the last run's."""
        self.created_at = max(datetime.now(UTC), self.created_at + timedelta(milliseconds=1))

    def save(self, state: IndexState, in_doubt: Collection[str] = ()) -> None:
        """Remember it, atomically.

        Args:
            state: where.
            in_doubt: documents whose records are about to be written: a run that is ended
                before it says otherwise is healed by the next one.
        """
        doubted = {path: DocumentState(_UNTRUSTED, "") for path in in_doubt}
        state.save(
            {
                "version": _VERSION,
                "created_at": self.created_at.isoformat(),
                "files": {
                    path: [*known.stamp, known.digest, known.skipped]
                    for path, known in {**self.files, **doubted}.items()
                },
            }
        )
