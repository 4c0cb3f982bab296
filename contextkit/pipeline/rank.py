"""Score items by relevance, with small boosts.

The boosts are salience, recency and priority.

The score is the mean of an item's components, each 0..1, by the weights of the strategy:
`(match + 0.10 salience + 0.05 recency + 0.02 priority) / 1.17` by default. Such small weights
decide between items that match about equally well, and never carry a bad match past a good one.
Other strategies weigh otherwise, and may let the whole score decay with age. Recency is a true
half-life: `0.5 ** (age / half_life)`; an item without a date, or without salience, gets the neutral
0.5, and does not decay. An item with neighbours in its sequence that match has
`1 - (1 - match) * (1 - support)` in place of its match (`contextkit.sources.neighbours`). A
source's hint (`ContextItem.hint`) raises that in the same way, and counts in the score alone: it
makes no irrelevant item relevant.

`match` is relevance on one scale for all sources. A source whose scale is `calibrated` (how much
of the query an item answers, as the store measures it) keeps its numbers. The numbers of other
sources cannot be compared with another source's: only their order counts. Such a source's best
item is put level with the median of the calibrated sources' best (with 1 where there are none),
and the item `r` places behind gets `10 / (10 + r)` of that. So a source that calls everything 0.99
gains nothing by it, and one that calls everything 0.02 loses nothing.

With `diversity` items are reordered by maximal marginal relevance (Carbonell and Goldstein, 1998):
the next item is the one with the best `(1 - diversity) * score - diversity * redundancy`,
redundancy being its greatest likeness to an item that was taken before it. Likeness is the cosine
of two texts' words.
"""

from __future__ import annotations

import re
import statistics
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from attrs import evolve

from contextkit.models.candidate import Candidate, Scores
from contextkit.models.items import ContextItem
from contextkit.models.source import SourceInfo
from contextkit.models.strategy import DEFAULT, Strategy
from contextkit.pipeline.gather import Answer
from contextkit.sources.neighbours import supports

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_NEUTRAL = 0.5
_SECONDS_PER_DAY = 86_400.0
_MOST_PRIORITY = 100
_PLACES_TO_HALF = 10


def rank(
    answers: Sequence[Answer],
    infos: Sequence[SourceInfo],
    now: datetime,
    strategy: Strategy = DEFAULT,
    floors: Mapping[str, float] | None = None,
    history: Mapping[tuple[str, str], float] | None = None,
) -> list[Candidate]:
    """Score every item of every answer, best first.

    Args:
        answers: one per section.
        infos: the description of each answer's source.
        now: what ages are counted to; aware.
        strategy: what each component counts.
        floors: section -> the relevance below which an item supports no other, so that a
            lot of bad matches does not make a good one; default: every item does.
        history: (source, id) -> how often and how lately an item was chosen, 0..1; default:
            none ever was.
    """
    half_life, decay = strategy.half_life_days, strategy.decay
    floors = floors or {}
    level = _common_level(answers, infos)
    candidates = [
        Candidate(
            item=item,
            section=answer.section.key,
            scores=Scores(
                relevance=item.relevance,
                match=match,
                salience=_NEUTRAL if item.salience is None else item.salience,
                recency=(
                    _NEUTRAL
                    if item.created_at is None
                    else recency(item.created_at, now, half_life)
                ),
                priority=info.priority / _MOST_PRIORITY,
                strategy=strategy,
                history=history.get((item.source, item.id), 0.0) if history else 0.0,
                decay=1.0 if decay == 1 else _decayed(item, now, decay),
                support=support,
                hint=item.hint,
            ),
        )
        for answer, info in zip(answers, infos, strict=True)
        for item, match, support in _with_support(
            _matches(answer, info, level), floors.get(answer.section.key, 0.0), strategy.neighbours
        )
    ]
    return sorted(candidates, key=lambda candidate: candidate.order)


def _common_level(answers: Sequence[Answer], infos: Sequence[SourceInfo]) -> float:
    """Return the top level for sources with incomparable scores."""
    best = [
        max(item.relevance for item in answer.items)
        for answer, info in zip(answers, infos, strict=True)
        if answer.items and info.scale == "calibrated"
    ]
    return statistics.median(best) if best else 1.0


def _matches(answer: Answer, info: SourceInfo, level: float) -> Sequence[tuple[ContextItem, float]]:
    """Rescale each item's relevance to the common scale."""
    if info.scale == "calibrated":
        return [(item, item.relevance) for item in answer.items]
    # Sorting is stable: items of equal relevance stay in their source's order.
    in_order = sorted(answer.items, key=lambda item: -item.relevance)
    return [
        (item, level * _PLACES_TO_HALF / (_PLACES_TO_HALF + place))
        for place, item in enumerate(in_order)
    ]


def _with_support(
    matches: Sequence[tuple[ContextItem, float]], floor: float, weight: float
) -> Iterator[tuple[ContextItem, float, float]]:
    """Yield each item with its match and its neighbours' support."""
    items = [item for item, _ in matches]
    lending = [match if item.relevance >= floor else 0.0 for item, match in matches]
    for (item, match), support in zip(matches, supports(items, lending, weight), strict=True):
        yield item, match, support


def _decayed(item: ContextItem, now: datetime, factor: float) -> float:
    """Decay a score by age; undated items do not decay."""
    return 1.0 if item.created_at is None else float(factor ** _days(item.created_at, now))


def recency(created_at: datetime, now: datetime, half_life_days: float) -> float:
    """Return recency: 1 for now, halved with each half-life.

    A time in the future counts as now.
    """
    return float(0.5 ** (_days(created_at, now) / half_life_days))


def _days(created_at: datetime, now: datetime) -> float:
    return max(0.0, (now - created_at).total_seconds()) / _SECONDS_PER_DAY


# Words are hashed into this many buckets: two texts of a few hundred words share few by chance.
_BUCKETS = 4096
_WORD = re.compile(r"\w+")


def diversify(candidates: Sequence[Candidate], diversity: float) -> list[Candidate]:
    """Reorder candidates by score and low redundancy.

    Args:
        candidates: best first.
        diversity: the penalty for redundancy, 0..1; 0 changes nothing.

    Returns:
        The same candidates, best first, with `redundancy` in their scores.
    """
    if diversity == 0 or not candidates:
        return list(candidates)
    import numpy as np

    likeness = _likeness([candidate.item.own_text for candidate in candidates])
    scores = np.array([candidate.scores.before_diversity for candidate in candidates])
    redundancy = np.zeros(len(candidates))
    waiting = np.ones(len(candidates), dtype=bool)
    ordered = []
    for _ in candidates:
        gain = np.where(waiting, (1 - diversity) * scores - diversity * redundancy, -np.inf)
        taken = int(gain.argmax())
        waiting[taken] = False
        ordered.append(_marked(candidates[taken], float(redundancy[taken]), diversity))
        np.maximum(redundancy, likeness[taken], out=redundancy, where=waiting)
    return ordered


def _likeness(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the cosine of every two texts' words, 0..1."""
    import numpy as np

    counts = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in _WORD.findall(text.casefold()):
            counts[row, zlib.crc32(word.encode("utf-8", "replace")) % _BUCKETS] += 1
    norms = np.linalg.norm(counts, axis=1, keepdims=True)
    np.divide(counts, norms, out=counts, where=norms > 0)
    # Rounding must not raise the likeness of two equal texts above 1.
    likeness: NDArray[np.float32] = np.clip(counts @ counts.T, 0.0, 1.0)
    return likeness


def _marked(candidate: Candidate, redundancy: float, diversity: float) -> Candidate:
    scores = evolve(candidate.scores, redundancy=redundancy, diversity=diversity)
    return evolve(candidate, scores=scores)
