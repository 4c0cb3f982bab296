"""Which candidates go on: those above the relevance floor, and one of each that say the same."""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from attrs import evolve, frozen

from contextkit.checks import checked_keys
from contextkit.dedup import deduplicate
from contextkit.errors import SourceError
from contextkit.models import ContextItem
from contextkit.ranking import Candidate
from contextkit.registry import SourceRegistry
from contextkit.trace import Verdict

__all__ = ["Dropped", "Selection", "select"]

_log = structlog.get_logger(__name__)


@frozen
class Dropped:
    """A candidate that does not go on, and why, in words."""

    candidate: Candidate
    verdict: Verdict
    reason: str


@frozen
class Selection:
    """What goes on, best first, and what does not."""

    kept: list[Candidate]
    dropped: list[Dropped]


def select(
    registry: SourceRegistry, candidates: Sequence[Candidate], min_relevance: float
) -> Selection:
    """Drop what is below the floor, then all but the best-scored of each set of duplicates."""
    relevant = [c for c in candidates if c.item.relevance >= min_relevance]
    dropped = [
        Dropped(
            candidate,
            "below_floor",
            f"relevance {candidate.item.relevance:.3f} is under the floor of {min_relevance:g}",
        )
        for candidate in candidates
        if candidate.item.relevance < min_relevance
    ]
    items = [candidate.item for candidate in relevant]
    result = deduplicate(
        items, [candidate.scores.score for candidate in relevant], _keys(registry, items)
    )
    kept = [
        evolve(relevant[index], item=item)
        for index, item in zip(result.kept, result.items, strict=True)
    ]
    for loser, (winner, why) in sorted(result.duplicate_of.items()):
        best = items[winner]
        reason = f"duplicate of {best.source} {best.id}: {why}"
        dropped.append(Dropped(relevant[loser], "duplicate", reason))
    return Selection(sorted(kept, key=lambda candidate: candidate.order), dropped)


def _keys(registry: SourceRegistry, items: Sequence[ContextItem]) -> list[tuple[str, ...]]:
    """Each item's dedup keys, one hook call per source."""
    positions: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        positions.setdefault(item.source, []).append(position)
    keys: list[tuple[str, ...]] = [()] * len(items)
    for source, own in positions.items():
        for position, found in zip(
            own, _keys_of(registry, source, [items[position] for position in own]), strict=True
        ):
            keys[position] = found
    return keys


def _keys_of(
    registry: SourceRegistry, source: str, items: list[ContextItem]
) -> Sequence[tuple[str, ...]]:
    try:
        result = registry.call(source, "contextkit_dedup_keys", items=items)
        if result is not None:
            return checked_keys(source, result, len(items))
    except SourceError as error:
        _log.warning("hook_failed", source=source, hook=error.hook, reason=error.reason)
    return [()] * len(items)
