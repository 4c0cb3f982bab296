"""Checks for the parts of entries.

Each check returns the value as it is stored, or raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from contextkit.sources.entry import InvalidEntryError
from contextkit.text.given import given_line, given_lines


def line(what: str, longest: int) -> Callable[[Any], str]:
    """Create a check: one line, 1 to `longest` characters.

    Args:
        what: what it is, for errors: `a name`.
        longest: characters that it may have.
    """

    def check(value: Any) -> str:
        # Most values are read back as they were stored, and many of them in each request.
        if type(value) is str and value.isascii() and value.isprintable():
            trimmed = value[:1] != " " != value[-1:] and "  " not in value
            if trimmed and 1 <= len(value) <= longest:
                return value
        return given_line(value, what, longest, InvalidEntryError)

    return check


def text(what: str, longest: int, hint: str = "") -> Callable[[Any], str]:
    """Create a check: a text of any number of lines.

    It has 1 to `longest` characters.

    Args:
        what: what it is, for errors: `a note`.
        longest: characters that it may have.
        hint: what to do about a longer one.
    """

    def check(value: Any) -> str:
        stored = given_lines(value, what, InvalidEntryError)
        if not stored:
            raise InvalidEntryError(f"{what} must not be empty")
        if len(stored) > longest:
            end = f": {hint}" if hint else ""
            raise InvalidEntryError(
                f"{what} has at most {longest:,} characters, this one has {len(stored):,}{end}"
            )
        return stored

    return check


def name(what: str, longest: int) -> Callable[[Any], str]:
    """Create a check: a name, 1 to `longest` printable characters.

    A name has no white space at its ends.
    """

    def check(value: Any) -> str:
        stored = value.strip() if isinstance(value, str) else ""
        if not 1 <= len(stored) <= longest or not stored.isprintable():
            raise InvalidEntryError(
                f"{what} has 1 to {longest} printable characters, got {str(value)[:80]!r}"
            )
        return stored

    return check


def whole(what: str, least: int = 0, most: int = 2**53) -> Callable[[Any], int]:
    """Create a check: a whole number, `least` to `most`."""

    def check(value: Any) -> int:
        if type(value) is int and least <= value <= most:
            return value
        to = "" if most == 2**53 else f" and at most {most:,}"
        expected = f"a whole number of at least {least:,}{to}"
        raise InvalidEntryError(f"{what} must be {expected}, got {value!r:.80}")

    return check


def number(what: str, least: float = 0.0, most: float = 1.0) -> Callable[[Any], float]:
    """Create a check: a number within `least`..`most`."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidEntryError(
                f"{what} must be a number within {least:g}..{most:g}, got {value!r}"
            )
        # The condition is written so that NaN, for which every comparison is false, is refused too.
        if not least <= value <= most or not math.isfinite(value):
            raise InvalidEntryError(f"{what} must be within {least:g}..{most:g}, got {value}")
        return float(value)

    return check


def choice(what: str, allowed: Collection[str]) -> Callable[[Any], str]:
    """Create a check: one of a few texts."""

    def check(value: Any) -> str:
        if value not in allowed:
            raise InvalidEntryError(
                f"{what} is one of {', '.join(allowed)}, got {str(value)[:60]!r}"
            )
        return str(value)

    return check


def several(
    what: str, check: Callable[[Any], Any], *, least: int = 0, most: int = 50, once: bool = True
) -> Callable[[Any], tuple[Any, ...]]:
    """Create a check for each value of a list.

    Args:
        what: what they are, for errors: `tags`.
        check: of one of them.
        least: how many there must be.
        most: how many there may be.
        once: whether each is kept once.
    """

    def checked(value: Any) -> tuple[Any, ...]:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise InvalidEntryError(f"{what} must be a list of texts, got {value!r:.80}")
        stored = tuple(map(check, value))
        if not least <= len(stored) <= most:
            range_ = f"{least} to {most}" if least else f"at most {most}"
            raise InvalidEntryError(f"{what}: {range_} values, got {len(stored)}")
        return tuple(dict.fromkeys(stored)) if once else stored

    return checked
