"""Find records by the values of their fields, where a source has too few for an index.

The engine reads each record of the source for such a filter, which takes eight microseconds per
record and question. So a field's values are read once, and follow the writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import qdrant_edge as edge
from attrs import define, field

from contextkit.concurrency import ForkLock
from contextkit.store.base import MOST_HITS, Match, StoredPoint
from contextkit.store.edge_queries import WORTH_AN_INDEX
from contextkit.store.payloads import point_number, scope_of

_MOST_KEPT = 32

_Value = tuple[bool, str | int]
"""A value, and whether it is a truth value: 1 and True are different ones."""


@define(eq=False)
class _Column:
    """The values of one field of a scope's records."""

    points: dict[_Value, set[int]] = field(factory=dict, init=False)
    values: dict[int, Collection[_Value]] = field(factory=dict, init=False)

    def put(self, point: int, value: Any) -> None:
        """Set the values of a point."""
        self.drop(point)
        given = value if isinstance(value, list) else [value]
        self.values[point] = own = {_of(each) for each in given if isinstance(each, (str, int))}
        for each in own:
            self.points.setdefault(each, set()).add(point)

    def drop(self, point: int) -> None:
        """Forget a point."""
        for value in self.values.pop(point, ()):
            self.points[value].discard(point)


@define(eq=False)
class FieldValues:
    """The values of some fields, by scope.

    They must be cleared when the shard is opened, and told of each write after it.
    """

    _kept: dict[tuple[str, str], _Column] = field(factory=dict, init=False)
    _changes: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def clear(self, source: str | None = None) -> None:
        """Forget the values of a source, or all."""
        with self._turn:
            self._changes += 1
            for scope, key in list(self._kept):
                if source is None or scope.partition("/")[0] == source:
                    del self._kept[scope, key]

    def changed(self, deleted: Iterable[int], written: Iterable[StoredPoint]) -> None:
        """Follow a write that succeeded; what was being read meanwhile is refused."""
        with self._turn:
            self._changes += 1
            for point in deleted:
                for column in self._kept.values():
                    column.drop(point)
            for stored in written if self._kept else ():
                payload = stored.payload
                own = scope_of(payload["source"], payload["project"])
                for (scope, key), column in self._kept.items():
                    if scope == own:
                        value = payload["fields"].get(key.partition(".")[2])
                        column.put(point_number(stored.id), value)
            # The engine's index answers for more records.
            self._kept = {k: c for k, c in self._kept.items() if len(c.values) <= WORTH_AN_INDEX}

    def points(self, shard: edge.EdgeShard, matches: Sequence[Match]) -> list[int]:
        """Return the points that match, in the engine's order.

        Args:
            shard: the open shard.
            matches: conditions for which `can_answer` is true.
        """
        scopes, *fields = matches
        found: set[int] = set()
        for scope in map(str, scopes.values):
            columns = [self._column(shard, scope, each.key).points for each in fields]
            with self._turn:
                having = (
                    {p for value in each.values for p in points.get(_of(value), ())}
                    for each, points in zip(fields, columns, strict=True)
                )
                found |= set.intersection(*having)
        return sorted(found)

    def _column(self, shard: edge.EdgeShard, scope: str, key: str) -> _Column:
        kept, before = self._kept.get((scope, key)), self._changes
        if kept is not None:
            return kept
        column = _read(shard, scope, key)
        with self._turn:
            if before == self._changes:
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[scope, key] = column
        return column


def _of(value: str | int) -> _Value:
    return isinstance(value, bool), value


def can_answer(matches: Sequence[Match]) -> bool:
    """Whether conditions are the scopes, and values of fields that are not nested."""
    scopes, *fields = matches or [Match("")]
    return (
        scopes.key == "scope"
        and bool(fields)
        and all(each.values and each.key.count(".") == 1 and '"' not in each.key for each in fields)
    )


def _read(shard: edge.EdgeShard, scope: str, key: str) -> _Column:
    """Read the values of a field from the scope's records."""
    name = key.partition(".")[2]
    selected = edge.Filter(must=[edge.FieldCondition("scope", match=edge.MatchValue(scope))])
    request = edge.ScrollRequest(limit=MOST_HITS, filter=selected, with_payload=[key])
    found: Any = shard.scroll(request)[0]
    column = _Column()
    for point in found:
        column.put(point.id, ((point.payload or {}).get("fields") or {}).get(name))
    return column
