"""Select and group a unit's most relevant rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from attrs import define, evolve, field, frozen

from contextkit_code.examples import examples_in
from contextkit_code.focus import Focus, best_first
from contextkit_code.runs import gaps, with_small_gaps
from contextkit_code.statements import Statement, paragraphs, statements
from contextkit_code.unit_layout import (
    UnitRows,
    decorators,
    docstring_rows,
    is_mark,
    parameters,
    signature_rows,
)

_WORD = re.compile(r"\w")
_AROUND_A_FRAME = 5
"""Rows shown on either side of a traced line."""

_LONG_SIGNATURE = 8
"""Most rows of a signature that an excerpt always shows; of a longer one, the matching ones."""

_PROSE_WORTH = 0.3
"""Weight of docstring and comment matches; code has 1."""

_LONG_COMMENT = 6
"""Most rows of a comment that is shown before everything else is."""

_MOST_GAPS = 3
"""Most gaps before a match is deferred: a few long runs read better than many short ones."""

_MOST_MATCHES = 40
_SHORT_BLOCK = 8
"""Most rows of a block shown with its matching header."""

_SHORT_BODY = 4
"""Most rows of a longer block's first statement shown too."""

_MOST_HEADERS = 3
"""Most nested headers passed to reach that statement."""

_SHORT_NEIGHBOUR = 3
"""Most rows of a neighbour shown with a one-row statement."""

_GIST_WORTH = 0.4
"""Least score for the gist, relative to the best."""

_LONG_GIST = 600
"""Characters of a gist above which no matches are added."""

_WORDS_OF_DOCS = 2
"""Fewest query words of the one docstring sentence in the gist."""

_STRING = re.compile(r"\s*[rRbBuUfF]{0,2}(?:\"\"\"|''')")
_RETURN = re.compile(r"\s*(?:return|raise|throw|yield)\b")


@frozen
class RowPlan:
    """The order in which a unit's rows are shown.

    Attributes:
        header: the rows that are always shown: the signature and the decorators.
        steps: the rows added one step after another; each step has all that it needs to be read,
            such as the headers of its enclosing blocks.
        least: the fewest steps of a useful excerpt.
    """

    header: frozenset[int]
    steps: Sequence[frozenset[int]]
    least: int


@lru_cache(maxsize=256)
def plan_rows(unit: UnitRows, query: str) -> RowPlan:
    """Plan a unit's excerpt. The plan is cached: one assembly may shorten a unit several times."""
    return _planner(unit, Focus.of(query)).plan()


def gist_rows(unit: UnitRows, query: str, *, whole_code: bool) -> frozenset[int]:
    """Return the signature, the docstring's first sentence and best matches.

    Args:
        unit: the unit.
        query: the query.
        whole_code: whether all but the docstring is shown.
    """
    planner = _planner(unit, Focus.of(query), () if whole_code else None)
    rows = planner.gist()
    if whole_code:
        rows |= frozenset(range(len(unit.rows))) - frozenset(planner.documented)
    return with_small_gaps(unit.rows, rows)


def framed_rows(unit: UnitRows, before: int, behind: int) -> frozenset[int]:
    """Return the signature, traced statements and rows around them."""
    planner = _planner(unit, Focus.of(""))
    header = planner.header | planner.ends_of(planner.header)
    return with_small_gaps(unit.rows, header | planner.around_frames(before, behind))


def _planner(unit: UnitRows, focus: Focus, code: Sequence[Statement] | None = None) -> _Planner:
    rows = unit.rows
    if unit.is_prose:
        return _Planner(unit, focus, frozenset(), (), paragraphs(rows))
    signature = signature_rows(rows, unit.signature)
    documented = docstring_rows(rows, unit.docstring, signature, unit.behind_gaps)
    docs = [
        evolve(each, first=first, last=last, needs=())
        for each in paragraphs(rows[documented.start : documented.stop])
        for first, last in [(each.first + documented.start, each.last + documented.start)]
        if any(map(_WORD.search, rows[first : last + 1]))
    ]
    header = frozenset(signature) | frozenset(decorators(rows, signature, documented))
    found = statements(rows, unit.language) if code is None else code
    return _Planner(unit, focus, header, docs, found, documented)


@define
class _Steps:
    """An excerpt so far, and the steps that led there."""

    rows: Sequence[str]
    shown: frozenset[int]
    steps: list[frozenset[int]] = field(factory=list)

    def add(self, step: frozenset[int], most_gaps: int | None = None) -> bool:
        """Show more rows within `most_gaps`; return whether they are shown."""
        if step <= self.shown:
            return True
        joined = with_small_gaps(self.rows, self.shown | step)
        if most_gaps is not None and len(gaps(self.rows, joined)) > most_gaps:
            return False
        self.steps.append(step)
        self.shown = joined
        return True


@frozen
class _Match:
    """Rows with query words: the statement alone, then its surroundings."""

    worth: float
    words: int
    steps: tuple[frozenset[int], ...]


@frozen
class _Planner:
    unit: UnitRows
    focus: Focus
    header: frozenset[int]
    docs: Sequence[Statement]
    code: Sequence[Statement]
    documented: range = range(0)
    _closers: dict[int, list[int]] = field(init=False)

    @_closers.default
    def _by_header(self) -> dict[int, list[int]]:
        closers: dict[int, list[int]] = {}
        for number, each in enumerate(self.code):
            if each.closes is not None:
                closers.setdefault(each.closes, []).append(number)
        return closers

    def plan(self) -> RowPlan:
        body = self._body()
        header = self._short_header()
        steps = _Steps(self.unit.rows, header | self.ends_of(header))
        header = steps.shown
        for step in self._framed(body):
            steps.add(step)
        summary = self._summary()
        steps.add(summary)
        steps.add(self._example())
        own = len(gaps(self.unit.rows, steps.shown)) - bool(body)
        least = 1 + bool(steps.steps)
        matching = self._matching(body)
        for match in matching[:_MOST_MATCHES]:
            for step in match.steps:
                steps.add(step, own + _MOST_GAPS)
        for number in body[-2:]:
            if _RETURN.match(self.unit.rows[self.code[number].first]):
                steps.add(self._closure(number), own + _MOST_GAPS)
        for step in self._growth(steps.shown):
            steps.add(step)
        return RowPlan(header, steps.steps, min(least, len(steps.steps)))

    def _short_header(self) -> frozenset[int]:
        """Return the header; of a long signature, its ends and the matching parameters."""
        if len(self.header) <= _LONG_SIGNATURE or self.focus.is_about_use:
            return self.header
        between = parameters(self.unit.rows, self.header)
        worths = self.focus.worths(["\n".join(self.unit.rows[n] for n in own) for own in between])
        hidden = (own for own, worth in zip(between, worths, strict=True) if not worth)
        return self.header.difference(*hidden)

    def gist(self) -> frozenset[int]:
        """Return the best matches, signature and docstring's first sentence."""
        summary, documented = self._summary(), frozenset(self.documented)
        rows = self.header | self.ends_of(self.header) | summary | self._example()
        matching = self._matching(self._body())
        for match in matching:
            if match.worth < _GIST_WORTH * matching[0].worth or self._length(rows) >= _LONG_GIST:
                break
            if not self.code and (match.words < _WORDS_OF_DOCS or not summary >= rows & documented):
                continue
            rows |= match.steps[-1]
        return rows

    def _body(self) -> list[int]:
        return [number for number, each in enumerate(self.code) if self._is_body(each)]

    def _length(self, rows: frozenset[int]) -> int:
        return sum(len(self.unit.rows[row]) for row in rows)

    def _is_body(self, each: Statement) -> bool:
        return (each.says or each.closes is None) and not (
            each.first in self.header
            or (each.first in self.documented and each.last in self.documented)
        )

    def _summary(self) -> frozenset[int]:
        """Return the docstring's first sentence with its marks."""
        if not self.docs:
            return frozenset()
        ends = {self.documented.start, self.documented.stop - 1} if self.documented else ()
        marks = {row for row in ends if is_mark(self.unit.rows[row])}
        return _rows_of(self.docs[0]) | marks

    def _example(self) -> frozenset[int]:
        """Return the docstring's best example, if the query asks how to use something."""
        if not self.focus.is_about_use:
            return frozenset()
        rows = self.unit.rows
        examples = list(examples_in(rows, self.documented))
        worths = self.focus.worths(["\n".join(rows[n] for n in sorted(own)) for own in examples])
        worth = {own: sum(values.values()) for own, values in zip(examples, worths, strict=True)}
        return max(examples, key=lambda own: worth[own], default=frozenset())

    def ends_of(self, rows: frozenset[int]) -> frozenset[int]:
        """Return the rows that close the blocks opened by these."""
        return frozenset().union(
            *(
                _rows_of(self.code[closer])
                for number, closers in self._closers.items()
                if self.code[number].first in rows
                for closer in closers
            )
        )

    def _framed(self, body: Sequence[int]) -> Iterator[frozenset[int]]:
        """Yield the traced lines, then those around them."""
        distances = range(_AROUND_A_FRAME + 1) if self.unit.frames else ()
        for distance in distances:
            wanted = {
                row for frame in self.unit.frames for row in (frame - distance, frame + distance)
            }
            for number in body:
                if not wanted.isdisjoint(_rows_of(self.code[number])):
                    yield self._closure(number)

    def around_frames(self, before: int, behind: int) -> frozenset[int]:
        """Return the traced statements and the rows around them."""
        body, frames = self._body(), set(self.unit.frames)
        named = [n for n in body if not frames.isdisjoint(_rows_of(self.code[n]))]
        wanted: set[int] = set()
        for each in (self.code[number] for number in named):
            wanted.update(range(each.first - before, each.last + behind + 1))
        near = (n for n in body if not wanted.isdisjoint(_rows_of(self.code[n])))
        return frozenset().union(*map(self._closure, near))

    def _matching(self, body: Sequence[int]) -> list[_Match]:
        """Return the statements with query words, best first."""
        parts = [self.code[number] for number in body] + list(self.docs)
        texts = ["\n".join(self.unit.rows[p.first : p.last + 1]) for p in parts]
        worths = self.focus.worths(texts)
        weights = [self._weight(each) for each in parts[: len(body)]]
        weights += [_PROSE_WORTH] * len(self.docs)
        matches = []
        for worth, place in best_first(worths, weights):
            words = len(worths[place])
            if place < len(body):
                bare = self._closure(body[place])
                matches.append(_Match(worth, words, (bare, bare | self._with_body(body[place]))))
            else:
                matches.append(_Match(worth, words, (_rows_of(parts[place]),)))
        return matches

    def _weight(self, each: Statement) -> float:
        if each.says:
            return 1.0
        return 0.0 if self._is_long_comment(each) else _PROSE_WORTH

    @staticmethod
    def _is_long_comment(each: Statement) -> bool:
        return not each.says and each.last - each.first >= _LONG_COMMENT

    def _growth(self, shown: frozenset[int]) -> Iterator[frozenset[int]]:
        """Yield the remaining rows, small gaps first.

        Few gaps remain this way. The rest of a signature comes behind the code, and the docstring
        last.
        """
        of_row = {row: number for number, each in enumerate(self.code) for row in _rows_of(each)}
        left = gaps(self.unit.rows, shown)
        left.sort(
            key=lambda gap: (gap.start in self.documented, gap.start in self.header, len(gap))
        )
        comments: list[frozenset[int]] = []
        for gap in left:
            for row in gap:
                if row in self.documented or row not in of_row:
                    yield frozenset({row})
                elif self._is_long_comment(self.code[of_row[row]]):
                    comments.append(frozenset({row}))
                elif row in (self.code[of_row[row]].first, gap.start):
                    yield self._closure(of_row[row])
        yield from comments

    def _with_body(self, number: int) -> frozenset[int]:
        """Return a statement with the context that it needs.

        A header brings its block, or the beginning of a long one; a statement of one row brings its
        neighbour; an attribute brings the code below it.
        """
        each = self.code[number]
        rows = self._closure(number) | self._comment_above(number)
        if number and _STRING.match(self.unit.rows[each.first]):
            return rows | self._closure(number - 1)
        # A comment precedes the code that it is for.
        head = max(number, *each.needs, 0)
        block = list(self._block(head))
        if not block:
            return rows | self._neighbour(head)
        if self.code[block[-1]].last - self.code[head].last <= _SHORT_BLOCK:
            return rows.union(*map(self._closure, block))
        for following in block[:_MOST_HEADERS]:
            inner = self.code[following]
            if (
                inner.depth <= self.code[following - 1].depth
                or inner.last - inner.first >= _SHORT_BODY
            ):
                break
            rows |= self._closure(following)
        return rows

    def _comment_above(self, number: int) -> frozenset[int]:
        above = self.code[number - 1] if number else None
        if above is None or number not in above.needs or self._is_long_comment(above):
            return frozenset()
        return _rows_of(above)

    def _block(self, head: int) -> Iterator[int]:
        """Yield the statements of a header's block."""
        for number in range(head + 1, len(self.code)):
            if self.code[number].depth <= self.code[head].depth:
                return
            yield number

    def _neighbour(self, number: int) -> frozenset[int]:
        """Return a one-row statement's short neighbour, below or above."""
        each = self.code[number]
        if each.last > each.first:
            return frozenset()
        for beside in (number + 1, number - 1):
            if 0 <= beside < len(self.code):
                other = self.code[beside]
                if (
                    other.depth == each.depth
                    and other.closes is None
                    and other.last - other.first < _SHORT_NEIGHBOUR
                    and other.first not in self.documented
                ):
                    return self._closure(beside)
        return frozenset()

    def _closure(self, number: int) -> frozenset[int]:
        """Return a statement, all it needs, and its blocks' ends."""
        pending, known = [number], {number}
        rows: set[int] = set()
        while pending:
            each = self.code[pending[-1]]
            needed = (*each.needs, *self._closers.get(pending.pop(), ()))
            rows |= _rows_of(each)
            pending += [need for need in needed if need not in known]
            known.update(needed)
        return frozenset(rows)


def _rows_of(each: Statement) -> frozenset[int]:
    return frozenset(range(each.first, each.last + 1))
