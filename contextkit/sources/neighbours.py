"""Raise the scores of records beside matching records.

The turns of a session, the functions of a file: a record beside one that answers a query often
belongs to the answer, although it has none of the query's words. Two items of one answer are
neighbours when they have the same `sequence` and their `position`s are one or two apart.

An item's support comes from its neighbours: `1 - product(1 - weight ** distance * m)`, where `m` is
how well each of them matches by itself. It is within 0..1, and one more neighbour never lowers it.
The item after another lends three quarters of that weight, because an answer comes after its
question. Support is not passed on: only an item's own match supports others.

Support lifts no item above the best match, and one that does not match by itself to at most 0.7 of
it: one section that answers comes before a page whose parts support each other.

A sequence with many matches also supports all of its items (`sequence_supports`). Of two sessions
that mention a word, the one about the question answers it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence

from contextkit.models.candidate import supported
from contextkit.models.items import ContextItem

REACH = 2
"""How many positions apart neighbours are at most."""

# Chosen on one half of LoCoMo's questions; the other half agrees within .01.
_FROM_BEHIND = 0.75
_MOST_SUPPORTED = 0.98
"""The part of the best match to which neighbours may raise an item that matches by itself."""

_MOST_UNMATCHED = 0.7
"""The same for an item that does not: what is beside a match comes behind other good matches."""

_OF_A_SEQUENCE = 0.3
_BEST_OF_A_SEQUENCE = (1.0, 0.7, 0.5, 0.35, 0.25)
"""How much the best items of a sequence count for what the sequence is worth, the best first."""

_Place = tuple[str, int]


def supports(items: Sequence[ContextItem], matches: Sequence[float], weight: float) -> list[float]:
    """Return each item's support from its neighbours, 0..1.

    An item without neighbours gets 0, and so does the best match.

    Args:
        items: the items of one source, for one section.
        matches: how well each matches by itself; 0 for one that is to support none.
        weight: the part of its match that the item before lends, 0..1.
    """
    places = [_place_of(item) for item in items]
    lent = _lent(places, matches, weight)
    best = max(matches, default=0.0)
    return [
        0.0 if place is None else _bounded(lent.get(place, 0.0), match, best)
        for place, match in zip(places, matches, strict=True)
    ]


def sequence_supports(items: Sequence[ContextItem]) -> list[float]:
    """Return each item's support from its sequence, 0..1.

    An item that stands alone gets 0. A sequence counts by its five best items. The best sequence
    lends three tenths of the best match, and the others lend in proportion.

    Args:
        items: the hits of a source, and their neighbours.
    """
    matches: dict[str, list[float]] = defaultdict(list)
    for item in items:
        if item.sequence is not None:
            matches[item.sequence].append(item.relevance)
    worth = {
        sequence: sum(
            weight * match
            for weight, match in zip(_BEST_OF_A_SEQUENCE, sorted(own, reverse=True), strict=False)
        )
        for sequence, own in matches.items()
    }
    best = max(worth.values(), default=0.0)
    if best == 0:
        return [0.0] * len(items)
    share = _OF_A_SEQUENCE * max(item.relevance for item in items) / best
    return [share * worth.get(item.sequence or "", 0.0) for item in items]


def beside(items: Sequence[ContextItem], weight: float, floor: float, limit: int) -> list[_Place]:
    """Return the places beside hits whose records are worth fetching.

    The places are sorted. At each of them, the hits' support alone makes a record relevant and one
    of the best. So a record that the search did not find can still enter the context through its
    neighbours.

    Args:
        items: the hits of the source.
        weight: the part of a match that a neighbour lends: the request's `neighbours`.
        floor: the relevance from which on an item supports others, and is relevant itself.
        limit: how many items the source returns in all.
    """
    places = [_place_of(item) for item in items]
    matches = [item.relevance if item.relevance >= floor else 0.0 for item in items]
    lent, best = _lent(places, matches, weight), max(matches, default=0.0)
    found = set(places)
    empty = {
        place: _bounded(support, 0.0, best) for place, support in lent.items() if place not in found
    }
    if not empty:
        return []
    worths = [
        supported(item.relevance, support)
        for item, support in zip(items, supports(items, matches, weight), strict=True)
    ]
    first = heapq.nlargest(limit, [*worths, *empty.values()])
    least = max(floor, first[-1]) if len(first) == limit else floor
    return sorted(place for place, worth in empty.items() if worth >= least)


def best_supported(items: Sequence[ContextItem], weight: float, limit: int) -> list[ContextItem]:
    """Return the best items, counting their neighbours' support.

    The best come first. This serves a source that found neighbours beside its hits and may return
    `limit` items in all.

    Args:
        items: of one source, with their hints; equal items keep their order.
        weight: the part of a match that a neighbour lends: the request's `neighbours`.
        limit: the maximum number of items.
    """
    matches = [item.relevance for item in items]
    lent = supports(items, matches, weight)
    worth = [
        supported(supported(item.relevance, support), item.hint)
        for item, support in zip(items, lent, strict=True)
    ]
    order = sorted(range(len(items)), key=lambda place: -worth[place])
    return [items[place] for place in order[:limit]]


def _bounded(support: float, match: float, best: float) -> float:
    """Return the support with which an item does not pass the best match."""
    most = best * (_MOST_SUPPORTED if match > 0 else _MOST_UNMATCHED)
    return min(support, max(0.0, (most - match) / (1 - match or 1.0)))


def _lent(
    places: Sequence[_Place | None], matches: Sequence[float], weight: float
) -> dict[_Place, float]:
    """Map each supported place to its neighbours' support."""
    best: dict[_Place, float] = {}
    for place, match in zip(places, matches, strict=True):
        if place is not None and match > best.get(place, 0.0):
            best[place] = match
    weights = [
        (away, (weight if away > 0 else weight * _FROM_BEHIND) ** abs(away))
        for away in (*range(-REACH, 0), *range(1, REACH + 1))
    ]
    doubts: dict[_Place, float] = {}
    # Sorted, so that rounding does not depend on the order in which a source answers.
    for (sequence, position), match in sorted(best.items()):
        for away, share in weights:
            place = sequence, position + away
            doubts[place] = doubts.get(place, 1.0) * (1 - share * match)
    return {place: 1 - doubt for place, doubt in doubts.items() if doubt < 1}


def _place_of(item: ContextItem) -> _Place | None:
    if item.sequence is None or item.position is None:
        return None
    return item.sequence, item.position
