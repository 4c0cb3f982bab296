"""Convert the results of a host's searcher to hits.

All sources are treated alike: the names are those of a searcher's results. Foreign objects
become plain JSON values.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import numbers
import os
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import attrs

from contextkit.models.record import NO_TIME, Filters, Hit, Record

_LEVELS = 8
"""Maximum nesting of values; deeper ones count as a cycle of objects."""

_TEXTS = ("content", "text", "code", "message")
_WORDS_IN_FIELDS = ("goal", "signature", "docstring")
_SCORES = ("relevance", "score")
_IDS = ("id", "sha", "ghap_id")
_TIMES = ("created_at", "committed_at", "timestamp")

_ROUNDING = 1e-6
"""Allowed error of the cosine of two 32-bit vectors beyond 0..1."""


def named_values(value: object) -> dict[str, Any] | None:
    """An object's public names and values, without None.

    Returns None for a value without names: a text, a number, a class.
    """
    found = None if isinstance(value, type) else _mapping_of(value)
    if found is None:
        return None
    return {
        str(name): inner
        for name, inner in found.items()
        if inner is not None and not str(name).startswith("_")
    }


def _mapping_of(value: Any) -> Mapping[Any, Any] | None:
    kind = type(value)
    if attrs.has(kind):
        return {field.name: getattr(value, field.name) for field in attrs.fields(kind)}
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    # A mapping, or a database row, which has keys and is not a mapping.
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {name: value[name] for name in value.keys()}  # noqa: SIM118
    return getattr(value, "__dict__", None)


def plain(value: Any, levels: int = _LEVELS) -> Any:
    """Convert a value to JSON, or else to text.

    Raises `ValueError` for values that are nested too deep.
    """
    if levels == 0:
        raise ValueError(f"its fields are nested deeper than {_LEVELS} levels")
    if isinstance(value, Enum):
        return plain(value.value, levels - 1)
    if value is None or isinstance(value, (str, numbers.Real)):
        return _scalar(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Set):
        return sorted((plain(entry, levels - 1) for entry in value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(entry, levels - 1) for entry in value]
    return _plain_object(value, levels)


def _scalar(value: str | numbers.Real | None) -> str | int | float | bool | None:
    """Convert numbers of other libraries to Python's own."""
    if value is None or isinstance(value, (str, bool)):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _plain_object(value: Any, levels: int) -> Any:
    found = None if isinstance(value, os.PathLike) else named_values(value)
    if found is None:
        return str(value)
    return {name: plain(inner, levels - 1) for name, inner in found.items()}


def hit_of(result: object, *, source: str, project: str, asked: Filters) -> Hit:
    """Convert one result to a hit.

    Args:
        result: an object or a mapping, as `Searcher` describes it.
        source: the source that searched.
        project: the project that it searched.
        asked: the filters that were passed to the method; they give the value of fields that
            the result does not mention.

    Raises:
        ValueError: the result is invalid; the error says why.
    """
    values = _values(result)
    relevance = _relevance(values)
    text = _text(values)
    created_at = _time(values)
    fields = {name: plain(value) for name, value in values.items()}
    if created_at is not None:
        fields.setdefault("timestamp", created_at.isoformat())
    for name, value in asked.items():
        if isinstance(value, (str, int)):
            fields.setdefault(name, value)
    record = Record(
        id=_id(values, text),
        text=text,
        fields=fields,
        created_at=created_at or NO_TIME,
        source=source,
        project=project,
    )
    return Hit(record=record, relevance=relevance, keyword_score=0.0, similarity=None)


def _values(result: object) -> dict[str, Any]:
    """A result's values, with those in `metadata` merged in."""
    top = named_values(result)
    if top is None:
        raise ValueError(f"it is {result!r:.80}, expected an object or a mapping")
    metadata = top.pop("metadata", {})
    nested = named_values(metadata)
    if nested is None:
        raise ValueError(f"its metadata is {metadata!r:.80}, expected a mapping")
    return {**nested, **top}


def _first(values: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in values), None)


def _relevance(values: dict[str, Any]) -> float:
    """Take the score out of the values."""
    found = {name: values.pop(name) for name in _SCORES if name in values}
    if not found:
        raise ValueError(f"it has no {' or '.join(_SCORES)}: expected a number within 0..1")
    name, score = next(iter(found.items()))
    if not isinstance(score, (numbers.Real, Decimal)) or isinstance(score, bool):
        raise ValueError(f"its {name} is {score!r:.80}, expected a number within 0..1")
    number = float(score)
    if not -_ROUNDING <= number <= 1 + _ROUNDING:
        raise ValueError(f"its {name} is {number:g}, expected a number within 0..1, 1 the best")
    return min(1.0, max(0.0, number))


def _text(values: dict[str, Any]) -> str:
    """Take the text out of the values.

    "" if the fields have it.
    """
    name = _first(values, _TEXTS)
    if name is None:
        if _first(values, _WORDS_IN_FIELDS) is None:
            raise ValueError(f"it has none of {', '.join(_TEXTS)}: expected a text to show")
        return ""
    text = values.pop(name)
    if not isinstance(text, str):
        raise ValueError(f"its {name} is {text!r:.80}, expected a text")
    return text


def _id(values: Mapping[str, Any], text: str) -> str:
    """An id unique in its source and stable."""
    name = _first(values, _IDS)
    if name is not None:
        given = values[name]
        if isinstance(given, bool) or not isinstance(given, (str, int, UUID)) or given == "":
            raise ValueError(f"its {name} is {given!r:.80}, expected a text or a number")
        return str(given)
    if "file_path" in values and "start_line" in values:
        return f"{values['file_path']}:{values['start_line']}"
    whole = json.dumps([text, plain(values)], sort_keys=True)
    return hashlib.sha256(whole.encode("utf-8")).hexdigest()[:16]


def _time(values: Mapping[str, Any]) -> datetime | None:
    """The creation time; None if missing or unreadable."""
    name = _first(values, _TIMES)
    if name is None:
        return None
    given = values[name]
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given.strip())
        except ValueError:
            return None
    if not isinstance(given, datetime):
        raise ValueError(f"its {name} is {given!r:.80}, expected a datetime or ISO 8601")
    if given.utcoffset() is None:
        return given.replace(tzinfo=UTC)
    try:
        return given.astimezone(UTC)
    except OverflowError:
        return None
