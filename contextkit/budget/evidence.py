"""Measure how much of a question each item answers.

A source's own relevance orders its items, but is not comparable between sources: the six-word
subject of a commit that shares two words with a question scores about as high as the function
that answers it. Evidence is comparable: it is the share of the question's subject words that an
item has, weighted by how rare each word is in all results. An item's length does not matter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from attrs import field, frozen

from contextkit.models.candidate import Candidate
from contextkit.models.items import ContextItem
from contextkit.text.languages.read import is_unspaced
from contextkit.text.questions import subject_words

_BEST = 3
"""A section's evidence is the mean of this many best items; one alone may be chance."""


def coverage_of(query: str, candidates: Sequence[Candidate]) -> list[float]:
    """Compute each candidate's share of the query's subject, 0..1.

    Args:
        query: the query.
        candidates: all its results; words that few of them have count more.
    """
    texts = [text_of(candidate.item) for candidate in candidates]
    lowered = [text.lower() for text in texts]
    columns = [word.in_each(texts, lowered) for word in words_of(query)]
    rarity = [_rarity(sum(column), len(texts)) for column in columns]
    whole = math.fsum(rarity)
    if not whole:
        return [0.0] * len(texts)
    return [
        math.fsum([value for value, has in zip(rarity, row, strict=True) if has]) / whole
        for row in zip(*columns, strict=True)
    ]


def words_of(query: str) -> list[Word]:
    """Return the words that a query is about."""
    return [Word.of(*stems) for stems in subject_words(query)]


def words_in(words: Sequence[Word], item: ContextItem) -> int:
    """Count the words that an item has."""
    return words_in_text(words, text_of(item))


def words_in_text(words: Sequence[Word], text: str) -> int:
    """Count the words that a text has."""
    lowered = text.lower()
    return sum(word.is_in(text, lowered) for word in words)


def text_of(item: ContextItem) -> str:
    """Join an item's texts in which words are searched."""
    return f"{item.title} {item.location} {item.own_text}"


@frozen
class Word:
    """A word that matches the beginnings of words or name parts.

    `cat` matches `cats`, `black_cat` and `blackCat`, but not `location`. A word of a script without
    spaces matches anywhere.

    Attributes:
        stems: its beginnings in lower case, with those of its synonyms.
        pattern: matches it where only some of its beginnings do, or None.
    """

    stems: tuple[str, ...]
    pattern: re.Pattern[str] | None = None
    _beginnings: tuple[_Beginning, ...] = field(init=False, repr=False)

    @_beginnings.default
    def _make_beginnings(self) -> tuple[_Beginning, ...]:
        return tuple(map(_Beginning, self.stems))

    @classmethod
    def of(cls, *stems: str) -> Word:
        return cls(stems)

    @classmethod
    def whole(cls, word: str) -> Word:
        """A word that only a plural ending may follow."""
        return cls((word,), re.compile(rf"(?:{_beginning(word)})s?(?![a-z])"))

    def is_in(self, text: str, lowered: str) -> bool:
        """Whether a text has the word.

        `lowered` is the text in lower case.
        """
        for beginning in self._beginnings:
            if beginning.stem in lowered and beginning.is_in(text):
                return self.pattern is None or self.pattern.search(text) is not None
        return False

    def in_each(self, texts: Sequence[str], lowered: Sequence[str]) -> list[bool]:
        """Whether each of several texts has the word."""
        pairs = zip(texts, lowered, strict=True)
        if len(self._beginnings) > 1 or self.pattern is not None:
            return [self.is_in(*pair) for pair in pairs]
        # A question asks for each of its words in a hundred texts, and few have it.
        [beginning] = self._beginnings
        stem, is_in = beginning.stem, beginning.is_in
        return [stem in low and is_in(text) for text, low in pairs]


class _Beginning:
    """A beginning of words.

    A question's words are new each time, and compiling patterns of them would take longer than
    searching a hundred texts.
    """

    __slots__ = ("_anywhere", "_capital", "_spaced", "_upper", "stem")

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self._anywhere = is_unspaced(stem)
        self._capital = stem.capitalize()
        self._upper = stem.upper()
        self._spaced = f" {stem}"

    def is_in(self, text: str) -> bool:
        """Whether a word or a part of a name begins with it."""
        if self._anywhere:
            return self.stem in text
        # Most words stand behind a space.
        if self._spaced in text or self._capital in text:
            return True
        return _begins(text, self.stem) or (self._upper != self.stem and _begins(text, self._upper))


def _begins(text: str, word: str) -> bool:
    """Whether a word is somewhere in a text with no letter before it."""
    at = text.find(word)
    while at > 0 and (before := text[at - 1]).isalnum() and not before.isdecimal():
        at = text.find(word, at + 1)
    return at >= 0


def _beginning(stem: str) -> str:
    if is_unspaced(stem):
        return re.escape(stem)
    own, capital, upper = map(re.escape, (stem, stem.capitalize(), stem.upper()))
    return rf"(?<![^\W\d_])(?:{own}|{upper})|{capital}"


def _rarity(having: int, texts: int) -> float:
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def evidence_of(coverages: Sequence[float]) -> float:
    """Compute a section's evidence from its items' coverage, 0..1."""
    best = sorted(coverages, reverse=True)[:_BEST]
    return math.fsum(best) / len(best) if best else 0.0
