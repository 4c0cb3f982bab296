"""The sections on their way into the budget: what each may show, and how much room it has.

By default a section's part of the budget follows its evidence as well as its weight: how much of
the question its items have, by one measure for every source, and how likely that source answers
such a question. With the same evidence the parts are by weight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from contextkit.asking.sections import title_of
from contextkit.config import normalized
from contextkit.fitting.budget import by_evidence, by_percent, readable_shares
from contextkit.fitting.placing import Lane, Piece
from contextkit.gathering.gather import Question
from contextkit.models import ContextRequest
from contextkit.ranking.evidence import coverage_of, evidence_of
from contextkit.registry import SourceRegistry
from contextkit.registry.hook_failures import Failed
from contextkit.rendering import heading
from contextkit.signals.reading import names_one_thing
from contextkit.source_info import SourceInfo

__all__ = ["lanes_for"]

_LEAST_PART = 25
_LEAST_TOKENS = 64
"""A section needs a 25th of the budget, 64 tokens at most, to show something readable."""

_NOTE_MATCH = 0.15
_NOTE_OF_BEST = 0.3
"""A note comes first where it matches so well, by itself and beside the best note."""

_CUT = 0.35
_NOTE_CUT = 0.5
_NAME_CUT = 0.65
_FEW_NOTES = 8
"""An item whose score is under such a part of its section's best is not worth its tokens. Where
one thing is named, what defines it is wanted, and not all that mentions it. The best few notes
stay, as they are short."""

_LEVEL = 0.5
"""A section with less than such a part of the best evidence takes no more than its share."""

_NOTES_FIRST = 2.0
"""What somebody wrote down for this project, and matches, stands before all evidence."""

_RANKED_PART = 0.5
"""The evidence of a source that may answer without the question's words, as a part of the best."""


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
    return _Weighing(request, infos).weighed(lanes)


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


@frozen
class _Weighing:
    """Gives lanes of one question the weights that their evidence deserves.

    Attributes:
        request: the question.
        infos: section -> what its source says of itself.
    """

    request: ContextRequest
    infos: Mapping[str, SourceInfo]

    def weighed(self, lanes: Sequence[Lane]) -> list[Lane]:
        """The same lanes with other weights, and without those that are not worth their tokens."""
        if not any(lane.pieces for lane in lanes):
            return list(lanes)
        evidence = self._evidence(lanes)
        likely = {
            key: info.likely_answers(self.request.signals.topics)
            for key, info in self.infos.items()
        }
        weights = by_evidence({lane.key: lane.weight for lane in lanes}, evidence, likely)
        least = min(_LEAST_TOKENS, self.request.max_tokens // _LEAST_PART)
        showing = {lane.key: weights[lane.key] for lane in lanes if lane.pieces}
        room = (
            dict.fromkeys(showing, 1)
            if self.request.fill
            else readable_shares(showing, self.request.max_tokens, least)
        )
        best = max(evidence, key=lambda key: (evidence[key] * likely[key], key))
        weighed = []
        for lane in self._with_notes_first(lanes):
            key = lane.key
            why = ""
            if key != best and evidence[key] * likely[key] < evidence[best] * likely[best]:
                why = (
                    f"its best items have {evidence[key]:.2f} of what is asked, those of "
                    f"{best} {evidence[best]:.2f}"
                )
            changed = evolve(
                lane,
                weight=weights[key],
                evidence=evidence[key],
                precedence=_NOTES_FIRST if lane.first else round(evidence[key] * likely[key], 1),
                why=why,
                bounded=not self.request.fill
                and evidence[key] * likely[key] < _LEVEL * evidence[best] * likely[best],
            )
            weighed.append(self._relevant(changed) if room.get(key) else _only_first(changed))
        return weighed

    def _relevant(self, lane: Lane) -> Lane:
        """The lane without the pieces that are far behind its best."""
        # Numbers that say nothing but an order do not say what is far behind.
        ranked = self.infos[lane.key].scale == "ranked"
        if not lane.pieces or self.request.fill or ranked:
            return lane
        part = _NOTE_CUT if self.infos[lane.key].notes else _CUT
        if names_one_thing(self.request.query):
            part = _NAME_CUT
        # What updates a better match ranks with that, however little it has of the question.
        least = part * max(piece.candidate.scores.rank_by for piece in lane.pieces)
        few = _FEW_NOTES if self.infos[lane.key].notes else 1
        weak = {
            id(piece): f"its score is under {least:.3f}, {part:g} of the best of {lane.key}"
            for piece in lane.pieces[few:]
            if piece.candidate.scores.rank_by < least
        }
        kept = [piece for piece in lane.pieces if id(piece) not in weak]
        return evolve(lane, pieces=kept, weak=weak, first=min(lane.first, len(kept)))

    def _evidence(self, lanes: Sequence[Lane]) -> dict[str, float]:
        pieces = [piece for lane in lanes for piece in lane.pieces]
        coverages = coverage_of(self.request.query, [piece.candidate for piece in pieces])
        by_lane: dict[str, list[float]] = defaultdict(list)
        for piece, coverage in zip(pieces, coverages, strict=True):
            by_lane[piece.candidate.section].append(coverage)
        evidence = {lane.key: evidence_of(by_lane[lane.key]) for lane in lanes}
        best = max(evidence.values(), default=0.0)
        if not best:
            # The question has no words of its own, as "continue", or what answers it has others.
            return {lane.key: 1.0 if lane.pieces else 0.0 for lane in lanes}
        for lane in lanes:
            if lane.pieces:
                other = self._by_other_means(lane, best)
                evidence[lane.key] = max(evidence[lane.key], other)
        return evidence

    def _by_other_means(self, lane: Lane, best: float) -> float:
        """The evidence of what may answer without the question's words."""
        info, topics = self.infos[lane.key], self.request.signals.topics
        match = lane.pieces[0].candidate.scores.match
        if info.scale == "ranked":
            return _RANKED_PART * best
        if not info.answers and not info.notes:
            return _RANKED_PART * best * match
        if info.answers and "code" not in topics and info.likely_answers(topics) == 1:
            # What was done last answers "which files did I change?" though it has no such word.
            return match
        return 0.0

    def _with_notes_first(self, lanes: Sequence[Lane]) -> list[Lane]:
        """The lanes of notes say how many of their pieces come before the split."""
        if len(lanes) < 2:
            return list(lanes)
        matches = [
            piece.candidate.scores.match
            for lane in lanes
            if self.infos[lane.key].notes
            for piece in lane.pieces
        ]
        least = max(_NOTE_MATCH, _NOTE_OF_BEST * max(matches, default=0.0))
        return [_first(lane, least) if self.infos[lane.key].notes else lane for lane in lanes]


def _first(lane: Lane, least: float) -> Lane:
    """The lane with the pieces that match so well before the others, and before the split."""
    first = [piece for piece in lane.pieces if _match(piece) >= least]
    others = [piece for piece in lane.pieces if _match(piece) < least]
    return evolve(lane, pieces=[*first, *others], first=len(first))


def _match(piece: Piece) -> float:
    """How well a note matches; an update as well as what it updates."""
    scores = piece.candidate.scores
    return max(scores.match, scores.lifted or 0.0)


def _only_first(lane: Lane) -> Lane:
    """The lane with the pieces alone that come before the split."""
    weak = {id(piece): lane.why for piece in lane.pieces[lane.first :]}
    return evolve(lane, pieces=lane.pieces[: lane.first], weight=0.0, weak=weak)
