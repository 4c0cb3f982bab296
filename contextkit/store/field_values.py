"""Find records by the texts in their fields, where a source has too few for an index.

The engine reads each record of the source for such a filter, which takes eight microseconds per
record and question. So the texts of a field are read once, and kept until the next write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import qdrant_edge as edge
from attrs import define, field

from contextkit.concurrency import ForkLock
from contextkit.store.base import MOST_HITS, Match

_MOST_KEPT = 32

_Points = Mapping[str, Sequence[int]]
"""Text -> the points with it."""


@define(eq=False)
class FieldValues:
    """The texts of some fields, by scope.

    As with the cache of records, they must be cleared when the shard is opened, and those of a
    source at each write of its records.
    """

    _kept: dict[tuple[str, str], _Points] = field(factory=dict, init=False)
    _clearings: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def clear(self, source: str | None = None) -> None:
        """Forget the texts of a source, or all, and refuse those that are being read."""
        with self._turn:
            self._clearings += 1
            for scope, key in list(self._kept):
                if source is None or scope.partition("/")[0] == source:
                    del self._kept[scope, key]

    def points(self, shard: edge.EdgeShard, matches: Sequence[Match]) -> list[int]:
        """Return the points that match, in the engine's order.

        Args:
            shard: the open shard.
            matches: conditions for which `can_answer` is true.
        """
        scopes, *fields = matches
        found: set[int] = set()
        for scope in scopes.values:
            having = []
            for each in fields:
                points = self._of(shard, str(scope), each.key)
                having.append({p for value in each.values for p in points.get(str(value), ())})
            found |= set.intersection(*having)
        return sorted(found)

    def _of(self, shard: edge.EdgeShard, scope: str, key: str) -> _Points:
        kept, state = self._kept.get((scope, key)), self._clearings
        if kept is not None:
            return kept
        read = _read(shard, scope, key)
        with self._turn:
            if state == self._clearings:
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[scope, key] = read
        return read


def can_answer(matches: Sequence[Match]) -> bool:
    """Whether conditions are the scopes, and texts of fields that are not nested."""
    scopes, *fields = matches or [Match("")]
    return (
        scopes.key == "scope"
        and bool(fields)
        and all(
            each.key.count(".") == 1
            and '"' not in each.key
            and each.values
            and all(isinstance(value, str) for value in each.values)
            for each in fields
        )
    )


def _read(shard: edge.EdgeShard, scope: str, key: str) -> _Points:
    """Read the texts of a field from the scope's records."""
    name = key.partition(".")[2]
    points: defaultdict[str, list[int]] = defaultdict(list)
    selected = edge.Filter(must=[edge.FieldCondition("scope", match=edge.MatchValue(scope))])
    request = edge.ScrollRequest(limit=MOST_HITS, filter=selected, with_payload=[key])
    found: Any = shard.scroll(request)[0]
    for point in found:
        value = ((point.payload or {}).get("fields") or {}).get(name)
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                points[text].append(point.id)
    return dict(points)
