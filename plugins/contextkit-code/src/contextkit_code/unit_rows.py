"""Which rows of a unit's code say most about a query, and which of them belong together."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from contextkit_code.focus import Focus
from contextkit_code.statements import Statement, paragraphs, statements

__all__ = ["RowPlan", "UnitRows", "plan_rows"]

_WORD = re.compile(r"\w")
_TELLING_LINES = 3
"""So many of a docstring's lines tell where in the code it stands."""

_MOST_DECORATORS = 4
"""Rows above a signature that are shown with it, whatever the query."""

_AROUND_A_FRAME = 5
"""Rows on either side of a line that a stack trace names."""

_PROSE_WORTH = 0.3
"""What a match in a docstring or a comment counts, beside 1 for one in the code."""

_KNOWN_WORTH = 0.3
"""What a word counts once more, where a better statement has it."""

_SMALL_GAP = 3
"""So many rows between two matches are shown before anything else."""

_SHORT_BODY = 4
"""A header that matches brings the first statement of its block where it is no longer."""

_MOST_HEADERS = 3
"""So many headers, each within the other, are gone through to that statement."""

_BEFORE_DOCS = 3
"""So many of the best matches are shown before the rest of the docstring."""

_LEAST_STEPS = 2


@frozen
class UnitRows:
    """A unit's code, and what is known of it.

    Attributes:
        rows: its lines.
        signature: those of its signature, as they stand in the code.
        docstring: those of its docstring, without the marks that they have in the code.
        language: the name of its language.
        is_prose: whether it is text and no code.
        frames: rows that a stack trace names.
    """

    rows: tuple[str, ...]
    signature: tuple[str, ...]
    docstring: tuple[str, ...]
    language: str
    is_prose: bool
    frames: tuple[int, ...]


@frozen
class RowPlan:
    """In which order the rows of a unit are shown while there is room.

    Attributes:
        header: the rows that are always shown: the signature's, and the decorators'.
        steps: what is added one after the other; each has all that it needs to be read, as the
            headers of the blocks that it stands in.
        least: an excerpt of fewer steps than this says too little.
    """

    header: frozenset[int]
    steps: Sequence[frozenset[int]]
    least: int


@lru_cache(maxsize=256)
def plan_rows(unit: UnitRows, query: str) -> RowPlan:
    """Plan what is shown of a unit; the same one is shortened several times in one assembly."""
    return _planner(unit, Focus.of(query)).plan()


def _planner(unit: UnitRows, focus: Focus) -> _Planner:
    rows = unit.rows
    if unit.is_prose:
        return _Planner(unit, focus, frozenset(), (), paragraphs(rows))
    signature = _signature_rows(rows, unit.signature)
    documented = _docstring_rows(rows, unit.docstring, signature)
    docs = [
        evolve(each, first=each.first + documented.start, last=each.last + documented.start)
        for each in paragraphs(rows[documented.start : documented.stop])
        if any(
            map(
                _WORD.search, rows[documented.start + each.first : documented.start + each.last + 1]
            )
        )
    ]
    header = frozenset(signature) | frozenset(_decorators(rows, signature, documented))
    found = statements(rows, unit.language)
    return _Planner(
        unit, focus, header, [evolve(each, needs=()) for each in docs], found, documented
    )


@frozen
class _Planner:
    unit: UnitRows
    focus: Focus
    header: frozenset[int]
    docs: Sequence[Statement]
    code: Sequence[Statement]
    documented: range = range(0)

    def plan(self) -> RowPlan:
        body = [n for n, each in enumerate(self.code) if self._is_body(each)]
        summary = [_rows_of(self.docs[0])] if self.docs else []
        matching = self._matching(body)
        wanted = (
            *self._framed(body),
            *summary,
            *matching[:_BEFORE_DOCS],
            *map(_rows_of, self.docs),
            *matching[_BEFORE_DOCS:],
            *self._outline(body),
        )
        shown, steps = set(self.header), []
        for step in wanted:
            if not step <= shown:
                steps.append(step)
                shown |= step
        return RowPlan(self.header, steps, min(_LEAST_STEPS, len(steps)))

    def _is_body(self, each: Statement) -> bool:
        return (each.says or each.closes is None) and not (
            each.first in self.header
            or (each.first in self.documented and each.last in self.documented)
        )

    def _framed(self, body: Sequence[int]) -> Iterator[frozenset[int]]:
        """The lines that a stack trace names, then those around them."""
        distances = range(_AROUND_A_FRAME + 1) if self.unit.frames else ()
        for distance in distances:
            wanted = {
                row for frame in self.unit.frames for row in (frame - distance, frame + distance)
            }
            for number in body:
                if not wanted.isdisjoint(_rows_of(self.code[number])):
                    yield self._closure(number)

    def _matching(self, body: Sequence[int]) -> list[frozenset[int]]:
        """What has words of the query, best first, and then what stands between in small gaps."""
        parts = [self.code[number] for number in body] + list(self.docs)
        texts = ["\n".join(self.unit.rows[p.first : p.last + 1]) for p in parts]
        worths = self.focus.worths(texts)
        weights = [1.0 if p.says else _PROSE_WORTH for p in parts[: len(body)]]
        weights += [_PROSE_WORTH] * len(self.docs)
        order = list(_best_first(worths, weights))
        found = [
            self._with_body(body[place]) if place < len(body) else _rows_of(parts[place])
            for place in order
        ]
        shown = set(self.header).union(*found)
        return [*found, *(self._between(body, shown) if found else ())]

    def _between(self, body: Sequence[int], shown: set[int]) -> Iterator[frozenset[int]]:
        for number in body:
            each = self.code[number]
            above = any(row in shown for row in range(each.first - _SMALL_GAP, each.first))
            below = any(row in shown for row in range(each.last + 1, each.last + _SMALL_GAP + 1))
            if above and below and each.first not in shown:
                yield self._closure(number)

    def _outline(self, body: Sequence[int]) -> list[frozenset[int]]:
        """All of the body, statements at its top before those within them."""

        def depth(number: int) -> int:
            return self.code[number].depth

        return [self._closure(number) for number in sorted(body, key=depth)]

    def _with_body(self, number: int) -> frozenset[int]:
        """A statement with all that it needs, and of a header also what its block begins with."""
        rows = self._closure(number)
        # What a comment is for stands below it.
        last = max(number, *self.code[number].needs, 0)
        for following in range(last + 1, min(last + 1 + _MOST_HEADERS, len(self.code))):
            body = self.code[following]
            if (
                body.depth <= self.code[following - 1].depth
                or body.last - body.first >= _SHORT_BODY
            ):
                break
            rows |= self._closure(following)
        return rows

    def _closure(self, number: int) -> frozenset[int]:
        """The rows of a statement, and of all that it needs."""
        pending, known = [number], {number}
        rows: set[int] = set()
        while pending:
            each = self.code[pending.pop()]
            rows |= _rows_of(each)
            pending += [need for need in each.needs if need not in known]
            known.update(each.needs)
        return frozenset(rows)


def _rows_of(each: Statement) -> frozenset[int]:
    return frozenset(range(each.first, each.last + 1))


def _best_first(worths: Sequence[Mapping[str, float]], weights: Sequence[float]) -> Iterator[int]:
    """The places of those that match, best first; what a better one has counts less again."""
    known: set[str] = set()

    def worth(place: int) -> float:
        own = worths[place]
        return weights[place] * sum(
            value * (_KNOWN_WORTH if word in known else 1.0) for word, value in own.items()
        )

    heap = [(-worth(place), place) for place, own in enumerate(worths) if own]
    heapq.heapify(heap)
    while heap:
        _, place = heapq.heappop(heap)
        now = (-worth(place), place)
        if heap and now > heap[0]:
            heapq.heappush(heap, now)
            continue
        known.update(worths[place])
        yield place


def _decorators(rows: Sequence[str], signature: range, documented: range) -> Iterable[int]:
    """The rows above a signature that are neither blank nor its docstring, where they are few."""
    above = [row for row in range(signature.start) if rows[row].strip() and row not in documented]
    return above if len(above) <= _MOST_DECORATORS else ()


def _signature_rows(rows: Sequence[str], signature: Sequence[str]) -> range:
    wanted = signature[0].strip() if signature else ""
    for number, row in enumerate(rows):
        if wanted and row.strip().startswith(wanted):
            return range(number, min(number + len(signature), len(rows)))
    return range(0)


def _docstring_rows(rows: Sequence[str], docstring: Sequence[str], header: range) -> range:
    """Its rows with the marks around it; none where it is not found."""
    lines = [line.strip() for line in docstring if line.strip()]
    telling = lines[:_TELLING_LINES]
    candidates = [
        (_matching(rows, number, telling)[1], number)
        for number in (*range(header.stop, len(rows)), *range(header.start))
        if lines and lines[0] in rows[number]
    ]
    # Of equals the first: a docstring below the signature goes before a comment above it.
    matched, start = max(candidates, key=lambda found: found[0], default=(0, 0))
    if matched < len(telling) or not lines:
        return range(0)
    end = _matching(rows, start, lines)[0]
    if start > header.stop or 0 < start < header.start:
        start -= _is_mark(rows[start - 1])
    if end < len(rows) and end not in header:
        end += _is_mark(rows[end])
    return range(start, end)


def _matching(rows: Sequence[str], start: int, lines: Sequence[str]) -> tuple[int, int]:
    """Where the rows from `start` on no longer follow the lines, and how many they followed."""
    matched = 0
    for row in range(start, len(rows)):
        if matched == len(lines):
            return row, matched
        if lines[matched] in rows[row]:
            matched += 1
        elif _WORD.search(rows[row]):
            return row, matched
    return len(rows), matched


def _is_mark(row: str) -> bool:
    """Whether a row has nothing but quotes or the marks of a comment."""
    return bool(row.strip()) and not _WORD.search(row)
