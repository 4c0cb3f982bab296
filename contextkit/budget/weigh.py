"""Weigh sections by how well they answer a question.

With equal evidence, sections share the budget by weight. A section whose items have little of the
question, or whose source seldom answers such questions, gets little room or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextkit.budget.evidence import coverage_of, evidence_of, words_in_text, words_of
from contextkit.budget.notes import leading, with_notes_first
from contextkit.budget.pieces import Lane
from contextkit.budget.shares import by_evidence, readable_shares
from contextkit.budget.stop import stopped
from contextkit.models.copying import copied
from contextkit.models.request import ContextRequest
from contextkit.models.source import SourceInfo
from contextkit.text.questions import first_line
from contextkit.text.signals import asks_where

_LEAST_PART = 25
_LEAST_TOKENS = 64
"""A section needs 1/25 of the budget, but at most 64 tokens, to show something readable."""

_LEVEL = 0.5
"""A section with less of the best evidence may not exceed its share."""

_OTHER_MEANS = 0.5
"""Evidence of a source that may answer in other words, relative to the best."""

_VERY_GOOD_MATCH = 0.9
_MOST_WORDS = 6
"""A match by words that shows that a source answers a question of few words."""

_TITLES = 3
"""The number of a section's best items whose titles are read."""

_EXPLAINS = 0.5
"""How likely a source of explanations answers if a title names what the question is about."""

_NAMED = 0.6
"""The part of a question's words that such a title has."""

_NOTES_FIRST = 2.0
"""Notes that answer precede all evidence."""


def weighed(
    lanes: Sequence[Lane], request: ContextRequest, infos: Mapping[str, SourceInfo]
) -> list[Lane]:
    """Weigh the lanes for this question, without weak pieces.

    Args:
        lanes: the sections, with their own weights.
        request: the request; with `fill`, nothing is left out.
        infos: section -> its source's info.
    """
    if not any(lane.pieces for lane in lanes):
        return list(lanes)
    coverages = _coverages(lanes, request)
    evidence = _evidence(lanes, coverages, request, infos)
    likely = {lane.key: _likely(lane, request, infos[lane.key]) for lane in lanes}
    weights = by_evidence({lane.key: lane.weight for lane in lanes}, evidence, likely)
    answering = {key: evidence[key] * likely[key] for key in evidence}
    best = max(answering, key=lambda key: (answering[key], key))
    noted = with_notes_first(lanes, coverages, request, infos)
    leads = leading(noted, coverages)
    made = []
    for lane in noted:
        key, why = lane.key, ""
        if answering[key] < answering[best]:
            why = (
                f"its best items cover {evidence[key]:.2f} of the question (likelihood "
                f"{likely[key]:.2g}); those of {best} cover {evidence[best]:.2f} (likelihood "
                f"{likely[best]:.2g})"
            )
        changed = copied(
            lane,
            weight=weights[key],
            evidence=evidence[key],
            precedence=_NOTES_FIRST if key in leads else round(answering[key], 1),
            why=why,
            bounded=not request.fill and answering[key] < _LEVEL * answering[best],
        )
        made.append(changed)
    if request.fill:
        return made
    shown = _shown(lanes, weights, request.max_tokens)
    return stopped(made, request, infos, coverages=coverages, shown=shown, leading=leads)


def _likely(lane: Lane, request: ContextRequest, info: SourceInfo) -> float:
    """How likely a section's source answers such a question, 0..1.

    A page on "Response caching" answers "how are responses cached?", although questions about
    code are seldom answered by pages. A page whose title asks
    the same question, as in a FAQ, answers it.
    """
    likely = info.likely_answers(request.signals.topics)
    explains = info.answers.get("usage") == 1
    if not explains or likely == 1 or asks_where(first_line(request.query)):
        return likely
    words = words_of(request.query)
    titles = [piece.candidate.item.title or "" for piece in lane.pieces[:_TITLES]]
    naming = [title for title in titles if words_in_text(words, title) >= _NAMED * len(words) > 0]
    if any(title.endswith("?") for title in naming):
        return 1.0
    return max(likely, _EXPLAINS) if naming else likely


def _shown(lanes: Sequence[Lane], weights: Mapping[str, float], max_tokens: int) -> frozenset[str]:
    """The sections with enough room to show something readable."""
    showing = {lane.key: weights[lane.key] for lane in lanes if lane.pieces}
    least = min(_LEAST_TOKENS, max_tokens // _LEAST_PART)
    return frozenset(readable_shares(showing, max_tokens, least))


# -- evidence ---------------------------------------------------------------------------------


def _coverages(lanes: Sequence[Lane], request: ContextRequest) -> dict[int, float]:
    """Map each candidate's `id` to its share of the question."""
    candidates = [candidate for lane in lanes for candidate in lane.candidates]
    found = coverage_of(request.query, candidates)
    return {id(each): coverage for each, coverage in zip(candidates, found, strict=True)}


def _evidence(
    lanes: Sequence[Lane],
    coverages: Mapping[int, float],
    request: ContextRequest,
    infos: Mapping[str, SourceInfo],
) -> dict[str, float]:
    """Section -> its best items' share of the question, 0..1."""
    evidence = {
        lane.key: evidence_of([coverages[id(candidate)] for candidate in lane.candidates])
        for lane in lanes
    }
    best = max(evidence.values())
    if not best:
        # The question has no subject words, as "continue", or its answers use other words.
        return {lane.key: 1.0 if lane.pieces else 0.0 for lane in lanes}
    for lane in lanes:
        if lane.pieces:
            other = _by_other_means(lane, request, infos[lane.key], best)
            evidence[lane.key] = max(evidence[lane.key], other)
    return evidence


def _by_other_means(lane: Lane, request: ContextRequest, info: SourceInfo, best: float) -> float:
    """Evidence of a source that answers in other words."""
    topics, match = request.signals.topics, lane.pieces[0].candidate.scores.match
    is_short = len(words_of(request.query)) <= _MOST_WORDS
    if info.scale == "ranked":
        return _OTHER_MEANS * best
    if info.embedder == "none" and match >= _VERY_GOOD_MATCH and is_short:
        # The code that prints `no such task: x7` has all of the message but its rarest word.
        return best
    if info.notes:
        return 0.0
    if not info.answers:
        return _OTHER_MEANS * best * match
    # Recent activity answers "which files did I change?" without sharing its words.
    return match if "code" not in topics and info.likely_answers(topics) == 1 else 0.0
