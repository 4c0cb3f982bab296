"""What can be wrong with an event."""

from __future__ import annotations

from contextkit.errors import RecordError

__all__ = ["InvalidEventError"]


class InvalidEventError(RecordError):
    """A part of an event is not what it may be; nothing was stored."""

    exit_code = 2
