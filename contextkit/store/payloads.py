"""A record's payload, and the checksum that reveals damage.

The checksum covers the point's id and everything that a record is read from. Records of older
versions of contextkit have none: they are read unchecked, and get one when they are next written.
Searches leave damaged records out and remember their names.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from attrs import define, field

from contextkit.errors import RecordDamagedError
from contextkit.logs import get_logger
from contextkit.models.record import Record, point_digits

_CHECKSUM = "checksum"
_KEYS = frozenset(
    ("source", "project", "scope", "id", "text", "keywords", "created_at", "fields", "exact")
)
_WHOLE = frozenset((str, int, bool, type(None)))
"""The types of values that engines read exactly."""
_NOT_A_RECORD = (KeyError, TypeError, ValueError, AttributeError, RecursionError)

# Engines may return the keys in another order.
_as_json = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode

PointId = str | int
"""A point's UUID, with or without dashes, or its number in an embedded store."""

Payload = tuple[str, Mapping[str, Any] | None]
"""A point's UUID and its payload; None if the engine cannot read it."""

AnyPoint = TypeVar("AnyPoint", str, int)
"""A store's kind of point ids."""

_log = get_logger(__name__)


def scope_of(source: str, project: str) -> str:
    """A key that identifies a source in a project."""
    return f"{source}/{project}"


def projects_by_source(scopes: Iterable[str]) -> dict[str, set[str]]:
    """Map each source to its projects; a source's name has no slash."""
    found: dict[str, set[str]] = {}
    for scope in scopes:
        source, _, project = scope.partition("/")
        found.setdefault(source, set()).add(project)
    return found


def point_number(point_id: str) -> int:
    """The number of a point in an embedded store.

    The engine finds and returns points by numbers several times faster than by UUIDs. The number
    has the first 62 random bits of the UUID, so it sorts points in the same order. Two records
    of a million have the same number with a probability of one in nine million; `put` refuses
    the second one.
    """
    digits = point_id.replace("-", "")
    # Without the digit of the UUID's version, which is always the same.
    return int(digits[:12] + digits[13:17], 16)


def point_numbers(point_ids: Iterable[str]) -> list[int]:
    """`point_number` of each."""
    return [point_number(point_id) for point_id in point_ids]


def make_payload(record: Record) -> dict[str, Any]:
    """Build the payload that both engines store for a record."""
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
    """A record's checksum, the same in every store."""
    return int(make_payload(record)[_CHECKSUM])


def read_payload(point_id: PointId, payload: Mapping[str, Any] | None) -> Record:
    """Read the record that a payload was made from.

    Args:
        point_id: the point's id.
        payload: the engine's payload for it.

    Raises:
        RecordDamagedError: the payload differs from the stored one.
    """
    if payload is None:
        raise _damaged(point_id, payload)
    try:
        fields = json.loads(payload["exact"]) if "exact" in payload else payload["fields"]
        stored = payload.get(_CHECKSUM)
        if stored is None:
            # A damaged checksum key would be a key that no record has.
            sound = payload.keys() <= _KEYS
        else:
            uuid = point_id if isinstance(point_id, str) else _uuid(point_id, payload)
            sound = stored == _checksum(uuid, payload, fields)
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


def record_digits(payload: Mapping[str, Any]) -> str:
    """The digits of the UUID of a payload's record."""
    return point_digits(payload["source"], payload["project"], payload["id"])


def _uuid(number: int, payload: Mapping[str, Any]) -> str:
    """The UUID of a payload's record, or `ValueError` for another record's number."""
    digits = record_digits(payload)
    if point_number(digits) != number:
        raise ValueError(f"the record belongs to the point {point_number(digits)}")
    return digits


def _checksum(point_id: str, payload: Mapping[str, Any], fields: object) -> int:
    # A search reads hundreds of records. Encoding their texts as JSON would take longer than
    # everything else; the length marks where a text ends.
    text = payload["text"]
    fields_json = "{}" if fields == {} else _as_json(fields)
    whole = (
        f"{point_id.replace('-', '')}\0{payload['scope']}\0{payload['source']}\0"
        f"{payload['project']}\0{payload['id']}\0{payload['created_at']}\0"
        f"{payload['keywords']}\0{fields_json}\0{len(text)}\0{text}"
    )
    return zlib.crc32(whole.encode())


def _damaged(point_id: PointId, payload: Mapping[str, Any] | None) -> RecordDamagedError:
    source, record_id = ((payload or {}).get(key) for key in ("source", "id"))
    if isinstance(source, str) and isinstance(record_id, str):
        return RecordDamagedError([f"{source} record {record_id!r}"])
    return RecordDamagedError([unreadable(point_id)])


def unreadable(point_id: PointId) -> str:
    """The name of an unreadable record."""
    return f"the record at point {point_id}"


def _plain(value: object) -> object:
    """Convert to the containers that engines take."""
    # Types are compared first: a check for `Mapping` takes longer than the rest.
    if type(value) in _WHOLE:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


def _has_long_float(value: object) -> bool:
    """Whether the engine may read a float of a plain value inexactly.

    The engine's JSON reader is exact for up to 15 digits and a small exponent.
    """
    if type(value) in _WHOLE:
        return False
    if isinstance(value, float):
        short = float(f"{value:.15g}") == value
        return value != 0 and not (short and 1e-6 <= abs(value) < 1e15)
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return False
    return any(map(_has_long_float, value))


@define(eq=False)
class Damage:
    """The damaged records that were found and not yet repaired."""

    _names: dict[PointId, str] = field(factory=dict, init=False)

    @property
    def problem(self) -> str | None:
        """Describe the known damage, or None."""
        # Copied in one step, as other threads may add to it.
        names = sorted(list(self._names.values()))  # noqa: C414
        return str(RecordDamagedError(names)) if names else None

    def sound(
        self, points: Iterable[tuple[AnyPoint, Mapping[str, Any] | None]]
    ) -> dict[AnyPoint, Record]:
        """Return the sound records by point.

        Log and remember the damaged ones.
        """
        found: dict[AnyPoint, Record] = {}
        for point_id, payload in points:
            try:
                found[point_id] = read_payload(point_id, payload)
            except RecordDamagedError as error:
                self._add(point_id, error.records[0])
        if self._names:
            self.mended(found)
        return found

    def names(self, point_ids: Iterable[PointId]) -> list[str]:
        """The names of damaged ones among these points."""
        if not self._names:
            return []
        known = (self._names.get(_key(point_id)) for point_id in point_ids)
        return [name for name in known if name is not None]

    def mended(self, point_ids: Iterable[PointId] | None) -> None:
        """Forget points that were rewritten or deleted; None: forget all."""
        if self._names:
            for point_id in list(self._names) if point_ids is None else point_ids:
                self._names.pop(_key(point_id), None)

    def _add(self, point_id: PointId, name: str) -> None:
        key = _key(point_id)
        if key not in self._names:
            _log.warning("record_damaged", record=name, point=point_id)
        self._names[key] = name


def _key(point_id: PointId) -> PointId:
    return point_id.replace("-", "") if isinstance(point_id, str) else point_id
