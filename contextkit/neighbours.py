"""Records that stand beside each other support each other.

The turns of a session, the functions of a file: what stands beside something that answers a
query often belongs to the answer, though it has none of the query's words. Two items of one
answer are neighbours when they have the same `sequence` and their `position`s are one or
two apart.

An item's support is what its neighbours lend it, `1 - product(1 - weight ** distance * m)`,
`m` being how well each of them matches by itself: 0..1, and never less for a neighbour more.
Support is not handed on: only an item's own match supports others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from contextkit.models import ContextItem

__all__ = ["REACH", "beside", "best_supported", "supported", "supports"]

REACH = 2
"""How many positions apart neighbours are at most."""

_DISTANCES = (*range(-REACH, 0), *range(1, REACH + 1))

_Place = tuple[str, int]


def supported(value: float, support: float) -> float:
    """A value in 0..1 with the support of the neighbours: no less than before, at most 1."""
    return value if support == 0 else 1 - (1 - value) * (1 - support)


def supports(items: Sequence[ContextItem], matches: Sequence[float], weight: float) -> list[float]:
    """What each item's neighbours lend it, 0..1; 0 for an item that has none.

    Args:
        items: the items of one source, for one section.
        matches: how well each matches by itself; 0 for one that is to support none.
        weight: what a neighbour lends of its match, 0..1; that squared where it is two
            positions away.
    """
    places = [_place_of(item) for item in items]
    best: dict[_Place, float] = {}
    for place, match in zip(places, matches, strict=True):
        if place is not None and match > best.get(place, 0.0):
            best[place] = match
    if not best or not weight:
        return [0.0] * len(items)
    return [0.0 if place is None else _support(place, best, weight) for place in places]


def _support(place: _Place, best: Mapping[_Place, float], weight: float) -> float:
    sequence, position = place
    doubt = 1.0
    for distance in _DISTANCES:
        doubt *= 1 - weight ** abs(distance) * best.get((sequence, position + distance), 0.0)
    return 1 - doubt


def beside(items: Iterable[ContextItem]) -> list[_Place]:
    """Where neighbours of these items may stand that are not among them; sorted.

    A source looks for records at these places, so that what the search did not find can
    still be in the context because of what stands beside it.
    """
    taken = {place for item in items if (place := _place_of(item)) is not None}
    near = {
        (sequence, position + distance)
        for sequence, position in taken
        for distance in _DISTANCES
    }
    return sorted(near - taken)


def best_supported(items: Sequence[ContextItem], weight: float, limit: int) -> list[ContextItem]:
    """The items that are worth most with their neighbours' support, best first.

    For a source that found neighbours beside its hits and may return `limit` items in all.

    Args:
        items: of one source; what ties is left in their order.
        weight: what a neighbour lends of its match: the request's `neighbours`.
        limit: how many at most.
    """
    matches = [item.relevance for item in items]
    lent = supports(items, matches, weight)
    worth = [supported(match, support) for match, support in zip(matches, lent, strict=True)]
    order = sorted(range(len(items)), key=lambda place: -worth[place])
    return [items[place] for place in order[:limit]]


def _place_of(item: ContextItem) -> _Place | None:
    if item.sequence is None or item.position is None:
        return None
    return item.sequence, item.position
