"""Notes: texts written down for this project, such as memories and experiences.

One that matches has room of its own, as it is short and written nowhere else. Where one answers,
notes stand before all other sections; one word in common with the question is chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from contextkit.budget.pieces import Lane, Piece
from contextkit.models.request import ContextRequest
from contextkit.models.source import SourceInfo

_MATCH = 0.3
_COVERS = 0.1
"""A note has room of its own where it matches so well and has such a part of the question."""

_SHORT = 80
_SHORT_MATCH = 0.18
_SHORT_COVERS = 0.07
"""A note of so few tokens needs less of a match, as it costs little."""

_LEADING_MATCH = 0.4
_LEADING_COVERS = 0.28
_LEADING_OF_BEST = 0.4
"""Notes stand first where one matches so well and has such a part of the question, and of what
the best item of all sections has."""

_LONG_MATCH = 0.25
"""A note that is not short has to match so well to be shown at all beside other sections."""


def with_notes_first(
    lanes: Sequence[Lane],
    coverages: Mapping[int, float],
    request: ContextRequest,
    infos: Mapping[str, SourceInfo],
) -> list[Lane]:
    """Let the lanes of notes say how many of their pieces come before the split.

    Args:
        lanes: the sections.
        coverages: by `id` of a piece, how much of the question it has, 0..1.
        request: the question.
        infos: section -> what its source says of itself.
    """
    # No note says what was done last.
    if len(lanes) < 2 or "activity" in request.signals.topics:
        return list(lanes)
    # A question about a rule has few words of that rule.
    decides = "decisions" in request.signals.topics
    return [_first(lane, coverages, decides) if infos[lane.key].notes else lane for lane in lanes]


def _first(lane: Lane, coverages: Mapping[int, float], decides: bool) -> Lane:
    """The lane with the pieces that match well before the others, and before the split."""
    first: list[Piece] = []
    others: list[Piece] = []
    for piece in lane.pieces:
        covers = 1.0 if decides else coverages.get(id(piece), 0.0)
        (first if _matches(piece, covers) else others).append(piece)
    return evolve(lane, pieces=[*first, *others], first=len(first))


def _matches(piece: Piece, covers: float) -> bool:
    """Whether a note matches well enough for room of its own."""
    scores = piece.candidate.scores
    # What updates a better match needs no words of its own.
    if (scores.lifted or 0.0) > max(scores.match, _MATCH):
        return True
    if piece.tokens <= _SHORT and covers >= _SHORT_COVERS:
        return scores.match >= _SHORT_MATCH
    return scores.match >= _MATCH and covers >= _COVERS


def leading(lanes: Sequence[Lane], coverages: Mapping[int, float]) -> frozenset[str]:
    """List the sections of notes that answer so well that they stand first."""
    least = max(_LEADING_COVERS, _LEADING_OF_BEST * max(coverages.values(), default=0.0))

    def leads(piece: Piece) -> bool:
        covers = coverages.get(id(piece), 0.0)
        return covers >= least and piece.candidate.scores.match >= _LEADING_MATCH

    return frozenset(lane.key for lane in lanes if any(map(leads, lane.pieces[: lane.first])))


def hardly_matching(lane: Lane) -> dict[int, str]:
    """Say, by `id`, which long notes match too little to be shown beside other sections."""
    return {
        id(piece): f"a note of {piece.tokens} tokens that hardly matches"
        for piece in lane.pieces[lane.first :]
        if piece.tokens > _SHORT and piece.candidate.scores.supported_match < _LONG_MATCH
    }
