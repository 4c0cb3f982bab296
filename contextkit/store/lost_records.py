"""Detect stored records missing from an opened shard.

The engine reads its log up to the first damaged entry and continues without the rest. So the
last write is noted beside the log, and checked when the shard is opened.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from uuid import UUID

import qdrant_edge as edge
from attrs import define, field

from contextkit.errors import StoreError
from contextkit.files import open_private, write_private
from contextkit.logs import get_logger
from contextkit.store.base import StoredPoint
from contextkit.store.engine_errors import engine_errors
from contextkit.store.payloads import point_number

_LENGTH = 64
"""Bytes of the note, padded."""

_log = get_logger(__name__)


@define
class LostRecords:
    """The notes beside one shard.

    Every method needs the shard's lock.

    Attributes:
        shard: the engine's folder.
    """

    shard: Path
    _last: str | None = field(default=None, init=False)

    @property
    def _last_write(self) -> Path:
        return self.shard / "last-write"

    @property
    def note(self) -> Path:
        """The file that describes the lost records."""
        return self.shard / "lost-records"

    @property
    def problem(self) -> str | None:
        """Describe the lost records; None if none are known."""
        try:
            reason = self.note.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        return (
            f"the store at {self.shard.parent} may have lost records: {reason.strip()}; run "
            f"`contextkit index` and `contextkit import` an export that has them, then delete "
            f"{self.note}"
        )

    def add(self, reason: str) -> None:
        """Note that records may be lost."""
        _log.warning("records_may_be_lost", store=str(self.shard.parent), reason=reason)
        with contextlib.suppress(OSError):
            write_private(self.note, f"{reason}\n")

    def begun(self, points: Collection[str]) -> None:
        """Note that a write has begun.

        A deletion has no points.

        Until it ends the note still describes the write before, unless this one may undo that.
        """
        if self._last is None or not points or self._last in points:
            self._last = None
            self._write(" " * _LENGTH)

    def done(self, point: StoredPoint) -> None:
        """Note the last point of a finished write."""
        self._last = point.id
        self._write(f"{point.id} {point.payload['checksum']}".ljust(_LENGTH))

    def check(self, shard: edge.EdgeShard) -> None:
        """Check that an opened shard has the last write.

        Note it if not.
        """
        try:
            point_id, checksum = self._last_write.read_text(encoding="utf-8").split()
            point_id, stored = str(UUID(point_id)), int(checksum)
        except (OSError, ValueError):
            return
        # A shard of the schema before has UUIDs.
        with contextlib.suppress(StoreError), engine_errors("looking for the last write"):
            points: list[edge.PointId] = [point_number(point_id), point_id]
            found = shard.retrieve(points, with_payload=True, with_vector=False)
            if not found or (found[0].payload or {}).get("checksum") != stored:
                self.add("the last write is missing: the log is damaged or a copy is incomplete")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            # Not truncated first: the store may be copied at any moment.
            number = open_private(self._last_write, os.O_WRONLY | os.O_CREAT)
            try:
                os.write(number, text.encode())
            finally:
                os.close(number)
