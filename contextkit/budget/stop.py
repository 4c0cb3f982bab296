"""Leave out items that are not worth their tokens.

Each rule returns reasons by `id` of a piece, which the trace shows as `weak`. The request's
`fill` disables all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from contextkit.budget.notes import hardly_matching
from contextkit.budget.pieces import Lane
from contextkit.models.copying import copied
from contextkit.models.request import ContextRequest
from contextkit.models.source import SourceInfo
from contextkit.text.questions import names_one_thing

_CUT = 0.35
_NOTE_CUT = 0.55
_NAME_CUT = 0.65
"""Items with a score below this part of their section's best are left out. If the question names
one thing, only its definition is wanted, not every mention of it."""

_FEW_NOTES = 8
"""This many notes stay even with low scores, because they are short."""

_GOOD_MATCH = 0.5
_GOOD_COVERS = 0.1
"""An item with this match and share of the question may use remaining room."""

_SURE_MATCH = 0.6
_LEAST_MATCH = 0.3
_LEAST_BESIDE_NOTES = 0.4
"""Beside a match of `_SURE_MATCH`, or a note that answers, items that match less are noise."""

_NEARLY = 0.75
"""A source with this likelihood answers nearly as often as one that is made for the questions."""

_BESIDE_A_DECISION = 4
"""Beside a note with the decision, all else gets at most this fraction (1/4) of the budget."""


def stopped(
    lanes: Sequence[Lane],
    request: ContextRequest,
    infos: Mapping[str, SourceInfo],
    *,
    coverages: Mapping[int, float],
    shown: Collection[str],
    leading: Collection[str],
) -> list[Lane]:
    """Leave out weak pieces.

    Args:
        lanes: the weighed sections.
        request: the request.
        infos: section -> its source's info.
        coverages: by `id` of a candidate, its share of the question, 0..1.
        shown: the sections whose share is large enough to show something.
        leading: the sections of notes that answer the question.
    """
    floor = _floor(lanes, leading)
    exempt = _exempt(lanes, request, infos)
    is_alone = sum(1 for lane in lanes if lane.pieces) == 1
    made = []
    for lane in lanes:
        info = infos[lane.key]
        weighty = _by_share(lane, request, info, coverages, lane.key in shown)
        weak: Mapping[int, str] = {}
        if info.notes:
            weak = {} if is_alone else hardly_matching(weighty)
        elif info.scale == "calibrated" and lane.key not in exempt:
            weak = _under(floor, weighty)
        made.append(weighty.without(weak))
    if leading and "decisions" in request.signals.topics:
        others = [lane for lane in made if not infos[lane.key].notes]
        weak = _more_than(request.max_tokens // _BESIDE_A_DECISION, others)
        return [lane.without(weak) for lane in made]
    return made


def _by_share(
    lane: Lane,
    request: ContextRequest,
    info: SourceInfo,
    coverages: Mapping[int, float],
    is_shown: bool,
) -> Lane:
    """Leave out low scores.

    Without a share, leave out all but good matches.
    """
    if (lane.bounded or not is_shown) and lane.pieces:
        lane = copied(lane, good=_good(lane, coverages))
    if is_shown:
        return lane.without(_far_behind(lane, request, info))
    return copied(lane.without(_without_a_share(lane)), weight=0.0)


def _good(lane: Lane, coverages: Mapping[int, float]) -> frozenset[int]:
    """The pieces of a bad section that match well."""
    return frozenset(
        id(piece)
        for piece in lane.pieces
        if piece.candidate.scores.match >= _GOOD_MATCH
        and coverages.get(id(piece.candidate), 0.0) >= _GOOD_COVERS
    )


def _without_a_share(lane: Lane) -> dict[int, str]:
    """Pieces that need a share of the budget."""
    why = lane.why or "its share of the budget is too small to show anything"
    return {id(piece): why for piece in lane.pieces[lane.first :] if id(piece) not in lane.good}


def _far_behind(lane: Lane, request: ContextRequest, info: SourceInfo) -> dict[int, str]:
    """Pieces with scores far below the section's best."""
    # Ranks only order the items; differences between them mean nothing.
    if not lane.pieces or info.scale == "ranked":
        return {}
    part = _NOTE_CUT if info.notes else _CUT
    if names_one_thing(request.query):
        part = _NAME_CUT
    # An update of a better match ranks with it, whatever its own words.
    least = part * max(piece.candidate.scores.rank_by for piece in lane.pieces)
    return {
        id(piece): f"its score is below {least:.3f}, {part:g} of the best score of {lane.key}"
        for piece in lane.pieces[_FEW_NOTES if info.notes else 1 :]
        if piece.candidate.scores.rank_by < least
    }


def _floor(lanes: Sequence[Lane], leading: Collection[str]) -> float:
    """The minimum match beside items that answer the question, 0..1."""
    if leading:
        return _LEAST_BESIDE_NOTES
    matches = (piece.candidate.scores.match for lane in lanes for piece in lane.pieces)
    return _LEAST_MATCH if max(matches) >= _SURE_MATCH else 0.0


def _exempt(
    lanes: Sequence[Lane], request: ContextRequest, infos: Mapping[str, SourceInfo]
) -> frozenset[str]:
    """The sections whose weak matches stay, as their source judges such questions best.

    A source that is made for such questions is not exempt beside one that answers them nearly as
    often and matches better: of a library without a manual, the code tells how to use it.
    """
    topics = request.signals.topics
    likely = {lane.key: infos[lane.key].likely_answers(topics) for lane in lanes}
    answers = {
        lane.key: likely[lane.key]
        * max((piece.candidate.scores.match for piece in lane.pieces), default=0.0)
        for lane in lanes
    }
    rival = max((answers[key] for key in likely if _NEARLY <= likely[key] < 1), default=0.0)
    return frozenset(
        key
        for key in likely
        if likely[key] == 1 and (answers[key] >= rival or not infos[key].answers)
    )


def _under(floor: float, lane: Lane) -> dict[int, str]:
    """Pieces that match less than the floor."""
    return {
        id(piece): f"its match is below {floor:g}, and other items answer"
        for piece in lane.pieces
        if max(piece.candidate.scores.supported_match, piece.candidate.scores.lifted or 0.0) < floor
    }


def _more_than(room: int, lanes: Sequence[Lane]) -> dict[int, str]:
    """Pieces that do not fit into `room` tokens, best first."""
    weak = {}
    pieces = [piece for lane in lanes for piece in lane.pieces]
    for piece in sorted(pieces, key=lambda piece: piece.candidate.order):
        if piece.tokens <= room:
            room -= piece.tokens
        else:
            weak[id(piece)] = "a note already states the decision"
    return weak
