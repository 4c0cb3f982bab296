"""Raise the files and frames that a question names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve

from contextkit import Hit
from contextkit.text import first_line, is_traceback
from contextkit_code.ranking.files import RankedFile, by_score, file_of
from contextkit_code.ranking.mentions import Mention
from contextkit_code.ranking.paths import penalty
from contextkit_code.ranking.question import Question

_MENTIONED = 0.3
"""Score added for named files; the best file has 1."""

_PATH = 1.0
_BARE_NAME = 0.7
_MODULE = 0.5
_FRAME = 0.5
_LAST_FRAME = 0.5
"""Extra weight of the innermost frame."""

_IN_FIRST_LINE = 1.5
_PASTED = 4.0
"""Weight of frames where a traceback is the question."""

_MOST_MEANT = 3
"""Most files that an unambiguous name may match."""


def named_worth(found: Mapping[Mention, Sequence[str]], query: str) -> dict[str, float]:
    """Score how clearly each file is named.

    About 0..1, and more where the query consists of frames.

    Args:
        found: the files that each mention may mean, in the query's order.
        query: the whole query; names in its first line count more.
    """
    first = len(first_line(query))
    frames_count = _PASTED if is_traceback(query) else 1.0
    worth: dict[str, float] = {}
    frames = [mention for mention in found if mention.line]
    for mention, paths in found.items():
        if len(paths) > _MOST_MEANT:
            continue
        value = _value(mention, frames) * (_IN_FIRST_LINE if mention.place < first else 1.0)
        value *= frames_count if mention.line else 1.0
        for path in paths:
            worth[path] = max(worth.get(path, 0.0), value / len(paths))
    return worth


def _value(mention: Mention, frames: Sequence[Mention]) -> float:
    if mention.line:
        return _FRAME + _LAST_FRAME * (frames.index(mention) + 1) / len(frames)
    if not mention.ending:
        return _MODULE
    return _PATH if len(mention.parts) > 1 else _BARE_NAME


def with_named(
    files: Iterable[RankedFile], worth: Mapping[str, float], question: Question
) -> list[RankedFile]:
    """Raise the named files; add those not found otherwise.

    Files are returned best first.
    """
    known = {file.path: file for file in files}
    for path, value in worth.items():
        weight = penalty(path, question)
        file = known.get(path) or RankedFile(path, 0.0, weight, ())
        known[path] = evolve(file, score=file.score + _MENTIONED * weight * value)
    return by_score(known.values())


def in_frames(frames: Mapping[Mention, Sequence[str]], units: Sequence[Hit]) -> set[str]:
    """Return the ids of the units that frames lead to.

    The line may be from another version: a unit of the file with the name of the frame's function
    is preferred, and of several the one that has the line.
    """
    found: set[str] = set()
    for frame, paths in frames.items():
        own = [hit for hit in units if file_of(hit) in paths]
        by_name = [hit for hit in own if frame.function and _name(hit) == frame.function]
        by_line = [hit for hit in by_name or own if _holds(hit, frame.line or 0)]
        found |= {hit.record.id for hit in by_line or by_name}
    return found


def _name(hit: Hit) -> str:
    return str(hit.record.fields.get("name"))


def _holds(hit: Hit, line: int) -> bool:
    fields = hit.record.fields
    return bool(fields.get("start_line", 0) <= line <= fields.get("end_line", 0))
