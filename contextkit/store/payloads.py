"""A record's payload, and the checksum in it that shows damage.

The checksum covers the point's id and everything that a record is read from. Records of an older
contextkit have none: they are read as they are, and get one when they are written again.

The damaged records that a store has met: left out of searches, and named.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from attrs import define, field

from contextkit.errors import RecordDamagedError
from contextkit.logs import get_logger
from contextkit.models.record import Record

_CHECKSUM = "checksum"
_KEYS = frozenset(
    ("source", "project", "scope", "id", "text", "keywords", "created_at", "fields", "exact")
)
_NOT_A_RECORD = (KeyError, TypeError, ValueError, AttributeError, RecursionError)

# Engines may give the keys back in another order.
_as_json = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def scope_of(source: str, project: str) -> str:
    """What the records of a source in a project have in common; no other two have it."""
    return f"{source}/{project}"


def make_payload(record: Record) -> dict[str, Any]:
    """The payload that both engines store for a record."""
    payload: dict[str, Any] = {
        "source": record.source,
        "project": record.project,
        "scope": scope_of(record.source, record.project),
        "id": record.id,
        "text": record.text,
        "keywords": record.keywords,
        "created_at": record.created_at.isoformat(),
        "fields": _plain(record.fields),
    }
    fields = payload["fields"]
    if _has_long_float(fields):
        payload["exact"] = json.dumps(fields, ensure_ascii=False)
    payload[_CHECKSUM] = _checksum(record.point_id, payload, fields)
    return payload


def record_checksum(record: Record) -> int:
    """The checksum of a record that a store can hold, the same wherever it is stored."""
    return int(make_payload(record)[_CHECKSUM])


def read_payload(point_id: str, payload: Mapping[str, Any] | None) -> Record:
    """The record that a point's payload was made from.

    Args:
        point_id: the point's id, with or without dashes.
        payload: what the engine has for it.

    Raises:
        RecordDamagedError: where it is not what was stored.
    """
    if payload is None:
        raise _damaged(point_id, payload)
    try:
        fields = json.loads(payload["exact"]) if "exact" in payload else payload["fields"]
        stored = payload.get(_CHECKSUM)
        if stored is None:
            # Damage to the checksum's own name leaves a key that no record has.
            sound = payload.keys() <= _KEYS
        else:
            sound = stored == _checksum(point_id, payload, fields)
        if sound:
            return Record(
                id=payload["id"],
                text=payload["text"],
                fields=fields,
                keywords=payload["keywords"],
                created_at=datetime.fromisoformat(payload["created_at"]),
                source=payload["source"],
                project=payload["project"],
            )
    except _NOT_A_RECORD as error:
        raise _damaged(point_id, payload) from error
    raise _damaged(point_id, payload)


def _checksum(point_id: str, payload: Mapping[str, Any], fields: object) -> int:
    # A search reads hundreds of records. Their texts are not put in JSON, which takes longer than
    # all the rest; the length says where one ends.
    text = payload["text"]
    whole = (
        f"{point_id.replace('-', '')}\0{payload['scope']}\0{payload['source']}\0"
        f"{payload['project']}\0{payload['id']}\0{payload['created_at']}\0"
        f"{payload['keywords']}\0{_as_json(fields)}\0{len(text)}\0{text}"
    )
    return zlib.crc32(whole.encode())


def _damaged(point_id: str, payload: Mapping[str, Any] | None) -> RecordDamagedError:
    source, record_id = ((payload or {}).get(key) for key in ("source", "id"))
    if isinstance(source, str) and isinstance(record_id, str):
        return RecordDamagedError([f"{source} record {record_id!r}"])
    return RecordDamagedError([unreadable(point_id)])


def unreadable(point_id: str) -> str:
    """A name for a record of which nothing can be read."""
    return f"the record at point {point_id}"


def _plain(value: object) -> object:
    """The same JSON value in dicts and lists, which is all that the engines take."""
    match value:
        case Mapping():
            return {key: _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
    return value


def _has_long_float(value: object) -> bool:
    """Whether there is a float in it that the engine may read back one bit off.

    The engine's JSON reader is exact for up to 15 digits and a small exponent.
    """
    match value:
        case float():
            short = float(f"{value:.15g}") == value
            return value != 0 and not (short and 1e-6 <= abs(value) < 1e15)
        case Mapping():
            return any(_has_long_float(inner) for inner in value.values())
        case list() | tuple():
            return any(_has_long_float(inner) for inner in value)
    return False


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
