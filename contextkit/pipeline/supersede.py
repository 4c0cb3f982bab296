"""Rank the newest of contradicting items first; mark older ones.

Nothing is dropped: an older statement may still be the answer. The newer one stands where the
better of the two would stand, and the older one right behind it, with the newest in its
`superseded_by`. The newer one comes with a relevant older one even if it is not relevant by itself.
Only sources whose items replace older ones take part (`SourceInfo.updates`), and only items with a
date.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from attrs import evolve, field, frozen

from contextkit.models.candidate import Candidate
from contextkit.models.items import ContextItem, Successor
from contextkit.sources.entry import shortened_line

ItemKey = tuple[str, str]
"""An item's section, and its id."""

_FIRST_WORDS = 60


@frozen
class Updates:
    """Which items supersede which, by section and id.

    Attributes:
        newer: an item -> those that supersede it.
        linked: items that come with another one, whatever their relevance.
    """

    newer: Mapping[ItemKey, Sequence[ItemKey]] = field(factory=dict)
    linked: frozenset[ItemKey] = frozenset()


def find_updates(
    candidates: Sequence[Candidate], sources: Collection[str], floors: Mapping[str, float]
) -> Updates:
    """Find the items that supersede relevant ones.

    Args:
        candidates: of all sources; the irrelevant ones, too.
        sources: the sources whose newer items replace older ones that they contradict.
        floors: section -> the relevance below which its items are dropped, 0..1.
    """
    of_section: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.item.source in sources and candidate.item.created_at is not None:
            of_section[candidate.section].append(candidate)
    newer: dict[ItemKey, list[ItemKey]] = {}
    linked: set[ItemKey] = set()
    for section, own in of_section.items():
        items = [candidate.item for candidate in own]
        relevant = {c.item.id for c in own if c.relevance >= floors.get(section, 0.0)}
        known = _known_updates(items)
        for old, new in (*known, *_stated_updates(items)):
            if old in relevant or ((old, new) in known and new in relevant):
                newer.setdefault((section, old), []).append((section, new))
                linked.update({(section, old), (section, new)})
    return Updates(newer, frozenset(linked))


def _known_updates(items: Sequence[ContextItem]) -> list[tuple[str, str]]:
    """Return the (older, newer) pairs of ids that the source knows."""
    ids = {item.id for item in items}
    by = ((item.id, item.superseded_by) for item in items)
    return [(old, new.id) for old, new in by if new is not None and new.id in ids]


def _stated_updates(items: Sequence[ContextItem]) -> list[tuple[str, str]]:
    """Return the (older, newer) pairs of ids whose texts show that one replaces the other.

    The turns of a conversation are no statements that stay true, and an ended item was replaced
    already.
    """
    found = Counter(item.sequence for item in items)
    open_items = [
        item
        for item in items
        if item.valid_until is None and (item.sequence is None or found[item.sequence] == 1)
    ]
    if len(open_items) < 2:
        return []
    # rapidfuzz is imported on first use.
    from contextkit.dedup.updates import updated_pairs

    ordered = sorted(open_items, key=_age_key)
    return [
        (ordered[old].id, ordered[new].id)
        for old, new in updated_pairs([item.own_text for item in ordered])
        # Of two items with the same time, neither supersedes the other.
        if _age_key(ordered[old])[0] != _age_key(ordered[new])[0]
    ]


def mark_superseded(candidates: Sequence[Candidate], updates: Updates) -> list[Candidate]:
    """Move updates before the items that they supersede.

    Args:
        candidates: of all sources, without duplicates.
        updates: as `find_updates` found them.

    Returns:
        The same candidates, best first, the superseded ones marked.
    """
    marked = {_key(candidate): candidate for candidate in candidates}
    superseded = [key for key in updates.newer if key in marked]
    # The oldest come first, because an item that moves an update up may have been moved up itself.
    for key in sorted(superseded, key=lambda key: _age_key(marked[key].item)):
        newer = [other for other in updates.newer[key] if other in marked]
        if not newer:
            continue
        rank = marked[key].scores.rank_by
        for update in newer:
            marked[update] = _lifted(marked[update], rank)
        newest = max(newer, key=lambda update: _age_key(marked[update].item))
        if marked[key].item.superseded_by is not None:
            # The source shows what it knows to be replaced only if the question asks for it.
            marked[key] = _lifted(marked[key], marked[newest].scores.rank_by)
        marked[key] = _superseded(marked[key], marked[newest].item, len(newer))
    return sorted(marked.values(), key=lambda candidate: candidate.order)


def _key(candidate: Candidate) -> ItemKey:
    return candidate.section, candidate.item.id


def _age_key(item: ContextItem) -> tuple[float, str]:
    since = item.valid_from or item.created_at
    return (since.timestamp() if since else 0.0, item.id)


def _lifted(candidate: Candidate, rank: float) -> Candidate:
    if candidate.scores.rank_by >= rank:
        return candidate
    return evolve(candidate, scores=evolve(candidate.scores, lifted=rank))


def _superseded(candidate: Candidate, by: ContextItem, updates: int) -> Candidate:
    item = candidate.item
    title = shortened_line(by.own_text, _FIRST_WORDS)
    successor = item.superseded_by or Successor(
        by.id, by.valid_from or by.created_at, by.location, title
    )
    metadata = {**item.metadata, "superseded_by": successor.id}
    return evolve(
        candidate,
        item=evolve(item, superseded_by=successor, metadata=metadata),
        updates=updates,
    )
