"""Near duplicates: the ratio of two texts, computed only where it can reach the threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from rapidfuzz import fuzz

from contextkit.dedup.candidates import Sketch

__all__ = ["NearTexts"]

_MOST_WORK = 10**10
"""Characters of one text times those of the other, of all ratios together: some tenths of a
second. Texts of few words in any order, such as logs, would take minutes."""


class NearTexts:
    """Texts, the kept ones of which can be asked for those like another.

    What it takes is bounded: of long texts only the first pairs to be asked about are compared.

    Args:
        texts: normal texts, spoken of by position; equal ones are never asked about.
        threshold: the least ratio of near duplicates, 0..1.
    """

    def __init__(self, texts: Sequence[str], threshold: float) -> None:
        numbers: dict[str, int] = {}
        self._number = [numbers.setdefault(text, len(numbers)) for text in texts]
        self._texts = list(numbers)
        self._least = 100 * threshold
        sketch = Sketch(self._texts)
        self._characters = sketch.characters
        self._uses = Counter(self._number)
        self._sharing = Counter(self._characters)
        one, other = sketch.similar_pairs(threshold)
        froms, tos = np.concatenate([one, other]), np.concatenate([other, one])
        order = np.argsort(froms, kind="stable")
        self._neighbours = tos[order]
        bounds = np.searchsorted(froms[order], np.arange(len(self._texts) + 1))
        self._first: list[int] = bounds.tolist()
        self._is_kept = np.zeros(len(self._texts), bool)
        self._kept: dict[int, list[int]] = {}
        self._work = 0

    def is_alone(self, position: int) -> bool:
        """Whether no other text equals it, is like it or has the same characters."""
        number = self._number[position]
        return (
            self._first[number] == self._first[number + 1]
            and self._uses[number] == 1
            and self._sharing[self._characters[number]] == 1
        )

    def characters(self, position: int) -> int:
        """A number that two texts share that have the same characters as often."""
        return self._characters[self._number[position]]

    def keep(self, position: int) -> None:
        """Make a text one that is found."""
        number = self._number[position]
        self._is_kept[number] = True
        self._kept.setdefault(number, []).append(position)

    def find(self, position: int) -> Iterator[tuple[int, float]]:
        """Kept texts whose ratio reaches the threshold, in order, with the ratio in percent."""
        number = self._number[position]
        first, last = self._first[number : number + 2]
        if first == last:
            return
        neighbours = self._neighbours[first:last]
        numbers = neighbours[self._is_kept[neighbours]].tolist()
        if not numbers:
            return
        found = sorted(kept for other in numbers for kept in self._kept[other])
        text = self._texts[number]
        for kept in found:
            other = self._texts[self._number[kept]]
            work = len(text) * len(other)
            if self._work + work > _MOST_WORK:
                continue
            self._work += work
            ratio = fuzz.ratio(text, other, score_cutoff=self._least)
            # What is below the cutoff comes out as 0.
            if ratio:
                yield kept, ratio
