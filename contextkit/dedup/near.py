"""Find near duplicates without comparing most pairs of texts.

The similarity ratio is only computed for pairs that can reach the threshold; a much cheaper
bound excludes the others.

The ratio of two texts of `a` and `b` characters is `1 - d / (a + b)`, where `d`, the Indel
distance, is the smallest number of insertions and deletions that turn one into the other. So at
a threshold `t` a pair qualifies only if `d <= (1 - t) * (a + b)`. Any lower bound of `d` can be
tested instead without missing a pair. Three such bounds are added up here:

1. Mapping characters to classes: the same edits turn the image of one text into the image of the
   other, so the distance of the images is at most `d`. The class is the lowest byte of the code
   point. Two characters in one class can only make the bound looser, never wrong, so this holds
   for all of Unicode, lone surrogates included.
2. Leaving out classes: an edit changes a character of either the classes F or the other ones. So
   for any split of the classes, `d >= d(F) + d(others)`, where each is the distance of what
   remains of the two texts.
3. Counting: an edit changes the number of one class by one, so the distance of two texts is at
   least the sum of the differences of these numbers.

The rarest classes, which distinguish texts best, form four groups F1..F4, each with at most a
twelfth of all characters. So little of a text is in a group that its exact distance takes a
hundredth of the whole text's; the other, frequent classes are bounded by 3. So
`d >= d(F1) + ... + d(F4) + difference(others)`. Few unrelated texts pass (one in five hundred of
texts with the same two hundred words in random order), while half of them pass 3 alone.

Texts on different subjects do not need the groups' distances: 3 leaves one pair in twenty if each
group is counted as a whole, and one in several thousand if each class is counted. So the
distances are only computed if too many pairs are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist, cpdist

_CLASSES = 256
_GROUPS = 4
# Up to 64 characters, several distances are computed at once: a group should have fewer
# characters of most texts, but enough to distinguish them.
_GROUP_CHARACTERS = 45
_LEAST_SHARE, _LARGEST_SHARE = 1 / 14, 1 / 5
# Classes outside of groups that are counted separately; the rest are counted together.
_COUNTED = 24
_ROWS = 128
# Comparing this share of all pairs class by class takes less time than computing a group's
# distances for all pairs.
_FEW = 1 / 8
# For so few pairs per text, a group's distances are not worthwhile.
_ENOUGH = 2
# Characters counted at once; counting takes 60 times as much memory.
_BLOCK = 500_000
# Tolerance for a computed ratio of exactly the threshold.
_ROUNDING = 1e-6
# The powers of this number spread over 64 bits.
_ODD = 0x9E3779B97F4A7C15

_Integers = NDArray[np.int32]
_Counts = NDArray[np.int16]
_Positions = NDArray[np.intp]

_MOST_WORK = 10**10
"""Limit for the sum of the products of both lengths over all ratios: some tenths of a second.
Texts of few words in random order, such as logs, would take minutes."""

_LITTLE_WORK = 10**8
"""Some milliseconds. For less, the ratios of all pairs are computed at once, so that most texts
turn out to have no similar ones at all; for more, only those with kept texts are."""


class Sketch:
    """The data of different texts that the bounds need.

    Attributes:
        characters: a number per text, equal for texts with the same characters in any order.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # Sorted by length, so that texts of similar length are neighbours.
        self._order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        texts = [texts[position] for position in self._order]
        self._lengths: _Integers = np.array([len(text) for text in texts], np.int32)
        self._classes, numbers, digits = _counted(texts)
        self._totals = numbers.sum(axis=0)
        self._of_all = numbers
        self._numbers = _capped(numbers[:, np.flatnonzero(self._totals)])
        self._digits = _hashed(digits)
        characters = np.empty(len(texts), np.uint64)
        characters[self._order] = _hashed(numbers)
        self.characters: list[int] = characters.tolist()

    @cached_property
    def _split_classes(self) -> tuple[list[_Positions], _Positions]:
        """The groups, and the other classes."""
        return _grouped(self._totals, float(np.median(self._lengths)) if self._order else 0)

    @cached_property
    def _group_sizes(self) -> list[_Positions]:
        """Each text's number of characters of each group."""
        groups, _ = self._split_classes
        return [self._of_all[:, group].sum(axis=1) for group in groups]

    @cached_property
    def _grouped(self) -> list[_Counts]:
        return [_capped(sizes) for sizes in self._group_sizes]

    @cached_property
    def _others(self) -> list[_Counts]:
        """Each text's number of the most frequent classes, and of the rest."""
        _, others = self._split_classes
        single, rest = others[:_COUNTED], others[_COUNTED:]
        columns = [_capped(column) for column in self._of_all[:, single].T]
        return [*columns, _capped(self._of_all[:, rest].sum(axis=1))]

    @cached_property
    def _pieces(self) -> list[list[bytes]]:
        """Each text's characters that belong to each group, in order."""
        return [
            _split(
                self._classes.translate(None, bytes(set(range(_CLASSES)) - set(group.tolist()))),
                sizes,
            )
            for group, sizes in zip(self._split_classes[0], self._group_sizes, strict=True)
        ]

    def similar_pairs(self, threshold: float) -> tuple[_Positions, _Positions]:
        """Return every pair that can reach the threshold.

        Pairs that differ in the number of any digit are left out: they have different numbers.

        Args:
            threshold: the ratio, 0..1.

        Returns:
            The positions of the first and of the second texts.
        """
        starts = range(0, len(self._order), _ROWS)
        blocks = [self._pairs_from(start, threshold) for start in starts]
        order = np.array(self._order, np.intp)
        none = np.empty(0, np.intp)
        one = np.concatenate([none, *(rows for rows, _ in blocks)])
        other = np.concatenate([none, *(columns for _, columns in blocks)])
        return order[one], order[other]

    def _pairs_from(self, start: int, threshold: float) -> tuple[_Positions, _Positions]:
        """Compare a block of rows with itself and longer texts."""
        stop = min(start + _ROWS, len(self._order))
        longest = self._lengths[stop - 1] * (2 - threshold) / max(threshold, 1e-9) + 1
        end = int(np.searchsorted(self._lengths, longest, side="right"))
        rows, columns = slice(start, stop), slice(start, end)
        both = self._lengths[rows, None] + self._lengths[None, columns]
        allowed = ((1 - threshold) * both + _ROUNDING).astype(np.int32)
        possible = self._digits[rows, None] == self._digits[None, columns]
        possible &= np.arange(stop - start)[:, None] < np.arange(end - start)
        possible &= np.abs(self._lengths[rows, None] - self._lengths[None, columns]) <= allowed
        bound = None
        if not self._is_few(possible):
            bound = self._bounds(rows, columns)
            possible &= bound <= allowed
        if self._is_few(possible):
            one, other = np.nonzero(possible)
            differences = np.abs(self._numbers[rows][one] - self._numbers[columns][other])
            possible[one, other] = differences.sum(axis=1, dtype=np.int32) <= allowed[one, other]
        most = _ENOUGH * (stop - start)
        if np.count_nonzero(possible) > most:
            bound = self._bounds(rows, columns) if bound is None else bound
            self._compare_groups(possible, bound, allowed, most, rows, columns)
        found, others = np.nonzero(possible)
        return found + start, others + start

    @staticmethod
    def _is_few(possible: NDArray[np.bool_]) -> bool:
        return bool(np.count_nonzero(possible) <= _FEW * possible.size)

    def _bounds(self, rows: slice, columns: slice) -> _Integers:
        """Bound the distances by the numbers of classes and groups."""
        first, *others = self._others
        bound = _differences(first, rows, columns).astype(np.int32)
        for counts in (*others, *self._grouped):
            bound += _differences(counts, rows, columns)
        return bound

    def _compare_groups(
        self,
        possible: NDArray[np.bool_],
        bound: _Integers,
        allowed: _Integers,
        most: int,
        rows: slice,
        columns: slice,
    ) -> None:
        """Exclude pairs by the distances of their groups, until few are left."""
        for pieces, counts in zip(self._pieces, self._grouped, strict=True):
            if np.count_nonzero(possible) <= most:
                return
            bound += cdist(
                pieces[rows], pieces[columns], scorer=Indel.distance, dtype=np.int32, workers=1
            )
            bound -= _differences(counts, rows, columns)
            possible &= bound <= allowed


def _counted(texts: Sequence[str]) -> tuple[bytes, _Positions, _Positions]:
    """Count classes and digits, and join all classes."""
    classes = bytearray()
    numbers, digits = [], []
    for block in _blocks(texts):
        joined = "".join(block)
        owners = np.repeat(np.arange(len(block), dtype=np.int32), [len(text) for text in block])
        if joined.isascii():
            encoded = joined.encode()
            own = np.frombuffer(encoded, np.uint8)
            numbers.append(_numbers(owners, own, len(block), _CLASSES))
            digits.append(numbers[-1][:, ord("0") : ord("9") + 1])
        else:
            codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4")
            own = codes.astype(np.uint8)
            encoded = own.tobytes()
            numbers.append(_numbers(owners, own, len(block), _CLASSES))
            is_digit = (codes >= ord("0")) & (codes <= ord("9"))
            digits.append(_numbers(owners[is_digit], own[is_digit] - ord("0"), len(block), 10))
        classes += encoded
    none = np.empty((0, _CLASSES), np.intp), np.empty((0, 10), np.intp)
    return bytes(classes), np.concatenate([none[0], *numbers]), np.concatenate([none[1], *digits])


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield blocks of texts up to a total length."""
    first = characters = 0
    for position, text in enumerate(texts):
        if characters and characters + len(text) > _BLOCK:
            yield texts[first:position]
            first, characters = position, 0
        characters += len(text)
    if texts:
        yield texts[first:]


def _numbers(owners: _Integers, kinds: NDArray[np.uint8], texts: int, of: int) -> _Positions:
    """Count each kind in each text, one row per text."""
    return np.bincount(owners * of + kinds, minlength=texts * of).reshape(texts, of)


def _grouped(totals: _Positions, length: float) -> tuple[list[_Positions], _Positions]:
    """Put the rarest classes into groups.

    Return the others, most frequent first.
    """
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
    # Capping can only make a difference smaller, so the bound stays correct.
    return np.ascontiguousarray(np.minimum(numbers, 2**14).astype(np.int16))


def _differences(counts: _Counts, rows: slice, columns: slice) -> _Counts:
    differences: _Counts = np.abs(counts[rows, None] - counts[None, columns])
    return differences


def _hashed(numbers: _Positions) -> NDArray[np.uint64]:
    """Hash each row to one number."""
    factors = np.cumprod(np.full(numbers.shape[1], _ODD, np.uint64), dtype=np.uint64)
    hashed: NDArray[np.uint64] = numbers.view(np.uint64) @ factors
    return hashed


class NearTexts:
    """Finds the kept texts that are similar to a text.

    The work is limited: of long texts only the first pairs are compared.

    Args:
        texts: normal texts, referred to by position; equal ones are never searched for.
        threshold: the minimum ratio of near duplicates, 0..1.
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
        one, other, ratios = self._compared(one, other)
        froms, tos = np.concatenate([one, other]), np.concatenate([other, one])
        order = np.argsort(froms, kind="stable")
        # Lists, because a text has few neighbours, and numpy takes longer for so few.
        self._neighbours: list[int] = tos[order].tolist()
        self._ratios: list[float] = np.concatenate([ratios, ratios])[order].tolist()
        bounds = np.searchsorted(froms[order], np.arange(len(self._texts) + 1))
        self._first: list[int] = bounds.tolist()
        self._kept: dict[int, list[int]] = {}
        self._work = 0

    def _compared(
        self, one: _Positions, other: _Positions
    ) -> tuple[_Positions, _Positions, NDArray[np.float64]]:
        """Compute the ratios of all pairs at once, if that is little work.

        Returns the similar pairs and their ratios, or else all pairs and zeros.
        """
        lengths = np.array([len(text) for text in self._texts], np.int64)
        if (lengths[one] * lengths[other]).sum() > _LITTLE_WORK:
            return one, other, np.zeros(len(one))
        ratios: NDArray[np.float64] = cpdist(
            [self._texts[number] for number in one.tolist()],
            [self._texts[number] for number in other.tolist()],
            scorer=fuzz.ratio,
            score_cutoff=self._least,
            dtype=np.float64,
            workers=1,
        )
        is_similar = ratios > 0
        return one[is_similar], other[is_similar], ratios[is_similar]

    def is_alone(self, position: int) -> bool:
        """Whether a text cannot have any duplicate."""
        number = self._number[position]
        return (
            self._first[number] == self._first[number + 1]
            and self._uses[number] == 1
            and self._sharing[self._characters[number]] == 1
        )

    def characters(self, position: int) -> int:
        """A number shared by texts with the same characters."""
        return self._characters[self._number[position]]

    def keep(self, position: int) -> None:
        """Make a text one that is found."""
        self._kept.setdefault(self._number[position], []).append(position)

    def find(self, position: int) -> Iterator[tuple[int, float]]:
        """Yield similar kept texts with their ratio in percent."""
        number = self._number[position]
        first, last = self._first[number : number + 2]
        kept_at, neighbours = self._kept, self._neighbours
        found = sorted(
            (kept, self._ratios[place])
            for place in range(first, last)
            if neighbours[place] in kept_at
            for kept in kept_at[neighbours[place]]
        )
        text = self._texts[number]
        for kept, ratio in found:
            if ratio:
                yield kept, ratio
                continue
            other = self._texts[self._number[kept]]
            work = len(text) * len(other)
            if self._work + work > _MOST_WORK:
                continue
            self._work += work
            # A ratio below the cutoff is returned as 0.
            if computed := fuzz.ratio(text, other, score_cutoff=self._least):
                yield kept, computed
