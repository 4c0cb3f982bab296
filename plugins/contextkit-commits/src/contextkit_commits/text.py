"""Convert bytes from git to safe, valid text."""

from __future__ import annotations

import re

from contextkit.text import one_line

MAX_MESSAGE = 20_000
"""Most characters kept of a message."""

_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_BLANK_LINES = re.compile(r"\n{3,}")
_TRAILING = re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE)


def clean_message(raw: bytes) -> str:
    """Decode a message and clean it.

    Bytes that are not UTF-8 become U+FFFD, controls are removed, and runs of blank lines become one
    line.
    """
    text = _LINE_ENDS.sub("\n", raw.decode("utf-8", "replace"))
    text = _TRAILING.sub("", _CONTROLS.sub("", text))
    text = _BLANK_LINES.sub("\n\n", text).strip("\n")
    return shortened(text, MAX_MESSAGE)


def clean_line(raw: bytes) -> str:
    """Decode a name or an address, on one line."""
    return one_line(raw.decode("utf-8", "replace"))


def clean_path(raw: bytes) -> str:
    r"""Decode a path.

    Bytes that are not UTF-8 are written `\xNN`, as the code source does.
    """
    return raw.decode("utf-8", "backslashreplace")


def shortened(text: str, most: int) -> str:
    """Shorten `text` to `most` characters, at a word.

    The last character is then an ellipsis.
    """
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    at_word = cut.rsplit(None, 1)[0] if len(cut.split(None, 1)) > 1 else cut
    return f"{at_word}…"
