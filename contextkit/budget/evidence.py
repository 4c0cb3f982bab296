"""How much of a question each item answers, by one measure for every source.

A source's own relevance says how its items compare with each other. It does not say how they
compare with another source's: a commit's subject of six words that shares two with a question
scores about as high as the function that answers it. Evidence does: it is the share of the
question's subject that an item has, and a word counts by how rare it is among everything that
was found, wherever it was found. An item's length does not matter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from attrs import frozen

from contextkit.models.candidate import Candidate
from contextkit.models.items import ContextItem
from contextkit.text.languages.read import is_unspaced
from contextkit.text.questions import subject_words

_BEST = 3
"""A section's evidence is the mean of so many of its items: one alone may be chance."""


def coverage_of(query: str, candidates: Sequence[Candidate]) -> list[float]:
    """Compute the share of the query's subject that each candidate has, 0..1.

    Args:
        query: the question.
        candidates: everything that was found for it; a word that few of them have counts more.
    """
    words = words_of(query)
    found = [_found(words, candidate.item) for candidate in candidates]
    rarity = [_rarity(sum(column), len(found)) for column in zip(*found, strict=True)]
    whole = math.fsum(rarity)
    if not whole:
        return [0.0] * len(found)
    return [
        math.fsum(value for value, has in zip(rarity, row, strict=True) if has) / whole
        for row in found
    ]


def words_of(query: str) -> list[Word]:
    """List the words that a query is about, ready to be looked for."""
    return [Word.of(*stems) for stems in subject_words(query)]


def words_in(words: Sequence[Word], item: ContextItem) -> int:
    """Count the words that an item has."""
    return sum(_found(words, item))


def text_of(item: ContextItem) -> str:
    """Join all of an item's own text in which words are looked for."""
    return f"{item.title} {item.location} {item.own_text}"


def _found(words: Sequence[Word], item: ContextItem) -> list[bool]:
    text = text_of(item)
    lowered = text.lower()
    return [word.is_in(text, lowered) for word in words]


@frozen
class Word:
    """A word, found where a word or a part of a name begins with one of its stems.

    `cat` is in `cats`, `black_cat` and `blackCat`, not in `location`. A word of a script
    without spaces is found anywhere.

    Attributes:
        stems: its beginnings in lower case; one, or those of the words that stand for it.
        pattern: finds any of them.
    """

    stems: tuple[str, ...]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, *stems: str) -> Word:
        return cls(stems, re.compile("|".join(map(_beginning, stems))))

    @classmethod
    def whole(cls, word: str) -> Word:
        """A word that nothing but a plural's ending may follow."""
        return cls((word,), re.compile(rf"(?:{_beginning(word)})s?(?![a-z])"))

    def is_in(self, text: str, lowered: str) -> bool:
        """Whether a text, given in its own and in lower case, has it."""
        has_letters = any(stem in lowered for stem in self.stems)
        return has_letters and self.pattern.search(text) is not None


def _beginning(stem: str) -> str:
    if is_unspaced(stem):
        return re.escape(stem)
    own, capital, upper = map(re.escape, (stem, stem.capitalize(), stem.upper()))
    return rf"(?<![^\W\d_])(?:{own}|{upper})|{capital}"


def _rarity(having: int, texts: int) -> float:
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def evidence_of(coverages: Sequence[float]) -> float:
    """Compute a section's evidence from the coverage of its items, 0..1."""
    best = sorted(coverages, reverse=True)[:_BEST]
    return math.fsum(best) / len(best) if best else 0.0
