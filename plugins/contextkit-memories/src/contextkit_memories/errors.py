"""Errors of memories and their ids."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.errors import ContextKitError
from contextkit.sources import InvalidEntryError, UnknownEntryError

_LISTED = 5


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
            f"the text has what looks like {', '.join(found)}, and later contexts show a memory to "
            f"the model; nothing was stored: say where the secret is kept instead of what it is, "
            f"or say keep_secret=true if the user wants it remembered as it is"
        )


class UnknownMemoryError(UnknownEntryError):
    """No memory has this id."""

    noun, command = "memory", "memories"


class AmbiguousMemoryError(ContextKitError):
    """An abbreviated id matches several memories.

    Attributes:
        id: the requested id.
        matches: the matching ids in full, oldest first.
    """

    exit_code = 5

    def __init__(self, asked: str, matches: Sequence[tuple[str, str]]) -> None:
        self.id = asked
        self.matches = [match for match, _ in matches]
        listed = ", ".join(f"{match} ({title})" for match, title in matches[:_LISTED])
        more = f" and {len(matches) - _LISTED} more" if len(matches) > _LISTED else ""
        super().__init__(f"{asked!r} fits {len(matches)} memories: {listed}{more}; type more of it")
