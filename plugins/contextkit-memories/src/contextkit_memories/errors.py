"""What can be wrong with a memory, and with the id of one."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.errors import ContextKitError
from contextkit.sources import InvalidEntryError, UnknownEntryError

_LISTED = 5


class InvalidMemoryError(InvalidEntryError):
    """A part of a memory has a value that is not allowed; nothing was stored."""


class SecretInMemoryError(InvalidMemoryError):
    """The text has what looks like a secret, and it was not said that it is to be kept.

    Attributes:
        found: what it looks like and where, in the order of the text.
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
    """The beginning of an id fits several memories.

    Attributes:
        id: what was asked for.
        matches: the whole ids that it fits, oldest first.
    """

    exit_code = 5

    def __init__(self, asked: str, matches: Sequence[tuple[str, str]]) -> None:
        self.id = asked
        self.matches = [match for match, _ in matches]
        listed = ", ".join(f"{match} ({title})" for match, title in matches[:_LISTED])
        more = f" and {len(matches) - _LISTED} more" if len(matches) > _LISTED else ""
        super().__init__(f"{asked!r} fits {len(matches)} memories: {listed}{more}; type more of it")
