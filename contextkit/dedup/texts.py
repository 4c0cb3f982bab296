"""Find the kept text that another text duplicates."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from contextkit.dedup.guard import Guarded
from contextkit.dedup.near import NearTexts
from contextkit.dedup.normal import clauses, is_rotation, normal_text, shortened
from contextkit.text.derived import cached_by_length

_LONGEST = 10_000
"""Maximum length of texts that are compared. A longer one would not fit into a context, and
comparing takes quadratic time."""

_MOST_CHARACTERS = 3_000_000
"""Maximum total length of compared texts; beyond it the longest are not compared."""

_MOST_GUARDED = 2 * 10**7
"""Maximum total length of aligned pairs; further texts do not count as duplicates."""

_END = 12
"""Characters at both ends that show whether texts may differ by one word."""


class KeptTexts:
    """The texts kept so far, searchable for duplicates.

    Texts of over 10,000 characters, and the longest ones of over three million together, are only
    duplicates of texts that differ in case and white space alone.

    Args:
        texts: the texts, best first, referred to by position.
        threshold: the ratio from which two texts are near duplicates; at 1 their normal forms
            must be equal.
    """

    def __init__(self, texts: Sequence[str], threshold: float) -> None:
        self._texts = texts
        self._guarded: dict[int, Guarded] = {}
        longest = _longest_compared(texts)
        self._copies = {p: _copy_key(text) for p, text in enumerate(texts) if len(text) > longest}
        self._normal = [
            "" if position in self._copies else normal_text(text)
            for position, text in enumerate(texts)
        ]
        self._by_copy: dict[bytes, int] = {}
        self._work = 0
        self._by_text: dict[str, list[int]] = {}
        self._by_rest: dict[str, list[int]] = {}
        self._by_characters: dict[int, list[int]] = {}
        self._near = NearTexts(self._normal, threshold) if threshold < 1 else None
        self._rests = _rests(self._normal) if self._near else []
        self._alone = self._without_relatives()

    def add(self, position: int) -> None:
        """Keep a text."""
        if position in self._alone:
            return
        if position in self._copies:
            self._by_copy.setdefault(self._copies[position], position)
            return
        text = self._normal[position]
        self._by_text.setdefault(text, []).append(position)
        if self._near is None:
            return
        for rest in self._rests[position]:
            self._by_rest.setdefault(rest, []).append(position)
        characters = self._near.characters(position)
        self._by_characters.setdefault(characters, []).append(position)
        self._near.keep(position)

    def find(self, position: int) -> tuple[int, str] | None:
        """Find the kept text that a text duplicates."""
        if position in self._alone:
            return None
        if position in self._copies:
            winner = self._by_copy.get(self._copies[position])
            return None if winner is None else (winner, "same text")
        if not self._normal[position]:
            return None
        return next(self._matches(position), None)

    def _without_relatives(self) -> set[int]:
        """The texts that cannot have a duplicate, usually most."""
        if self._near is None:
            return set()
        rests = {rest for own in self._rests for rest in own}
        return {
            position
            for position, text in enumerate(self._normal)
            if position not in self._copies
            and self._near.is_alone(position)
            and not self._rests[position]
            and text not in rests
        }

    def _matches(self, position: int) -> Iterator[tuple[int, str]]:
        for winner in self._affordable(position, self._by_text.get(self._normal[position], ())):
            if not self._guarded_at(position).reorders(self._guarded_at(winner)):
                yield winner, "same text"
        if self._near is None:
            return
        characters = self._near.characters(position)
        for winner in self._affordable(position, self._by_characters.get(characters, ())):
            if self._is_permutation(position, winner):
                yield winner, "same clauses in another order"
        for winner in self._affordable(position, self._with_a_few_words_more(position)):
            if not self._contradicts(position, winner):
                yield winner, "same text but for a prefix or a word"
        for winner, ratio in self._near.find(position):
            if not self._can_afford(position, winner):
                return
            if not self._contradicts(position, winner):
                yield winner, f"{ratio:.0f}% alike"

    def _contradicts(self, position: int, winner: int) -> bool:
        return self._guarded_at(position).contradicts(self._guarded_at(winner))

    def _affordable(self, position: int, winners: Iterable[int]) -> Iterator[int]:
        """Yield winners until the limit of work is reached."""
        return takewhile(lambda winner: self._can_afford(position, winner), winners)

    def _can_afford(self, position: int, winner: int) -> bool:
        self._work += len(self._normal[position]) + len(self._normal[winner])
        return self._work <= _MOST_GUARDED

    def _guarded_at(self, position: int) -> Guarded:
        """Prepare a text for comparison; most texts never need it."""
        if position not in self._guarded:
            self._guarded[position] = _guarded(self._texts[position])
        return self._guarded[position]

    def _is_permutation(self, position: int, winner: int) -> bool:
        one, other = self._guarded_at(position), self._guarded_at(winner)
        return (
            is_rotation(self._normal[position], self._normal[winner])
            or clauses(one.text) == clauses(other.text)
        ) and not one.reorders(other)

    def _with_a_few_words_more(self, position: int) -> Iterable[int]:
        """Kept texts that differ by one word, best first."""
        found = set(self._by_rest.get(self._normal[position], ()))
        for rest in self._rests[position]:
            found.update(self._by_text.get(rest, ()))
        return sorted(found)


# The near copies in a store are found together by many questions.
_guarded = cached_by_length({2_000: 512})(Guarded)


def _rests(texts: Sequence[str]) -> list[list[str]]:
    """List shortened forms of each text that are other texts."""
    known = {text for text in texts if text}
    if not known:
        return [[] for _ in texts]
    # Unless it is very short, such a text begins or ends like the whole one.
    heads, tails = (Counter(ends) for ends in zip(*map(_ends, known), strict=True))
    lengths = {len(text) for text in known}
    shortest = min(lengths)
    return [
        [rest for rest in shortened(text, lengths) if rest in known]
        if shortest < 2 * _END or heads[head] > 1 or tails[tail] > 1
        else []
        for text, (head, tail) in zip(texts, map(_ends, texts), strict=True)
    ]


def _longest_compared(texts: Sequence[str]) -> int:
    """The length up to which texts are compared."""
    room = _MOST_CHARACTERS
    for length in sorted(map(len, texts)):
        room -= length
        if length > _LONGEST or room < 0:
            return min(length - 1, _LONGEST)
    return _LONGEST


def _copy_key(text: str) -> bytes:
    """A key of a text without case and white space."""
    folded = " ".join(text.lower().split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).digest()


def _ends(text: str) -> tuple[str, str]:
    return text[:_END], text[-_END:]
