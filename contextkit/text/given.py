"""Check given texts, and bring them into the form in which they are stored and shown."""

from __future__ import annotations

import re

from contextkit.errors import ContextKitError

_LINE_END = re.compile("\r\n?")
_CONTROLS = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SHOWN = 40


def given_line(value: object, what: str, longest: int, error: type[ContextKitError]) -> str:
    """A text of one line.

    Args:
        value: what was given.
        what: what it is, for the error: `a name`.
        longest: characters that the line may have.
        error: what is raised, made from one line of words.

    Returns:
        It on one line, every run of white space and controls one space, with none at its ends.

    Raises:
        ContextKitError: an `error`, where it is no text, no valid Unicode, empty or too long.
    """
    # Its patterns cost a process some milliseconds, and most store nothing.
    from contextkit.text.markup import one_line

    line = one_line(_text(value, what, error))
    if not 1 <= len(line) <= longest:
        raise error(f"{what} has 1 to {longest:,} characters, {line[:_SHOWN]!r} has {len(line):,}")
    return line


def given_lines(value: object, what: str, error: type[ContextKitError]) -> str:
    """A text of any number of lines.

    Args:
        value: what was given.
        what: what it is, for the error: `a task's detail`.
        error: what is raised, made from one line of words.

    Returns:
        It without white space at its ends, terminal codes and controls, its lines ended by line
        feeds; it may be empty.

    Raises:
        ContextKitError: an `error`, where it is no text or no valid Unicode.
    """
    return _CONTROLS.sub("", _LINE_END.sub("\n", _text(value, what, error))).strip()


def _text(value: object, what: str, error: type[ContextKitError]) -> str:
    if not isinstance(value, str):
        raise error(f"{what} must be a text, got {value!r}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as wrong:
        raise error(
            f"{what} must be valid Unicode: character {wrong.start} is half a surrogate pair"
        ) from wrong
    return value


def well_formed(text: str) -> str:
    """The text without half surrogate pairs, which no host could write anywhere."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
