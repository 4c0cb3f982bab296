"""Check and normalise texts from users and agents."""

from __future__ import annotations

import re

from contextkit.errors import ContextKitError

_LINE_END = re.compile("\r\n?")
_CONTROLS = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SHOWN = 40


def given_line(value: object, what: str, longest: int, error: type[ContextKitError]) -> str:
    """Check a text and convert it to one line.

    Args:
        value: the input.
        what: its name in errors: `a name`.
        longest: the maximum length of the line.
        error: the exception class, called with the message.

    Returns:
        One line; every run of white space and controls becomes one space, none at the ends.

    Raises:
        ContextKitError: an `error`, if it is not a text, not valid Unicode, empty or too long.
    """
    # Imported here because its patterns take milliseconds, and most processes store nothing.
    from contextkit.text.markup import one_line

    line = one_line(_text(value, what, error))
    if not 1 <= len(line) <= longest:
        raise error(f"{what} has 1 to {longest:,} characters, {line[:_SHOWN]!r} has {len(line):,}")
    return line


def given_lines(value: object, what: str, error: type[ContextKitError]) -> str:
    """Check a text of any number of lines.

    Args:
        value: the input.
        what: its name in errors: `a task's detail`.
        error: the exception class, called with the message.

    Returns:
        The text without white space at its ends, terminal codes and controls, with line feeds as
        line ends; it may be empty.

    Raises:
        ContextKitError: an `error`, if it is not a text or not valid Unicode.
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
    """Replace half surrogate pairs, which cannot be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
