"""Find the names that a query mentions.

They may be whole words in any case, identifiers, dotted names or paths.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import islice

from attrs import frozen

from contextkit_entities.words import KEY_WORDS, identifier_words

_MOST_WORDS = 120
_MOST_CHARACTERS = 10_000
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?:^|[.!?:]\s+|\n)\W*$")
_OF_MODULES = re.compile(
    r"\b(?:import|us(?:e|es|ed|ing)\b|depend|install|upgrade|version|module|package|librar)",
    re.IGNORECASE,
)

_Span = tuple[int, int]


@frozen
class Mentions:
    """The names that a query may mention.

    Attributes:
        spans: each possible key of a name -> its positions, in words from the first.
        as_code: identifiers that are written as such: in backticks, before a parenthesis, or with a
            capital within a sentence.
        of_modules: whether the query speaks of using, importing or installing something.
    """

    spans: Mapping[str, tuple[_Span, ...]]
    as_code: frozenset[str]
    of_modules: bool

    @property
    def keys(self) -> list[str]:
        """Return the lookup keys."""
        return list(self.spans)

    def longest(self, keys: Iterable[str]) -> frozenset[str]:
        """Return the keys that occur outside of a longer one.

        A query with `contextkit/tokens/counters.py` does not mean another `tokens.py`.
        """
        found = {key: self.spans[key] for key in keys if key in self.spans}
        every = {span for spans in found.values() for span in spans}
        return frozenset(
            key
            for key, spans in found.items()
            if not all(any(_within(span, other) for other in every) for span in spans)
        )


def mentions_in(query: str) -> Mentions:
    """Return the possible mentions in a query.

    These are runs of up to eight of its first 120 words.
    """
    text = unicodedata.normalize("NFKC", query[:_MOST_CHARACTERS])
    words = list(islice(_WORD.finditer(text), _MOST_WORDS))
    folded = [word[0].casefold() for word in words]
    spans: dict[str, list[_Span]] = {}
    for first in range(len(words)):
        for last in range(first, min(first + KEY_WORDS, len(words))):
            spans.setdefault(" ".join(folded[first : last + 1]), []).append((first, last))
        if parts := identifier_words(words[first][0]):
            spans.setdefault(parts, []).append((first, first))
    as_code = frozenset(word[0] for word in words if _is_code(word))
    return Mentions(
        {key: tuple(found) for key, found in spans.items()}, as_code, bool(_OF_MODULES.search(text))
    )


def _within(span: _Span, other: _Span) -> bool:
    return other[0] <= span[0] and span[1] <= other[1] and span != other


def _is_code(word: re.Match[str]) -> bool:
    before = word.string[max(0, word.start() - 20) : word.start()]
    after = word.string[word.end() : word.end() + 1]
    if after == "(" or (before.endswith("`") and after == "`"):
        return True
    return word[0][:1].isupper() and not _SENTENCE_END.search(before)
