"""Keep the best-scored item of each set of duplicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attrs import frozen

from contextkit.models.copying import copied
from contextkit.models.items import ContextItem, Provenance


class Duplicate(NamedTuple):
    """The reason why an item was removed.

    Attributes:
        winner: the position of the item that was kept instead.
        why: why the two are duplicates.
    """

    winner: int
    why: str


@frozen
class DedupResult:
    """The result of deduplication.

    Attributes:
        kept: positions of the remaining items, in input order.
        duplicate_of: position of every removed item -> the reason.
        items: the remaining items, in input order, with the provenance of their duplicates in
            `also_in`.
    """

    kept: tuple[int, ...]
    duplicate_of: Mapping[int, Duplicate]
    items: tuple[ContextItem, ...]


def deduplicate(
    items: Sequence[ContextItem],
    scores: Sequence[float],
    keys: Sequence[Sequence[str]],
    threshold: float | None = 0.90,
) -> DedupResult:
    """Keep the best-scored item of each set of duplicates.

    Items are processed best first, ties by source and id, so that the result does not depend on
    their order. Each is compared only with the items kept so far: duplicates of a removed item
    are not removed with it.

    Args:
        items: the candidates of all sources.
        scores: each item's score, comparable across sources.
        keys: for each item, the keys that identify the same thing in any source.
        threshold: the ratio from which two texts are near duplicates, over 0, at most 1; at 1
            texts must be equal except for case, punctuation and white space. None: no texts
            are compared.

    Raises:
        ValueError: the numbers of items, scores and keys differ, or the threshold is out of
            range.
    """
    if not len(items) == len(scores) == len(keys):
        raise ValueError(
            f"expected one score and one list of keys per item, got {len(items)} items, "
            f"{len(scores)} scores and {len(keys)} lists of keys"
        )
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(f"threshold must be over 0 and at most 1, got {threshold!r}")
    order = [
        position
        for *_, position in sorted(
            (-score, item.source, item.id, item.own_text, position)
            for position, (item, score) in enumerate(zip(items, scores, strict=True))
        )
    ]
    ranked = [items[position] for position in order]
    lost = _find_duplicates(ranked, [keys[position] for position in order], threshold)
    duplicate_of = {
        order[loser]: Duplicate(order[duplicate.winner], duplicate.why)
        for loser, duplicate in lost.items()
    }
    merged = {order[winner]: item for winner, item in _merged(ranked, lost).items()}
    kept = tuple(position for position in range(len(items)) if position not in duplicate_of)
    return DedupResult(
        kept=kept,
        duplicate_of={loser: duplicate_of[loser] for loser in sorted(duplicate_of)},
        items=tuple(merged.get(position, items[position]) for position in kept),
    )


def _find_duplicates(
    items: Sequence[ContextItem], keys: Sequence[Sequence[str]], threshold: float | None
) -> dict[int, Duplicate]:
    """Map removed items to the reasons; items come best first."""
    records = _KeptRecords()
    texts = None
    if threshold is not None:
        # numpy and rapidfuzz are imported with the first use.
        from contextkit.dedup.texts import KeptTexts

        texts = KeptTexts([item.own_text for item in items], threshold)
    lost: dict[int, Duplicate] = {}
    for position, item in enumerate(items):
        found = records.find(item, keys[position])
        if found is None and texts is not None:
            found = texts.find(position)
        if found is not None:
            lost[position] = Duplicate(*found)
            continue
        records.add(position, item, keys[position])
        if texts is not None:
            texts.add(position)
    return lost


class _KeptRecords:
    """The items kept so far, by id and key."""

    def __init__(self) -> None:
        self._by_id: dict[tuple[str, str], int] = {}
        self._by_key: dict[str, list[tuple[int, str]]] = {}
        self._joined: set[tuple[int, str]] = set()

    def add(self, position: int, item: ContextItem, keys: Sequence[str]) -> None:
        self._by_id[item.source, item.id] = position
        for key in keys:
            self._by_key.setdefault(key, []).append((position, item.source))

    def find(self, item: ContextItem, keys: Sequence[str]) -> tuple[int, str] | None:
        """Find the kept item that is the same record."""
        position = self._by_id.get((item.source, item.id))
        if position is not None:
            return position, "same record"
        for key in keys:
            for position, source in self._by_key.get(key, ()):
                # Two records of one source are never merged, not even when an item of another
                # source shares a key with both: it is merged with the better one.
                if source != item.source and (position, item.source) not in self._joined:
                    self._joined.add((position, item.source))
                    return position, f"same key {key}"
        return None


def _merged(items: Sequence[ContextItem], lost: Mapping[int, Duplicate]) -> dict[int, ContextItem]:
    """Add the provenance of removed items to their winners."""
    losers: dict[int, list[ContextItem]] = {}
    for loser, duplicate in lost.items():
        losers.setdefault(duplicate.winner, []).append(items[loser])
    merged = {}
    for winner, others in losers.items():
        item = items[winner]
        places = {(place.source, place.id): place for place in item.also_in}
        for other in others:
            own = Provenance(other.source, other.id, other.location)
            for place in (own, *other.also_in):
                places.setdefault((place.source, place.id), place)
        places.pop((item.source, item.id), None)
        merged[winner] = copied(item, also_in=tuple(places.values()))
    return merged
