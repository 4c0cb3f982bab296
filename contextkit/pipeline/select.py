"""Select candidates: apply the relevance floor and dedupe."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import frozen

from contextkit.dedup.deduplicate import deduplicate
from contextkit.logs import get_logger
from contextkit.models.candidate import Candidate
from contextkit.models.copying import copied
from contextkit.models.items import ContextItem, Provenance
from contextkit.models.trace import Verdict
from contextkit.pipeline.reach import Reach
from contextkit.plugin.checks import Failed, log_failure
from contextkit.plugin.manager import SourceRegistry

_log = get_logger(__name__)


@frozen
class Dropped:
    """A dropped candidate with its reason.

    A duplicate also has the item that it repeats.
    """

    candidate: Candidate
    verdict: Verdict
    reason: str
    duplicate_of: Provenance | None = None


@frozen
class Selection:
    """Kept candidates, best first, and dropped ones.

    Attributes:
        kept: the candidates that may be shown.
        dropped: all others, with the reasons.
        far: the dropped ones that are relevant, but out of reach, best first.
    """

    kept: list[Candidate]
    dropped: list[Dropped]
    far: Sequence[Candidate] = ()


def select(
    registry: SourceRegistry,
    candidates: Sequence[Candidate],
    floors: Mapping[str, float],
    failed: Failed = log_failure,
    max_items: int | None = None,
    threshold: float | None = 0.9,
    linked: Collection[tuple[str, str]] = (),
    reach: Reach | None = None,
) -> Selection:
    """Drop items below the floor, then duplicates of better items.

    Between the two, all but the best `max_items` are dropped, and those out of reach.

    A source whose `contextkit_dedup_keys` fails has no keys, and `failed` is called.

    Args:
        registry: calls the hooks.
        candidates: best first.
        floors: section -> the relevance below which its items are dropped, 0..1.
        failed: called for hooks that fail.
        max_items: how many are compared for duplicates at most; None for all.
        threshold: likeness from which two texts are duplicates; None to merge only records that
            were found twice.
        linked: (section, id) of items that come with a relevant one.
        reach: the room for the best; None: any item may be shown.
    """
    relevant, dropped = [], list[Dropped]()
    for candidate in candidates:
        floor = floors[candidate.section]
        if candidate.relevance >= floor or (candidate.section, candidate.item.id) in linked:
            relevant.append(candidate)
        else:
            dropped.append(Dropped(candidate, "below_floor", _below(candidate, floor)))
    if max_items is not None:
        dropped += beyond(relevant, max_items)
        relevant = relevant[:max_items]
    near, far = reach.split(relevant, linked) if reach else (relevant, [])
    selection = _without_duplicates(registry, near, failed, threshold)
    if reach and far and not reach.is_filled([candidate.item for candidate in selection.kept]):
        selection, far = _without_duplicates(registry, relevant, failed, threshold), []
    if reach and far:
        dropped += [Dropped(candidate, "over_budget", reach.reason) for candidate in far]
    return Selection(selection.kept, [*dropped, *selection.dropped], far)


def _without_duplicates(
    registry: SourceRegistry,
    relevant: Sequence[Candidate],
    failed: Failed,
    threshold: float | None,
) -> Selection:
    """Keep the best of each set of duplicates."""
    items = [candidate.item for candidate in relevant]
    keys = [()] * len(items) if threshold is None else _keys(registry, items, failed)
    scores = [candidate.scores.score for candidate in relevant]
    result = deduplicate(items, scores, keys, threshold)
    _log.info(
        "deduplication_complete",
        original_count=len(items),
        deduplicated_count=len(result.kept),
    )
    kept = [
        relevant[index] if item is items[index] else copied(relevant[index], item=item)
        for index, item in zip(result.kept, result.items, strict=True)
    ]
    dropped = []
    for loser, (winner, why) in sorted(result.duplicate_of.items()):
        best = items[winner]
        reason = f"duplicate of {best.source} {best.id}: {why}"
        duplicate_of = Provenance(best.source, best.id, best.location)
        dropped.append(Dropped(relevant[loser], "duplicate", reason, duplicate_of))
    return Selection(sorted(kept, key=lambda candidate: candidate.order), dropped)


def beyond(candidates: Sequence[Candidate], most: int) -> list[Dropped]:
    """Drop the candidates beyond a limit; the best come first."""
    reason = f"it is not among the best {most:,} results"
    return [Dropped(candidate, "over_limit", reason) for candidate in candidates[most:]]


def _below(candidate: Candidate, floor: float) -> str:
    beside = f" ({candidate.relevance:.3f} with its neighbours)" if candidate.scores.support else ""
    return f"relevance {candidate.item.relevance:.3f}{beside} is below the minimum of {floor:g}"


def _keys(
    registry: SourceRegistry, items: Sequence[ContextItem], failed: Failed
) -> list[tuple[str, ...]]:
    """Return each item's dedupe keys, one hook call per source."""
    positions: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        positions.setdefault(item.source, []).append(position)
    keys: list[tuple[str, ...]] = [()] * len(items)
    for source, own in positions.items():
        found = registry.dedup_keys(source, [items[position] for position in own], failed)
        for position, item_keys in zip(own, found, strict=True):
            keys[position] = item_keys
    return keys
