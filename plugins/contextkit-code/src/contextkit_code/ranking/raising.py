"""Find the units and lines that a stack trace names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from attrs import evolve, frozen

from contextkit import Hit
from contextkit_code.ranking.files import file_of
from contextkit_code.ranking.mentions import Mention
from contextkit_code.ranking.traces import Frame, Trace
from contextkit_code.ranking.units import RankedUnit

_MOST_UNITS = 4
"""Most units of a trace: the innermost and three callers."""

_MOST_MEANT = 3
"""Most files that an unambiguous path may match."""

_BEHIND_A_FRAME = 0.95
"""Weight of a trace's unit relative to the previous one."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_QUOTE = re.compile(r"[\"'`]")
_COMMENT = re.compile(r"\s*(?:#(?!\[)|//|/?\*|--)")
_LEAST_PAIRS = 2
"""Fewest matching word pairs: three message words in their order."""


@frozen
class Traced:
    """A unit of a stack trace.

    Attributes:
        hit: the unit.
        line: the line named by the trace, as the indexed file has it; None where it is not known.
        raises: whether it is the innermost of the trace's units.
    """

    hit: Hit
    line: int | None
    raises: bool


def traced(
    trace: Trace, files: Mapping[Mention, Sequence[str]], units: Sequence[Hit]
) -> list[Traced]:
    """Return the trace's innermost unit, then up to three callers.

    For a long report, only the innermost is returned.

    Args:
        trace: the frames and the message.
        files: the files that each frame's place may mean.
        units: what these files have.
    """
    pairs = _pairs(_WORD.findall(trace.message.lower()))
    most = _MOST_UNITS if trace.is_the_question else 1
    found: dict[str, Traced] = {}
    for frame in trace.frames:
        paths = files.get(frame.place, ())
        own = [hit for hit in units if file_of(hit) in paths]
        hit = _unit(frame, own, pairs) if 0 < len(paths) <= _MOST_MEANT else None
        if hit is not None and hit.record.id not in found:
            line = _line(frame, hit, pairs)
            found[hit.record.id] = Traced(hit, line, raises=not found)
        if len(found) == most:
            break
    return [*found.values()]


def traced_first(
    trace: Trace, found: Sequence[Traced], units: Sequence[RankedUnit]
) -> list[RankedUnit]:
    """Put the trace's units before all others, best first.

    In a long report, the unit that raises comes second: the report may use an error to show a
    problem elsewhere.

    Args:
        trace: the trace.
        found: its units, the innermost first.
        units: the ranked ones, best first.
    """
    kept = [] if trace.is_the_question else [*units[:1]]
    placed = {unit.hit.record.id for unit in kept}
    wanted = [each.hit for each in found if each.hit.record.id not in placed]
    placed.update(hit.record.id for hit in wanted)
    level = max((unit.relevance for unit in units), default=1.0)
    first = [
        RankedUnit(hit, level * _BEHIND_A_FRAME**place, leads=True)
        for place, hit in enumerate(wanted, len(kept))
    ]
    others = [unit for unit in units if unit.hit.record.id not in placed]
    best = max((unit.relevance for unit in others), default=0.0) or 1.0
    share = min(1.0, level * _BEHIND_A_FRAME ** (len(kept) + len(first)) / best)
    lower = (evolve(unit, relevance=share * unit.relevance) for unit in others)
    return [*kept, *first, *lower]


def _unit(frame: Frame, units: Sequence[Hit], pairs: frozenset[tuple[str, str]]) -> Hit | None:
    """Return the unit that contains a frame.

    The function's name decides, as lines move from version to version; of several units, the one of
    the frame's class, then the one nearest to the line. A nested function has no unit of its own:
    the unit that defines it is returned. Where the file no longer has the function, the unit that
    contains the message is returned.
    """
    function = frame.place.function
    if not function:
        return min((hit for hit in units if _distance(frame, hit) == 0), key=_length, default=None)
    of_name = [hit for hit in units if _field(hit, "name") == function]
    of_class = [hit for hit in of_name if frame.owner and _is_of(hit, frame.owner)]
    defines = _definition_of(function)
    for candidates in (
        of_class or of_name,
        [hit for hit in units if defines.search(hit.record.text)],
        [hit for hit in units if _most_pairs(hit, pairs) >= _LEAST_PAIRS],
    ):
        if candidates:
            return min(candidates, key=lambda hit: (_distance(frame, hit), _length(hit)))
    return None


def _is_of(hit: Hit, owner: str) -> bool:
    return owner in str(_field(hit, "qualified_name")).split(".")[:-1]


def _definition_of(function: str) -> re.Pattern[str]:
    name = re.escape(function)
    return re.compile(
        rf"\b(?:def|function\*?|func|fn|fun|sub|class)\s+{name}\b"
        rf"|(?<![\w$.]){name}\([^()\n]{{0,200}}\)[^;{{\n]{{0,60}}\{{"
        rf"|(?<![\w$.]){name}\s*(?::=|[:=])\s*(?:async\b|function\b|func\b|\(|\||lambda\b|[\w$]+\s*=>)"
    )


def _field(hit: Hit, name: str) -> object:
    return hit.record.fields.get(name)


def _length(hit: Hit) -> int:
    return len(hit.record.text)


def _distance(frame: Frame, hit: Hit) -> int:
    """Return the lines between a unit and a frame."""
    line, fields = frame.place.line or 0, hit.record.fields
    first, last = int(fields.get("start_line", 0)), int(fields.get("end_line", 0))
    return max(first - line, line - last, 0)


def _line(frame: Frame, hit: Hit, pairs: frozenset[tuple[str, str]]) -> int | None:
    """Return the line of a unit that a frame means.

    That is the line that the trace shows, or one with the text of the message; where neither
    stands in the unit, the line of that number.
    """
    rows = hit.record.text.split("\n")
    first = int(hit.record.fields.get("start_line", 1))
    wanted = (frame.place.line or 0) - first
    if 0 <= wanted < len(rows) and frame.source and rows[wanted].strip() == frame.source:
        return first + wanted
    message = [_pairs_in(row, pairs) for row in rows]
    if max(message) >= _LEAST_PAIRS:
        best = _nearest((row for row, many in enumerate(message) if many == max(message)), wanted)
    else:
        same = (
            row for row, text in enumerate(rows) if frame.source and text.strip() == frame.source
        )
        best = _nearest(same, wanted)
    if best is None and 0 <= wanted < len(rows):
        best = wanted
    return None if best is None else first + best


def _nearest(rows: Iterable[int], wanted: int) -> int | None:
    return min(rows, key=lambda row: abs(row - wanted), default=None)


def _most_pairs(hit: Hit, pairs: frozenset[tuple[str, str]]) -> int:
    return max(_pairs_in(row, pairs) for row in hit.record.text.split("\n"))


def _pairs_in(row: str, pairs: frozenset[tuple[str, str]]) -> int:
    """Count a row's word pairs shared with the message.

    Only neighbouring words in the row's strings count.
    """
    if not pairs or not _QUOTE.search(row) or _COMMENT.match(row):
        return 0
    return len(pairs & _pairs(_WORD.findall(row.lower())))


def _pairs(words: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(words))
