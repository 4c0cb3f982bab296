"""A record's payload, and the checksum in it that shows damage.

The checksum covers the point's id and everything that a record is read from. Records of an older
contextkit have none: they are read as they are, and get one when they are written again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from contextkit.errors import RecordDamagedError
from contextkit.records import Record

__all__ = ["make_payload", "read_payload", "record_checksum", "scope_of", "unreadable"]

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
