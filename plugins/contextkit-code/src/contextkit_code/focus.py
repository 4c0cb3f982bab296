"""Focus of a query: its words and stack frame lines."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from attrs import frozen

from contextkit.text import STOP_WORDS, TALK, VERBS, base_form
from contextkit_code.ranking.mentions import mentions_in
from contextkit_code.ranking.question import ask
from contextkit_code.ranking.words import likeness, words_of

_MOST_CHARACTERS = 4_000
"""Characters of a query that are read.

A longer one states its subject first.
"""

_MOST_WORDS = 60
_LIKE = 0.8
_SHARED = 3
"""Fewest first letters that two inflections of a word share."""

_VERB_WEIGHT = 0.5
_NAME_WEIGHT = 2.0
"""Weight of a name that the query gives in full, such as `NO_COLOR`."""

_KNOWN_WORTH = 0.3
"""Weight of a word that a better text already has."""

_ASKS_FOR_CODE = """
break class classes code codebase def define defined defines file files function functions handle
handled handles handling implement implementation implemented implements import located method
methods module modules none null return returned returns self true false type value values
"""
_SAYS_NOTHING = STOP_WORDS | (TALK - VERBS) | frozenset(_ASKS_FOR_CODE.split())
"""Ignored words: requests for code, ubiquitous words, small talk."""

_VERBS = {verb[:_SHARED]: [v for v in VERBS if v[:_SHARED] == verb[:_SHARED]] for verb in VERBS}
"""Verbs by their first letters."""


@frozen
class Focus:
    """The parts of a query needed to show a unit.

    Attributes:
        words: its words -> weight, over 0 and up to 1.
        names: the names in it that can be nothing else.
        frames: the locations in its stack trace: (path with `/`, line).
        is_about_use: whether it asks how to use something.
    """

    words: Mapping[str, float]
    names: frozenset[str]
    frames: Sequence[tuple[str, int]]
    is_about_use: bool

    @classmethod
    def of(cls, query: str) -> Focus:
        """Parse a query.

        The last few are cached, as one query shortens many units.
        """
        return _focus(query)

    def lines_in(self, path: str) -> list[int]:
        """Return a file's lines named by the stack trace."""
        return [line for frame, line in self.frames if _is_same_file(frame, path)]

    def worths(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """Score the query's words and names in each text: word -> worth.

        One that many texts have is worth less.
        """
        by_beginning: dict[str, list[str]] = {}
        for word in self.words:
            by_beginning.setdefault(word[:_SHARED], []).append(word)
        matched = []
        for text in texts:
            own = {name for name in self.names if name in text}
            for word in map(base_form, words_of(text)):
                for asked in by_beginning.get(word[:_SHARED], ()):
                    if likeness(word, asked) >= _LIKE:
                        own.add(asked)
            matched.append(own)
        having = Counter(word for own in matched for word in own)
        number = len(texts)
        return [
            {
                word: self.words.get(word, _NAME_WEIGHT) * math.log1p(number / having[word])
                for word in sorted(own)
            }
            for own in matched
        ]


@lru_cache(maxsize=8)
def _focus(query: str) -> Focus:
    question = ask(query[:_MOST_CHARACTERS])
    asked = [word for word in question.words if word not in _SAYS_NOTHING]
    named = {base_form(part) for name in question.names for part in words_of(name)}
    words = {
        word: _VERB_WEIGHT if _is_verb(word) and word not in named else 1.0
        for word in asked[:_MOST_WORDS]
    }
    frames = [
        (f"{mention.text}.{mention.ending}", mention.line)
        for mention in mentions_in(query)
        if mention.line
    ]
    return Focus(words, question.names, tuple(frames), "use" in question.asks_for)


def _is_verb(word: str) -> bool:
    return any(likeness(word, verb) == 1.0 for verb in _VERBS.get(word[:_SHARED], ()))


def _is_same_file(frame: str, path: str) -> bool:
    """Compare two paths by name and, where given, by folder."""
    return all(
        one == other
        for one, other, _ in zip(
            reversed(frame.split("/")), reversed(path.split("/")), range(2), strict=False
        )
    )


def best_first(
    worths: Sequence[Mapping[str, float]], weights: Sequence[float]
) -> Iterator[tuple[float, int]]:
    """Yield worth and place of matches, best first; words of a better match count less."""
    known: set[str] = set()

    def worth(place: int) -> float:
        own = worths[place]
        return weights[place] * sum(
            value * (_KNOWN_WORTH if word in known else 1.0) for word, value in own.items()
        )

    heap = [(-worth(place), place) for place, own in enumerate(worths) if own and weights[place]]
    heapq.heapify(heap)
    while heap:
        _, place = heapq.heappop(heap)
        now = (-worth(place), place)
        if heap and now > heap[0]:
            heapq.heappush(heap, now)
            continue
        known.update(worths[place])
        yield -now[0], place
