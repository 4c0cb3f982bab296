"""Extract the text of comments and docstrings, without comment marks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

# Longest first: `///` before `//`, `--[[` before `--`.
_MARKS = (
    r"/\*[*!]*|\*/|\(\*+|\*+(?![/)])"
    r"|///?[/!]?"
    r"|<#+|#=+|#+(?:[!']|!?(?!>))|;+|%+"
    r"|--\[=*\[|\]=*\]|--+(?:\s*[|^])?"
    r"|\{-+(?:\s*\|)?"
    r"|=(?:back|begin|cut|encoding|end|for|head\d|item|over|pod)\b"
)
_LINE_START = re.compile(rf"^[ \t]*(?:{_MARKS})", re.MULTILINE)
_BLOCK_END = re.compile(
    r"(?<![ \t])[ \t]*+(?:(?<!\*)\*++[/)]|-\}|\]=*+\]|#>|=#)[ \t]*+$", re.MULTILINE
)
_BLANK_START = re.compile(r"\A\s*\n")
_ATTRIBUTE = re.compile(r"^@\w+\s*")
_STRING = re.compile(
    r"""^(?:~?[A-Za-z]{0,3})(?P<quote>\"\"\"|'''|["'])(?P<words>.*?)(?P=quote)\w*$""", re.DOTALL
)


def comment_words(comments: Sequence[str]) -> str:
    """Strip marks and common indentation from a run of comments."""
    return "\n".join(filter(None, map(_words, comments))).strip()


def _words(comment: str) -> str:
    if comment.startswith("@"):
        return string_words(_ATTRIBUTE.sub("", comment))
    # A string stands above what it documents in Julia.
    if words := string_words(comment):
        return words
    bare = _LINE_START.sub("", _BLOCK_END.sub("", comment))
    return _clean(bare)


def string_words(literal: str) -> str:
    """Strip the quotes from a string literal.

    Return an empty string for anything else.
    """
    found = _STRING.match(literal.strip())
    return _clean(found["words"]) if found else ""


def _clean(text: str) -> str:
    """Remove common indentation.

    `cleandoc` removes empty lines one by one.
    """
    return inspect.cleandoc(_BLANK_START.sub("\n", text)).strip()
