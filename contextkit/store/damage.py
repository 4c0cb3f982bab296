"""The damaged records that a store has met: left out of searches, and named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

from contextkit.errors import RecordDamagedError
from contextkit.logs import get_logger
from contextkit.records import Record
from contextkit.store.payloads import read_payload

__all__ = ["Damage", "Payload"]

Payload = tuple[str, Mapping[str, Any] | None]
"""A point's id with what the engine has for it; None where the engine cannot read that."""

_log = get_logger(__name__)


@define(eq=False)
class Damage:
    """The damaged records that were met and are, as far as is known, still there."""

    _names: dict[str, str] = field(factory=dict, init=False)

    @property
    def problem(self) -> str | None:
        """Describe the known damage; None where there is none."""
        # Copied in one step, as other threads may add to it.
        names = sorted(list(self._names.values()))  # noqa: C414
        return str(RecordDamagedError(names)) if names else None

    def sound(self, points: Iterable[Payload]) -> dict[str, Record]:
        """The records that are what was stored, by point; log the others and remember them."""
        found: dict[str, Record] = {}
        for point_id, payload in points:
            try:
                found[point_id] = read_payload(point_id, payload)
            except RecordDamagedError as error:
                self._add(point_id, error.records[0])
        if self._names:
            self.mended(found)
        return found

    def names(self, point_ids: Iterable[str]) -> list[str]:
        """What those of some points are called that are known to be damaged."""
        if not self._names:
            return []
        known = (self._names.get(_key(point_id)) for point_id in point_ids)
        return [name for name in known if name is not None]

    def mended(self, point_ids: Iterable[str] | None) -> None:
        """Forget points that were written again or deleted; None: any may have been."""
        if self._names:
            for point_id in list(self._names) if point_ids is None else point_ids:
                self._names.pop(_key(point_id), None)

    def _add(self, point_id: str, name: str) -> None:
        key = _key(point_id)
        if key not in self._names:
            _log.warning("record_damaged", record=name, point=point_id)
        self._names[key] = name


def _key(point_id: str) -> str:
    return point_id.replace("-", "")
