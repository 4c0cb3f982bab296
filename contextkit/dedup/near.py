"""Near duplicates: the ratio of two texts, computed only where it can reach the threshold.

The ratio of two texts of `a` and `b` characters is `1 - d / (a + b)`, where `d`, the Indel
distance, is the least number of characters to insert and delete to make one of the other.
So at a threshold `t` a pair qualifies only with `d <= (1 - t) * (a + b)`. A value that is never
above `d` may therefore be tested in its place, and misses nothing. Three such bounds, far cheaper
than the ratio, are added up here:

1. A map of characters to classes: if it maps every character of both texts, the same
   edits make one image of the other, so the images' distance is at most `d`. Here the
   class is the code point's lowest byte. Two characters that share it can only make the
   bound looser, never wrong, so this holds for all of Unicode, lone surrogates included.
2. Leaving out all characters of some classes: an edit of a character that is left out is
   none of the rest, so every edit counts towards the part that its class is in. For a
   split of the classes into F and the others, `d >= d(F) + d(others)`, where each is the
   distance of what is left of the two texts.
3. How often a class occurs: an edit changes one class's number by one, so the distance of
   two texts is at least the sum of the differences of these numbers.

The rarest classes, few and telling, are put into four groups F1..F4 of at most a dozenth
of all characters each. A group leaves so little of a text that its distance is computed,
exactly, in a hundredth of the time of the whole text's; the other, frequent classes are
bounded by 3. So `d >= d(F1) + ... + d(F4) + difference(others)`. Few unrelated texts pass
(one in five hundred of the same two hundred words in any order), where 3 alone lets
through a half.

Texts about different things need none of that: with each group's characters counted in sum,
3 leaves one pair in twenty, and with each class by itself, one in several thousand. So the
distances of groups are computed only where too many pairs are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

_CLASSES = 256
_GROUPS = 4
# Up to 64 characters, several distances are computed at once: a group should leave less of
# most texts, yet be no smaller than what tells texts apart.
_GROUP_CHARACTERS = 45
_LEAST_SHARE, _LARGEST_SHARE = 1 / 14, 1 / 5
# Classes in no group that are counted one by one; the rest are counted in sum.
_COUNTED = 24
_ROWS = 128
# Of all pairs, so many are compared class by class in less time than a group's distances
# take for all.
_FEW = 1 / 8
# So many pairs to a text are not worth a group's distances.
_ENOUGH = 2
# Characters that are counted at once: what counting takes is 60 times as large.
_BLOCK = 500_000
# A computed ratio of exactly the threshold may come out a hair below it.
_ROUNDING = 1e-6
# Its powers spread over 64 bits.
_ODD = 0x9E3779B97F4A7C15

_Integers = NDArray[np.int32]
_Counts = NDArray[np.int16]
_Positions = NDArray[np.intp]


class Sketch:
    """What the bounds need of some texts, which differ from each other.

    Attributes:
        characters: per text a number; texts with the same characters as often share it.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # Sorted by length, the texts that a text can be like are next to it.
        self._order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        texts = [texts[position] for position in self._order]
        self._lengths: _Integers = np.array([len(text) for text in texts], np.int32)
        self._classes, numbers, digits = _counted(texts)
        totals = numbers.sum(axis=0)
        self._groups, others = _grouped(totals, float(np.median(self._lengths)) if texts else 0)
        self._group_sizes = [numbers[:, group].sum(axis=1) for group in self._groups]
        single, rest = others[:_COUNTED], others[_COUNTED:]
        self._grouped = [_capped(sizes) for sizes in self._group_sizes]
        self._others = [_capped(column) for column in numbers[:, single].T]
        self._others.append(_capped(numbers[:, rest].sum(axis=1)))
        self._numbers = _capped(numbers[:, np.flatnonzero(totals)])
        self._digits = _hashed(digits)
        characters = np.empty(len(texts), np.uint64)
        characters[self._order] = _hashed(numbers)
        self.characters: list[int] = characters.tolist()

    @cached_property
    def _pieces(self) -> list[list[bytes]]:
        """What each text has of each group's classes, in order."""
        return [
            _split(
                self._classes.translate(None, bytes(set(range(_CLASSES)) - set(group.tolist()))),
                sizes,
            )
            for group, sizes in zip(self._groups, self._group_sizes, strict=True)
        ]

    def similar_pairs(self, threshold: float) -> tuple[_Positions, _Positions]:
        """Every pair whose ratio can reach `threshold`, and few others.

        Pairs that do not have every digit as often are left out: they differ in a number.

        Args:
            threshold: the ratio, 0..1.

        Returns:
            The positions of the one and of the other texts.
        """
        starts = range(0, len(self._order), _ROWS)
        blocks = [self._pairs_from(start, threshold) for start in starts]
        order = np.array(self._order, np.intp)
        none = np.empty(0, np.intp)
        one = np.concatenate([none, *(rows for rows, _ in blocks)])
        other = np.concatenate([none, *(columns for _, columns in blocks)])
        return order[one], order[other]

    def _pairs_from(self, start: int, threshold: float) -> tuple[_Positions, _Positions]:
        """The pairs of one block of rows with themselves and with all longer texts."""
        stop = min(start + _ROWS, len(self._order))
        longest = self._lengths[stop - 1] * (2 - threshold) / max(threshold, 1e-9) + 1
        end = int(np.searchsorted(self._lengths, longest, side="right"))
        rows, columns = slice(start, stop), slice(start, end)
        both = self._lengths[rows, None] + self._lengths[None, columns]
        allowed = ((1 - threshold) * both + _ROUNDING).astype(np.int32)
        bound = np.zeros(both.shape, np.int32)
        for counts in (*self._others, *self._grouped):
            bound += _differences(counts, rows, columns)
        alike = self._digits[rows, None] == self._digits[None, columns]
        alike &= np.arange(stop - start)[:, None] < np.arange(end - start)
        possible = alike & (bound <= allowed)
        if np.count_nonzero(possible) <= _FEW * possible.size:
            one, other = np.nonzero(possible)
            differences = np.abs(self._numbers[rows][one] - self._numbers[columns][other])
            possible[one, other] = differences.sum(axis=1, dtype=np.int32) <= allowed[one, other]
        for place, counts in enumerate(self._grouped):
            if np.count_nonzero(possible) <= _ENOUGH * (stop - start):
                break
            pieces = self._pieces[place]
            bound += cdist(
                pieces[rows], pieces[columns], scorer=Indel.distance, dtype=np.int32, workers=1
            )
            bound -= _differences(counts, rows, columns)
            possible &= bound <= allowed
        found, others = np.nonzero(possible)
        return found + start, others + start


def _counted(texts: Sequence[str]) -> tuple[bytes, _Positions, _Positions]:
    """The classes of all characters, joined, and how often each text has each class and digit."""
    classes = bytearray()
    numbers, digits = [], []
    for block in _blocks(texts):
        encoded = "".join(block).encode("utf-32-le", "surrogatepass")
        own = np.frombuffer(encoded, np.uint8)[::4]
        owners = np.repeat(np.arange(len(block), dtype=np.intp), [len(text) for text in block])
        codes = np.frombuffer(encoded, "<u4") - ord("0")
        is_digit = codes < 10
        classes += own.tobytes()
        numbers.append(_numbers(owners, own, len(block), _CLASSES))
        digits.append(_numbers(owners[is_digit], codes[is_digit], len(block), 10))
    none = np.empty((0, _CLASSES), np.intp), np.empty((0, 10), np.intp)
    return bytes(classes), np.concatenate([none[0], *numbers]), np.concatenate([none[1], *digits])


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Texts next to each other, of so many characters together, or one that has more."""
    first = characters = 0
    for position, text in enumerate(texts):
        if characters and characters + len(text) > _BLOCK:
            yield texts[first:position]
            first, characters = position, 0
        characters += len(text)
    if texts:
        yield texts[first:]


def _numbers(owners: _Positions, kinds: NDArray[Any], texts: int, of: int) -> _Positions:
    """How often each text has each kind, one row per text."""
    return np.bincount(owners * of + kinds, minlength=texts * of).reshape(texts, of)


def _grouped(totals: _Positions, length: float) -> tuple[list[_Positions], _Positions]:
    """The rarest classes in groups, and the classes in no group, most frequent first."""
    share = min(max(_GROUP_CHARACTERS / max(length, 1), _LEAST_SHARE), _LARGEST_SHARE)
    often = totals.tolist()
    room = share * sum(often)
    groups: list[list[int]] = [[]]
    filled = 0
    rarest = [number for number in np.argsort(totals, kind="stable").tolist() if often[number]]
    taken = 0
    for number in rarest:
        if groups[-1] and filled + often[number] > room:
            if len(groups) == _GROUPS:
                break
            groups.append([])
            filled = 0
        if often[number] > room:
            break
        groups[-1].append(number)
        filled += often[number]
        taken += 1
    return [np.array(group, np.intp) for group in groups if group], np.array(
        rarest[taken:][::-1], np.intp
    )


def _split(joined: bytes, sizes: _Positions) -> list[bytes]:
    ends = [0, *np.cumsum(sizes).tolist()]
    return [joined[first:last] for first, last in pairwise(ends)]


def _capped(numbers: _Positions) -> _Counts:
    # Capping a number can only bring two of them closer.
    return np.ascontiguousarray(np.minimum(numbers, 2**14).astype(np.int16))


def _differences(counts: _Counts, rows: slice, columns: slice) -> _Counts:
    differences: _Counts = np.abs(counts[rows, None] - counts[None, columns])
    return differences


def _hashed(numbers: _Positions) -> NDArray[np.uint64]:
    """One number for each row."""
    factors = np.cumprod(np.full(numbers.shape[1], _ODD, np.uint64), dtype=np.uint64)
    hashed: NDArray[np.uint64] = numbers.view(np.uint64) @ factors
    return hashed


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
