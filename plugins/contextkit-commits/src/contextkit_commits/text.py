"""Bytes from git made into safe, valid text."""

from __future__ import annotations

import re

from contextkit.text import one_line

MAX_MESSAGE = 20_000
"""Characters kept of a message."""

_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_BLANK_LINES = re.compile(r"\n{3,}")
_TRAILING = re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE)


def clean_message(raw: bytes) -> str:
    """A message: what is not UTF-8 becomes U+FFFD, controls go, blank runs become one line."""
    text = _LINE_ENDS.sub("\n", raw.decode("utf-8", "replace"))
    text = _TRAILING.sub("", _CONTROLS.sub("", text))
    text = _BLANK_LINES.sub("\n\n", text).strip("\n")
    return shortened(text, MAX_MESSAGE)


def clean_line(raw: bytes) -> str:
    """A name or an address, on one line."""
    return one_line(raw.decode("utf-8", "replace"))


def clean_path(raw: bytes) -> str:
    r"""A path as it is; bytes that are not UTF-8 are written `\xNN`, as the code source does."""
    return raw.decode("utf-8", "backslashreplace")


def shortened(text: str, most: int) -> str:
    """`text` in at most `most` characters, cut at a word, an ellipsis in its last place."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    at_word = cut.rsplit(None, 1)[0] if len(cut.split(None, 1)) > 1 else cut
    return f"{at_word}…"
