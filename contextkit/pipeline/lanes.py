"""Lanes: sections with their pieces and weights in the budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from attrs import evolve

from contextkit.budget.pieces import Lane, Piece
from contextkit.budget.shares import by_percent
from contextkit.budget.weigh import weighed
from contextkit.config.settings import normalized
from contextkit.models.candidate import Candidate
from contextkit.models.request import ContextRequest
from contextkit.pipeline.gather import Question
from contextkit.pipeline.recipes import splits_by_evidence, title_of
from contextkit.pipeline.render import heading
from contextkit.plugin.checks import Failed
from contextkit.plugin.manager import SourceRegistry


def weights_for(
    registry: SourceRegistry, questions: Sequence[Question], failed: Failed
) -> dict[str, float]:
    """Map each queried section to its weight, each over 0.

    Args:
        registry: knows the sources' weights.
        questions: one per section.
        failed: called for weights that fail.
    """
    return {
        question.section.key: question.section.weight
        or registry.weight(question.section.source, question.request, failed)
        for question in questions
    }


def lanes_for(
    registry: SourceRegistry,
    request: ContextRequest,
    questions: Sequence[Question],
    pieces: Sequence[Piece],
    weights: Mapping[str, float],
    far: Sequence[Candidate] = (),
) -> list[Lane]:
    """Make a lane for each queried section, even if empty.

    Args:
        registry: knows the sources' titles.
        request: its strategy and `shares` say how the budget is split.
        questions: one per section.
        pieces: best first.
        weights: each section's.
        far: further results, best first, that are evidence and are not shown.
    """
    waiting: dict[str, list[Piece]] = defaultdict(list)
    beyond: dict[str, list[Candidate]] = defaultdict(list)
    for piece in pieces:
        waiting[piece.candidate.section].append(piece)
    for candidate in far:
        beyond[candidate.section].append(candidate)
    lanes = [
        Lane(
            key=question.section.key,
            weight=weights[question.section.key],
            heading=heading(title_of(registry, question.section), request.style),
            pieces=waiting[question.section.key],
            far=beyond[question.section.key],
        )
        for question in questions
    ]
    sources = {q.section.key: normalized(q.section.source) for q in questions}
    if request.strategy.budget:
        split = _by_percent(lanes, sources, request.strategy.budget)
    elif splits_by_evidence([question.section for question in questions], request):
        infos = {q.section.key: registry.info(q.section.source) for q in questions}
        split = weighed(lanes, request, infos)
    else:
        split = lanes
    if request.min_sources == 1:
        return split
    best = {lane.key: lane.pieces[0] for lane in lanes if lane.pieces}
    return _of_several(split, request.min_sources, best, sources)


def _of_several(
    lanes: Sequence[Lane],
    least: int,
    best: Mapping[str, Piece],
    sources: Mapping[str, str],
) -> list[Lane]:
    """Place the best pieces of several sources before the split.

    The lanes are the same otherwise.

    Args:
        lanes: the sections, without weak items.
        least: the number of sources.
        best: each section's best piece, which may have been left out as weak.
        sources: each section's source.
    """
    in_order = sorted(
        (lane for lane in lanes if lane.key in best),
        key=lambda lane: (not (lane.pieces and lane.weight), best[lane.key].candidate.order),
    )
    chosen: dict[str, str] = {}
    for lane in in_order:
        if len(chosen) < least:
            chosen.setdefault(sources[lane.key], lane.key)
    return [
        _opened(lane, best[lane.key]) if lane.key in chosen.values() else lane for lane in lanes
    ]


def _opened(lane: Lane, best: Piece) -> Lane:
    weak = {key: why for key, why in lane.weak.items() if key != id(best)}
    return evolve(
        lane,
        pieces=lane.pieces or [best],
        weak=lane.weak if lane.pieces else weak,
        first=max(lane.first, 1),
        weight=lane.weight or lane.own_weight,
    )


def _by_percent(
    lanes: Sequence[Lane], sources: Mapping[str, str], percent: Mapping[str, float]
) -> list[Lane]:
    """Weight the lanes so that their sources get the percentages."""
    weights = by_percent({lane.key: lane.weight for lane in lanes}, sources, percent)
    return [evolve(lane, weight=weights[lane.key], own_weight=weights[lane.key]) for lane in lanes]
