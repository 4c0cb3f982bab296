"""Rank the newest of contradicting items first; mark older ones.

Nothing is dropped: an older statement may still be the answer. The newer one stands where the
better of the two would stand, and the older one right behind it, with the newest in its
`superseded_by`. Only sources whose items replace older ones take part (`SourceInfo.updates`), and
only items with a date.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from attrs import evolve

from contextkit.models.candidate import Candidate
from contextkit.models.items import ContextItem, Successor


def mark_superseded(candidates: Sequence[Candidate], sources: Collection[str]) -> list[Candidate]:
    """Move updates before the items that they supersede.

    Args:
        candidates: of all sources, without duplicates.
        sources: the sources whose newer items replace older ones that they contradict.

    Returns:
        The same candidates, best first, the superseded ones marked.
    """
    of_section: dict[str, list[int]] = defaultdict(list)
    for place, candidate in enumerate(candidates):
        if candidate.item.source in sources and candidate.item.created_at is not None:
            of_section[candidate.section].append(place)
    marked = list(candidates)
    for places in of_section.values():
        if len(places) > 1:
            own = [candidates[place] for place in places]
            for place, candidate in zip(places, _marked(own), strict=True):
                marked[place] = candidate
    return sorted(marked, key=lambda candidate: candidate.order)


def _marked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Mark and rerank one section's candidates, in the same order."""
    newer = _newer_ones(candidates)
    marked = list(candidates)
    # The oldest come first, because an item that moves an update up may have been moved up itself.
    for place in sorted(newer, key=lambda place: _age_key(candidates[place].item)):
        rank = marked[place].scores.rank_by
        for update in newer[place]:
            if marked[update].scores.rank_by < rank:
                marked[update] = _lifted(marked[update], rank)
        newest = max(newer[place], key=lambda update: _age_key(candidates[update].item))
        marked[place] = _superseded(marked[place], candidates[newest].item, len(newer[place]))
    return marked


def _newer_ones(candidates: Sequence[Candidate]) -> Mapping[int, Sequence[int]]:
    """Map candidates to the newer ones that contradict them.

    Candidates without any are left out.
    """
    # rapidfuzz is imported on first use.
    from contextkit.dedup.contradictions import contradicting_pairs

    newer: dict[int, list[int]] = defaultdict(list)
    items = [candidate.item for candidate in candidates]
    for one, other in contradicting_pairs([item.own_text for item in items]):
        # Of two items with the same time, neither supersedes the other.
        if items[one].created_at != items[other].created_at:
            old, new = sorted((one, other), key=lambda place: _age_key(items[place]))
            newer[old].append(new)
    return newer


def _age_key(item: ContextItem) -> tuple[float, str]:
    return (item.created_at.timestamp() if item.created_at else 0.0, item.id)


def _lifted(candidate: Candidate, rank: float) -> Candidate:
    return evolve(candidate, scores=evolve(candidate.scores, lifted=rank))


def _superseded(candidate: Candidate, by: ContextItem, updates: int) -> Candidate:
    successor = Successor(by.id, by.created_at, by.location)
    item = evolve(
        candidate.item,
        superseded_by=successor,
        metadata={**candidate.item.metadata, "superseded_by": by.id},
    )
    return evolve(candidate, item=item, updates=updates)
