"""Notes that people wrote for this project, such as memories.

A note that matches has room of its own, because it is short and its content is nowhere else. If
a note answers the question, notes precede all other sections. One common word does not count as a
match: it may be chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from contextkit.budget.pieces import Lane, Piece
from contextkit.models.request import ContextRequest
from contextkit.models.source import SourceInfo

_MATCH = 0.3
_COVERS = 0.1
"""A note with this match and share of the question has room of its own."""

_SHORT = 80
_SHORT_MATCH = 0.18
_SHORT_COVERS = 0.07
"""A note of at most this many tokens may match less, because it takes little room."""

_DECIDING_MATCH = 0.15
"""The same for a question about a rule: "which conventions do tests follow?" has one word of it."""

_LEADING_MATCH = 0.4
_LEADING_COVERS = 0.28
_LEADING_OF_BEST = 0.4
"""Notes come first if one has this match, this share of the question, and this part of the best
share among all sections."""

_LONG_MATCH = 0.25
"""A longer note must match this well to be shown beside other sections."""


def with_notes_first(
    lanes: Sequence[Lane],
    coverages: Mapping[int, float],
    request: ContextRequest,
    infos: Mapping[str, SourceInfo],
) -> list[Lane]:
    """Count the notes that are placed before the split.

    Args:
        lanes: the sections.
        coverages: by `id` of a candidate, its share of the question, 0..1.
        request: the request.
        infos: section -> its source's info.
    """
    # Notes do not record recent activity.
    if len(lanes) < 2 or "activity" in request.signals.topics:
        return list(lanes)
    # A question about a rule may have few words of that rule.
    decides = "decisions" in request.signals.topics
    return [_first(lane, coverages, decides) if infos[lane.key].notes else lane for lane in lanes]


def _first(lane: Lane, coverages: Mapping[int, float], decides: bool) -> Lane:
    """Move the lane's matching pieces to its front."""
    first: list[Piece] = []
    others: list[Piece] = []
    least = _DECIDING_MATCH if decides else _SHORT_MATCH
    for piece in lane.pieces:
        covers = 1.0 if decides else coverages.get(id(piece.candidate), 0.0)
        (first if _matches(piece, covers, least) else others).append(piece)
    return evolve(lane, pieces=[*first, *others], first=len(first))


def _matches(piece: Piece, covers: float, short_match: float) -> bool:
    """Whether a note deserves room of its own; a short one needs only this match."""
    scores = piece.candidate.scores
    # An update of a better match counts even without matching words.
    if (scores.lifted or 0.0) > max(scores.match, _MATCH):
        return True
    if piece.tokens <= _SHORT and covers >= _SHORT_COVERS:
        return scores.match >= short_match
    return scores.match >= _MATCH and covers >= _COVERS


def leading(lanes: Sequence[Lane], coverages: Mapping[int, float]) -> frozenset[str]:
    """The sections of notes that come first."""
    least = max(_LEADING_COVERS, _LEADING_OF_BEST * max(coverages.values(), default=0.0))

    def leads(piece: Piece) -> bool:
        covers = coverages.get(id(piece.candidate), 0.0)
        return covers >= least and piece.candidate.scores.match >= _LEADING_MATCH

    return frozenset(lane.key for lane in lanes if any(map(leads, lane.pieces[: lane.first])))


def hardly_matching(lane: Lane) -> dict[int, str]:
    """Explain which long notes match too little, by `id`."""
    return {
        id(piece): f"a note of {piece.tokens} tokens that hardly matches"
        for piece in lane.pieces[lane.first :]
        if piece.tokens > _SHORT and piece.candidate.scores.supported_match < _LONG_MATCH
    }
