"""How well each section answers a question: its room, its place, and what of it is worth showing.

With the same evidence, sections share the budget by weight. A section whose items have little of
what is asked, or whose source seldom answers such a question, has little room or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from contextkit.fitting.budget import by_evidence, readable_shares
from contextkit.fitting.pieces import Lane, Piece
from contextkit.models import ContextRequest
from contextkit.ranking.evidence import coverage_of, evidence_of
from contextkit.signals.reading import names_one_thing
from contextkit.source_info import SourceInfo

__all__ = ["weighed"]

_LEAST_PART = 25
_LEAST_TOKENS = 64
"""A section needs a 25th of the budget, 64 tokens at most, to show something readable."""

_LEVEL = 0.5
"""A section with less than such a part of the best evidence takes no more than its share."""

_OTHER_MEANS = 0.5
"""The evidence of a source that may answer without the question's words, as a part of the best."""

_GOOD_MATCH = 0.5
_GOOD_COVERS = 0.1
"""What matches so well and has such a part of the question is worth room that is left over."""

_CONSIDERED = 50
"""So many of a section's items, the best, are looked at for its evidence."""

_NOTE_MATCH = 0.3
_NOTE_COVERS = 0.1
"""A note has room of its own where it matches so well and has such a part of the question."""

_SHORT_NOTE = 80
_SHORT_NOTE_MATCH = 0.18
_SHORT_NOTE_COVERS = 0.07
"""A note of so few tokens needs less of a match, as it costs little."""

_LEADING_MATCH = 0.4
_LEADING_COVERS = 0.28
_LEADING_OF_BEST = 0.4
"""Notes stand first where one matches so well and has such a part of the question, and of what
the best item has: one word in common is chance."""

_NOTES_FIRST = 2.0
"""What somebody wrote down for this project, and answers, stands before all evidence."""

_CUT = 0.35
_NOTE_CUT = 0.55
_NAME_CUT = 0.65
"""An item whose score is under such a part of its section's best is not worth its tokens. Where
one thing is named, what defines it is wanted, and not all that mentions it."""

_SURE_MATCH = 0.6
_LEAST_MATCH = 0.3
_LEAST_BESIDE_NOTES = 0.4
"""Beside a match of so much, one of less is noise; and more so beside a note that answers."""

_BESIDE_A_DECISION = 4
"""Where a note says what was decided, all else has such a part of the budget at most."""

_LONG_NOTE_MATCH = 0.25
"""A note that is not short has to match so well to be shown at all beside other sections."""

_FEW_NOTES = 8
"""So many notes stay however far they are behind: they are short."""


def weighed(
    lanes: Sequence[Lane], request: ContextRequest, infos: Mapping[str, SourceInfo]
) -> list[Lane]:
    """Give lanes of one question the weights that they deserve, and leave out what is weak.

    Args:
        lanes: the sections, with their own weights.
        request: the question; with `fill`, nothing is left out.
        infos: section -> what its source says of itself.
    """
    if not any(lane.pieces for lane in lanes):
        return list(lanes)
    coverages = _coverages(lanes, request)
    evidence = _evidence(lanes, coverages, request, infos)
    likely = {key: infos[key].likely_answers(request.signals.topics) for key in evidence}
    weights = by_evidence({lane.key: lane.weight for lane in lanes}, evidence, likely)
    answering = {key: evidence[key] * likely[key] for key in evidence}
    best = max(answering, key=lambda key: (answering[key], key))
    shown = _shown(lanes, weights, request)
    noted = _with_notes_first(lanes, coverages, request, infos)
    leading = _leading(noted, coverages)
    floor = 0.0 if request.fill else _floor(lanes, leading)
    showing = sum(1 for lane in lanes if lane.pieces)
    made = []
    for lane in noted:
        key = lane.key
        why = ""
        if answering[key] < answering[best]:
            why = (
                f"its best items have {evidence[key]:.2f} of what is asked and it answers such "
                f"questions with {likely[key]:.2g}, beside {evidence[best]:.2f} and "
                f"{likely[best]:.2g} of {best}"
            )
        changed = evolve(
            lane,
            weight=weights[key],
            evidence=evidence[key],
            precedence=_NOTES_FIRST if key in leading else round(answering[key], 1),
            why=why,
            bounded=not request.fill and answering[key] < _LEVEL * answering[best],
        )
        if changed.bounded or key not in shown:
            changed = evolve(changed, good=_good(changed, coverages))
        changed = _relevant(changed, request, infos[key]) if key in shown else _closed(changed)
        is_calibrated = infos[key].scale == "calibrated" and not infos[key].notes
        # What answers such questions knows best how well its items match.
        if is_calibrated and likely[key] < 1:
            changed = _over(floor, changed)
        elif infos[key].notes and showing > 1 and not request.fill:
            changed = _without_chance(changed)
        made.append(changed)
    if leading and not request.fill and "decisions" in request.signals.topics:
        notes = frozenset(lane.key for lane in lanes if infos[lane.key].notes)
        return _little_beside(notes, made, request.max_tokens // _BESIDE_A_DECISION)
    return made


def _shown(
    lanes: Sequence[Lane], weights: Mapping[str, float], request: ContextRequest
) -> frozenset[str]:
    """The sections that have room to show something readable."""
    showing = {lane.key: weights[lane.key] for lane in lanes if lane.pieces}
    if request.fill:
        return frozenset(showing)
    least = min(_LEAST_TOKENS, request.max_tokens // _LEAST_PART)
    return frozenset(readable_shares(showing, request.max_tokens, least))


def _closed(lane: Lane) -> Lane:
    """The lane with what needs no share: notes that come before the split, and good matches."""
    why = lane.why or "its share of the budget is too small to show anything"
    kept = [
        piece
        for number, piece in enumerate(lane.pieces)
        if number < lane.first or id(piece) in lane.good
    ]
    weak = {id(piece): why for piece in lane.pieces if piece not in kept}
    return evolve(lane, pieces=kept, weight=0.0, weak=weak)


def _good(lane: Lane, coverages: Mapping[int, float]) -> frozenset[int]:
    """The pieces that match well, of a section that does not."""
    return frozenset(
        id(piece)
        for piece in lane.pieces
        if piece.candidate.scores.match >= _GOOD_MATCH
        and coverages.get(id(piece), 0.0) >= _GOOD_COVERS
    )


def _relevant(lane: Lane, request: ContextRequest, info: SourceInfo) -> Lane:
    """The lane without the pieces that are far behind its best."""
    # Numbers that say nothing but an order do not say what is far behind.
    if not lane.pieces or request.fill or info.scale == "ranked":
        return lane
    part = _NOTE_CUT if info.notes else _CUT
    if names_one_thing(request.query):
        part = _NAME_CUT
    # What updates a better match ranks with that, however little it has of the question.
    least = part * max(piece.candidate.scores.rank_by for piece in lane.pieces)
    weak = {
        id(piece): f"its score is under {least:.3f}, {part:g} of the best of {lane.key}"
        for piece in lane.pieces[_FEW_NOTES if info.notes else 1 :]
        if piece.candidate.scores.rank_by < least
    }
    kept = [piece for piece in lane.pieces if id(piece) not in weak]
    return evolve(lane, pieces=kept, weak=weak, first=min(lane.first, len(kept)))


def _floor(lanes: Sequence[Lane], leading: frozenset[str]) -> float:
    """What an item has to match beside those that answer, 0..1."""
    if leading:
        return _LEAST_BESIDE_NOTES
    matches = (piece.candidate.scores.match for lane in lanes for piece in lane.pieces)
    return _LEAST_MATCH if max(matches) >= _SURE_MATCH else 0.0


def _over(floor: float, lane: Lane) -> Lane:
    """The lane without the pieces that match less."""
    weak = {
        id(piece): f"it matches less than {floor:g}, beside what answers"
        for piece in lane.pieces
        if piece.candidate.scores.supported_match < floor
    }
    kept = [piece for piece in lane.pieces if id(piece) not in weak]
    return evolve(lane, pieces=kept, weak={**lane.weak, **weak})


def _little_beside(notes: frozenset[str], lanes: Sequence[Lane], room: int) -> list[Lane]:
    """The lanes with no more than `room` tokens of what is no note."""
    others = [piece for lane in lanes if lane.key not in notes for piece in lane.pieces]
    kept = set[int]()
    for piece in sorted(others, key=lambda piece: piece.candidate.order):
        if piece.tokens <= room:
            kept.add(id(piece))
            room -= piece.tokens
    made = []
    for lane in lanes:
        if lane.key in notes:
            made.append(lane)
            continue
        weak = {id(p): "a note says what was decided" for p in lane.pieces if id(p) not in kept}
        pieces = [piece for piece in lane.pieces if id(piece) in kept]
        made.append(evolve(lane, pieces=pieces, weak={**lane.weak, **weak}))
    return made


def _without_chance(lane: Lane) -> Lane:
    """A lane of notes without the long ones that hardly match."""
    weak = {
        id(piece): f"a note of {piece.tokens} tokens that hardly matches"
        for piece in lane.pieces[lane.first :]
        if piece.tokens > _SHORT_NOTE and piece.candidate.scores.supported_match < _LONG_NOTE_MATCH
    }
    kept = [piece for piece in lane.pieces if id(piece) not in weak]
    return evolve(lane, pieces=kept, weak={**lane.weak, **weak})


# -- evidence ---------------------------------------------------------------------------------


def _coverages(lanes: Sequence[Lane], request: ContextRequest) -> dict[int, float]:
    """By `id` of a piece, how much of the question it has, 0..1."""
    pieces = [piece for lane in lanes for piece in lane.pieces[:_CONSIDERED]]
    found = coverage_of(request.query, [piece.candidate for piece in pieces])
    return {id(piece): coverage for piece, coverage in zip(pieces, found, strict=True)}


def _evidence(
    lanes: Sequence[Lane],
    coverages: Mapping[int, float],
    request: ContextRequest,
    infos: Mapping[str, SourceInfo],
) -> dict[str, float]:
    """Section -> how much of the question its best items have, 0..1."""
    evidence = {
        lane.key: evidence_of([coverages[id(piece)] for piece in lane.pieces[:_CONSIDERED]])
        for lane in lanes
    }
    best = max(evidence.values())
    if not best:
        # The question has no words of its own, as "continue", or what answers it has others.
        return {lane.key: 1.0 if lane.pieces else 0.0 for lane in lanes}
    for lane in lanes:
        if lane.pieces:
            other = _by_other_means(lane, request, infos[lane.key], best)
            evidence[lane.key] = max(evidence[lane.key], other)
    return evidence


def _by_other_means(lane: Lane, request: ContextRequest, info: SourceInfo, best: float) -> float:
    """The evidence of what may answer without the question's words."""
    topics, match = request.signals.topics, lane.pieces[0].candidate.scores.match
    if info.scale == "ranked":
        return _OTHER_MEANS * best
    if info.notes:
        return 0.0
    if not info.answers:
        return _OTHER_MEANS * best * match
    # What was done last answers "which files did I change?" though it has no such word.
    return match if "code" not in topics and info.likely_answers(topics) == 1 else 0.0


# -- notes ------------------------------------------------------------------------------------


def _with_notes_first(
    lanes: Sequence[Lane],
    coverages: Mapping[int, float],
    request: ContextRequest,
    infos: Mapping[str, SourceInfo],
) -> list[Lane]:
    """The lanes of notes say how many of their pieces come before the split."""
    # No note says what was done last.
    if len(lanes) < 2 or "activity" in request.signals.topics:
        return list(lanes)
    return [_first(lane, coverages) if infos[lane.key].notes else lane for lane in lanes]


def _first(lane: Lane, coverages: Mapping[int, float]) -> Lane:
    """The lane with the pieces that match well before the others, and before the split."""
    first = [piece for piece in lane.pieces if _matches(piece, coverages)]
    others = [piece for piece in lane.pieces if not _matches(piece, coverages)]
    return evolve(lane, pieces=[*first, *others], first=len(first))


def _matches(piece: Piece, coverages: Mapping[int, float]) -> bool:
    """Whether a note matches well enough for room of its own."""
    scores, covers = piece.candidate.scores, coverages.get(id(piece), 0.0)
    # What updates a better match needs no words of its own.
    if (scores.lifted or 0.0) > max(scores.match, _NOTE_MATCH):
        return True
    if piece.tokens <= _SHORT_NOTE and covers >= _SHORT_NOTE_COVERS:
        return scores.match >= _SHORT_NOTE_MATCH
    return scores.match >= _NOTE_MATCH and covers >= _NOTE_COVERS


def _leading(lanes: Sequence[Lane], coverages: Mapping[int, float]) -> frozenset[str]:
    """The sections of notes that answer so well that they stand first."""
    least = max(_LEADING_COVERS, _LEADING_OF_BEST * max(coverages.values(), default=0.0))

    def leads(piece: Piece) -> bool:
        covers = coverages.get(id(piece), 0.0)
        return covers >= least and piece.candidate.scores.match >= _LEADING_MATCH

    return frozenset(lane.key for lane in lanes if any(map(leads, lane.pieces[: lane.first])))
