"""Apply filters to records in memory, as the engines do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from contextkit.models.record import Filters, Range, Record
from contextkit.store.base import conditions

_MISSING = object()


def check_filters(filters: Filters) -> None:
    """Raise `RecordError` for a filter that no store can compare."""
    conditions(None, None, filters)


def matches(record: Record, filters: Filters) -> bool:
    """Whether a record matches every filter.

    A missing field does not match.

    A list matches if one of its entries does. A dot in a filter's name enters a nested field,
    unless the whole name is a field.
    """
    return all(_matches(_value(record, name), wanted) for name, wanted in filters.items())


def has_field(record: Record, name: str) -> bool:
    """Whether a record has the field that a filter names."""
    return _value(record, name) is not _MISSING


def _value(record: Record, name: str) -> Any:
    if name == "created_at":
        return record.created_at
    if name in record.fields:
        return record.fields[name]
    value: Any = record.fields
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value


def _matches(value: Any, wanted: Any) -> bool:
    if wanted is None:
        return value is _MISSING or value is None or value == []
    if isinstance(value, (list, tuple)):
        return any(_matches(entry, wanted) for entry in value)
    if isinstance(wanted, Range):
        return _within(value, wanted)
    if isinstance(wanted, (list, tuple, set, frozenset)):
        return any(_same(value, one) for one in wanted)
    return _same(value, wanted)


def _same(value: Any, wanted: Any) -> bool:
    # True equals 1 in Python, but not in an engine.
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _within(value: Any, bounds: Range) -> bool:
    given = [bounds.gte, bounds.gt, bounds.lte, bounds.lt]
    if any(isinstance(bound, datetime) for bound in given):
        value = _moment(value)
    elif not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return value is not None and not (
        (bounds.gte is not None and value < bounds.gte)
        or (bounds.gt is not None and value <= bounds.gt)
        or (bounds.lte is not None and value > bounds.lte)
        or (bounds.lt is not None and value >= bounds.lt)
    )


def _moment(value: Any) -> datetime | None:
    """Read a stored time.

    Returns None if it is invalid or has no time zone.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, datetime) and value.utcoffset() is not None else None
