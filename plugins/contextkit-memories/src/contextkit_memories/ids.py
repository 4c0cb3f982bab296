"""Ids of memories: short, sorted by time, easy to type.

`mem_` and twelve characters of Crockford's base 32 in lower case (no i, l, o, u): nine for
the milliseconds since 1970, three at random.
"""

from __future__ import annotations

from datetime import UTC, datetime

PREFIX = "mem_"
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_DIGITS = 9
_RANDOM_DIGITS = 3
_LOOKALIKES = str.maketrans({"o": "0", "i": "1", "l": "1"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def new_id(created_at: datetime, later: int = 0) -> str:
    """Return a new id for a memory.

    Args:
        created_at: its time, aware; a time before 1970 counts as 1970.
        later: milliseconds to add, for a moment whose ids are taken.

    Returns:
        The id; ids sort as their times do.
    """
    import secrets

    milliseconds = int((created_at - _EPOCH).total_seconds() * 1000) + later
    time = _digits(max(0, milliseconds), _TIME_DIGITS)
    return f"{PREFIX}{time}{_digits(secrets.randbits(5 * _RANDOM_DIGITS), _RANDOM_DIGITS)}"


def canonical_id(typed: str) -> str:
    """Normalize a typed id or its beginning.

    Args:
        typed: an id or its beginning, in any case, with or without `mem_`; o, i and l are
            read as the digits they look like.

    Returns:
        The beginning of an id in the form in which ids are made.
    """
    digits = typed.strip().lower().removeprefix(PREFIX)
    return f"{PREFIX}{digits.translate(_LOOKALIKES)}"


def _digits(number: int, length: int) -> str:
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in reversed(range(length)))
