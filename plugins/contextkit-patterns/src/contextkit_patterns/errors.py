"""What can be wrong with a pattern, and with the id of one."""

from __future__ import annotations

from contextkit.errors import ContextKitError, RecordError

__all__ = ["InvalidPatternError", "UnknownPatternError"]


class InvalidPatternError(RecordError):
    """A part of a pattern is not what it may be; nothing was stored."""

    exit_code = 2


class UnknownPatternError(ContextKitError):
    """No pattern has this id.

    Attributes:
        id: what was asked for.
    """

    exit_code = 5

    def __init__(self, asked: str) -> None:
        self.id = asked
        super().__init__(
            f"no pattern has the id {asked!r}: `contextkit patterns list` shows the ids"
        )
