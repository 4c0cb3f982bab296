"""Errors of memories and their ids."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.sources import InvalidEntryError, UnknownEntryError


class InvalidMemoryError(InvalidEntryError):
    """A memory is invalid; nothing was stored.

    One of its parts has a value that is not allowed.
    """


class SecretInMemoryError(InvalidMemoryError):
    """A text contains an apparent secret that must be refused.

    Attributes:
        found: the apparent secrets and their positions, in the order of the text.
    """

    def __init__(self, found: Sequence[str]) -> None:
        self.found = list(found)
        super().__init__(
            f"the text seems to contain {', '.join(found)}, and later contexts show a memory to "
            f"the model; nothing was stored: say where the secret is kept instead of what it is, "
            f"or say keep_secret=true if the user wants it remembered as it is"
        )


class UnknownMemoryError(UnknownEntryError):
    """No memory has this id."""

    noun, command = "memory", "memories"
