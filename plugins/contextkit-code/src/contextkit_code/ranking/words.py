"""Split names and questions into words, and compare them."""

from __future__ import annotations

import re
from functools import lru_cache

# The parts of camelCase, of ALLCaps before a word, digits, and words of other scripts.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")

_CACHED = 4096
_LEAST_SHARED = 4
_LEAST_PLURAL = 3
_PART_OF_WORD = 0.8
_ENDING = re.compile(
    r"(?:able|al|ance|ant|at(?:e[ds]?|ing|ion(?:s|al)?|ors?)?|e[dn]?|en(?:ce|t)|ers?|es|ible|ic"
    r"|ical|ied|iers?|ies|ify|ings?|ion(?:s|al)?|ity|ive|iz(?:e[ds]?|ers?|ing)|ly|ments?|ness"
    r"|ors?|ry|s|y)?"
)
"""Match the endings in which two inflections may differ.

Both may also end where they part.
"""


@lru_cache(_CACHED)
def words_of(text: str) -> tuple[str, ...]:
    """Split a text into lower-case words, each once.

    Identifiers and paths are split into their parts.
    """
    return tuple(dict.fromkeys(part.lower() for part in _PART.findall(text)))


@lru_cache(4 * _CACHED)
def likeness(word: str, asked: str) -> float:
    """Score a name's word against a question's word.

    The score is 0..1: 1 for the same word and for its inflections (`route`, `routes`; `serialize`,
    `serialization`), less where one begins with the other (`config`, `configuration`) or the name's
    word is part of a compound (`routergroup`).
    """
    if word == asked:
        return 1.0
    short, long = sorted((word, asked), key=len)
    shared = _shared_beginning(short, long)
    rests = {short[shared:], long[shared:]} - {""}
    least = _LEAST_PLURAL if rests == {"s"} else _LEAST_SHARED
    if shared >= least and all(map(_ENDING.fullmatch, rests)):
        return 1.0
    if shared == len(short) >= _LEAST_SHARED:
        return _PART_OF_WORD
    if len(asked) >= _LEAST_SHARED and asked in word:
        return _PART_OF_WORD * len(asked) / len(word)
    return 0.0


@lru_cache(4 * _CACHED)
def closest(word: str, asked: tuple[str, ...]) -> float:
    """Return a word's `likeness` to the nearest question word, 0..1."""
    return max((likeness(word, each) for each in asked), default=0.0)


def _shared_beginning(short: str, long: str) -> int:
    for place, letter in enumerate(short):
        if letter != long[place]:
            return place
    return len(short)
