"""Select the lines of a long unit to show.

This applies even where the whole unit would fit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import evolve

from contextkit import ContextItem
from contextkit_code.ranking.definitions import resembling
from contextkit_code.ranking.question import Question
from contextkit_code.record_kinds import WINDOW_TYPES
from contextkit_code.runs import gaps
from contextkit_code.unit_layout import unit_rows
from contextkit_code.unit_rows import framed_rows, gist_rows

LINES = "lines"
"""Metadata key for the lines to show: `[[first, last], ...]`."""

_FUNCTIONS = frozenset({"function", "method", "macro"})
_LONG_HEAD = 600
"""Most characters of a class head that is shown whole.

A longer one is reduced to the matching lines.
"""

_LONG_DOCSTRING = 5
"""Most lines of a function's docstring that is shown whole.

Of a longer one only the matching lines are shown, with all of the code.
"""

_LONG_FOR_USERS = 15
"""The same where a question asks how to use something: parameters are a part of the answer."""

_LEAST_HIDDEN = 6
"""Fewest lines that an excerpt must leave out."""


def gist(item: ContextItem, question: Question, query: str) -> list[list[int]] | None:
    """Return a unit's default lines to show; None for all.

    A class head and a docstring may take half of a context where one paragraph of them matches. A
    unit that the question names is shown whole.
    """
    data = item.metadata
    kind, first, last = (data.get(name) for name in ("unit_type", "start_line", "end_line"))
    if kind in WINDOW_TYPES or not isinstance(first, int):
        return None
    is_function = kind in _FUNCTIONS
    longest = _LONG_FOR_USERS if "use" in question.asks_for else _LONG_DOCSTRING
    if is_function and str(data.get("docstring", "")).count("\n") < longest:
        return None
    if not is_function and (len(item.content) <= _LONG_HEAD or resembling(data, question) == 1.0):
        return None
    rows = tuple(item.content.split("\n"))
    if last != first + len(rows) - 1:
        return None
    unit = unit_rows(item, rows, range(first, last + 1), query)
    return _lines(rows, gist_rows(unit, query, whole_code=is_function), first)


def around_line(item: ContextItem, line: int, before: int, behind: int) -> list[list[int]] | None:
    """Return the lines around a traced statement; None for all.

    They include the unit's signature.

    Args:
        item: the unit.
        line: the line given by the stack trace.
        before: how many lines above the statement are shown.
        behind: how many below it.
    """
    first, last = item.metadata.get("start_line"), item.metadata.get("end_line")
    rows = tuple(item.content.split("\n"))
    if not isinstance(first, int) or last != first + len(rows) - 1:
        return None
    unit = evolve(unit_rows(item, rows, None, ""), frames=(line - first,))
    return _lines(rows, framed_rows(unit, before, behind), first)


def _lines(rows: Sequence[str], shown: Collection[int], first: int) -> list[list[int]] | None:
    if len(rows) - len(shown) < _LEAST_HIDDEN:
        return None
    hidden = frozenset(range(len(rows))).difference(shown)
    return [[first + run.start, first + run.stop - 1] for run in gaps(rows, hidden)]


def rows_of(item: ContextItem) -> frozenset[int] | None:
    """Return the rows named by an item's `lines`.

    None where it has none that fit its code.
    """
    first, last, lines = (item.metadata.get(name) for name in ("start_line", "end_line", LINES))
    if not lines or not isinstance(first, int) or last != first + item.content.count("\n"):
        return None
    return frozenset(row - first for start, end in lines for row in range(start, end + 1))
