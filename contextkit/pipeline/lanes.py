"""Sections on their way into the budget: their pieces and weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from attrs import evolve

from contextkit.budget.pieces import Lane, Piece
from contextkit.budget.shares import by_percent
from contextkit.budget.weigh import weighed
from contextkit.config.settings import normalized
from contextkit.models.request import ContextRequest
from contextkit.pipeline.gather import Question
from contextkit.pipeline.recipes import title_of
from contextkit.pipeline.render import heading
from contextkit.plugin.checks import Failed
from contextkit.plugin.manager import SourceRegistry


def lanes_for(
    registry: SourceRegistry,
    request: ContextRequest,
    questions: Sequence[Question],
    pieces: Sequence[Piece],
    failed: Failed,
) -> list[Lane]:
    """Make a lane for each section that was asked, also where nothing was found for it.

    Args:
        registry: knows the sources' weights and titles.
        request: its strategy and `shares` say how the budget is split.
        questions: one per section.
        pieces: best first.
        failed: told of weights that fail.
    """
    waiting: dict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        waiting[piece.candidate.section].append(piece)
    lanes = [
        Lane(
            key=question.section.key,
            weight=question.section.weight
            or registry.weight(question.section.source, question.request, failed),
            heading=heading(title_of(registry, question.section), request.style),
            pieces=waiting[question.section.key],
        )
        for question in questions
    ]
    if request.strategy.budget:
        return _by_percent(lanes, questions, request.strategy.budget)
    # A recipe that asks its own questions, or gives its own weights, has its own split.
    own_split = any(q.section.query is not None or q.section.weight for q in questions)
    if request.shares == "fixed" or own_split:
        return lanes
    infos = {q.section.key: registry.info(q.section.source) for q in questions}
    return weighed(lanes, request, infos)


def _by_percent(
    lanes: Sequence[Lane], questions: Sequence[Question], percent: Mapping[str, float]
) -> list[Lane]:
    """The same lanes with the weights that give their sources those percentages."""
    weights = by_percent(
        {lane.key: lane.weight for lane in lanes},
        {q.section.key: normalized(q.section.source) for q in questions},
        percent,
    )
    return [evolve(lane, weight=weights[lane.key], own_weight=weights[lane.key]) for lane in lanes]
