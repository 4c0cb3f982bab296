"""Split names and questions into words, and compare them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from contextkit.text import TALK, base_form

# The parts of camelCase, of ALLCaps before a word, digits, and words of other scripts.
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")

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
_LEAST_LETTERS = 5
_LONG_LETTERS = 8
_STEM = 5
_MOST_WORDS = 8
_LEAST_READ = 3
_LEAST_SHARE = 0.6
"""Share of words that must be near a name.

Of any three words one is, by chance.
"""


@lru_cache(_CACHED)
def words_of(text: str) -> tuple[str, ...]:
    """Split a text into lower-case words, each once.

    Identifiers and paths are split into their parts.
    """
    return tuple(dict.fromkeys(part.lower() for part in PART.findall(text)))


@lru_cache(4 * _CACHED)
def likeness(word: str, asked: str) -> float:
    """Score a name's word against a question's word.

    The score is 0..1: 1 for the same word and for its inflections (`route`, `routes`; `serialize`,
    `serialization`; `write`, `written`), less where one begins with the other (`config`,
    `configuration`) or the name's word is part of a compound (`routergroup`).
    """
    word, asked = base_form(word), base_form(asked)
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
    word = base_form(word)
    if word in asked:
        return 1.0
    # Of a long question, few words share a beginning with a name or are within it.
    alike = [*_by_beginning(asked).get(word[:_LEAST_PLURAL], ())]
    alike += [each for each in asked if each in word]
    return max((likeness(word, each) for each in alike), default=0.0)


@lru_cache(8)
def _by_beginning(asked: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in asked:
        found.setdefault(word[:_LEAST_PLURAL], []).append(word)
    return found


def _shared_beginning(short: str, long: str) -> int:
    for place, letter in enumerate(short):
        if letter != long[place]:
            return place
    return len(short)


def hits_a_word(words: Sequence[str], texts: Iterable[str]) -> bool:
    """Return whether a text has, or similarly begins, a word."""
    stems = {word[:_STEM] for word in words}
    return any(stem in text.lower() for text in texts for stem in stems)


def names_in(outlines: Iterable[str]) -> set[str]:
    """Collect the outlines' names, lower-cased, whole and in parts."""
    names: set[str] = set()
    for outline in outlines:
        for line in outline.splitlines():
            if " " not in line:
                names.add(line.rpartition(".")[2].lower())
                names.update(words_of(line))
    return names


def may_be_misspelled(words: Sequence[str]) -> bool:
    """Return whether `near_names` can find anything for the words: one is long enough."""
    return any(len(word) >= _LEAST_LETTERS and word not in TALK for word in words)


def near_names(words: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return the names nearest to the words.

    One letter of a short word may be wrong, two of a long one: `jsonfy` means `jsonify`. A compound
    means the name that it ends or begins with: `Sitzungscookie` means `cookie`. The result is empty
    where no name is near, or few of the words are near any name: the question then has another
    subject.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    known = sorted(name for name in names if len(name) >= _LEAST_LETTERS)
    found: list[str] = []
    compound = False
    meant = [word for word in words if word not in TALK and len(word) > _LEAST_READ][:_MOST_WORDS]
    for word in meant:
        if len(word) < _LEAST_LETTERS:
            continue
        wrong = 1 if len(word) < _LONG_LETTERS else 2
        near = process.extractOne(word, known, scorer=OSA.distance, score_cutoff=wrong)
        parts = [name for name in known if word.endswith(name) or word.startswith(name)]
        if near is not None:
            found.append(near[0])
        elif parts:
            found.append(max(parts, key=len))
            compound = True
    return found if compound or len(found) >= _LEAST_SHARE * len(meant) else []
