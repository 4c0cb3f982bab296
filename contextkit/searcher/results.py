"""What a host's searcher returns, as the hits of a store.

Nothing here knows one source from another: the names are those of the seeds' results.
"""

from __future__ import annotations

import hashlib
import json
import numbers
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from contextkit.records import NO_TIME, Filters, Hit, Record
from contextkit.searcher.values import named_values, plain

__all__ = ["hit_of"]

_TEXTS = ("content", "text", "code", "message")
_WORDS_IN_FIELDS = ("goal", "signature", "docstring")
_SCORES = ("relevance", "score")
_IDS = ("id", "sha", "ghap_id")
_TIMES = ("created_at", "committed_at", "timestamp")

_ROUNDING = 1e-6
"""By so much may the cosine of two 32-bit vectors leave 0..1."""


def hit_of(result: object, *, source: str, project: str, asked: Filters) -> Hit:
    """The hit that one result is.

    Args:
        result: an object or a mapping, as `Searcher` describes it.
        source: the source that asked.
        project: the project that it asked for.
        asked: the filters that the method was given: where the result does not speak of
            such a field, it has what was asked for.

    Raises:
        ValueError: saying what is wrong with the result.
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
    """A result's names and values, those in `metadata` beside those at the top."""
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
    """The score, taken out of the values."""
    found = {name: values.pop(name) for name in _SCORES if name in values}
    if not found:
        raise ValueError(f"it has no {' or '.join(_SCORES)}: how well it matches, 0..1")
    name, score = next(iter(found.items()))
    if not isinstance(score, (numbers.Real, Decimal)) or isinstance(score, bool):
        raise ValueError(f"its {name} is {score!r:.80}, expected a number within 0..1")
    number = float(score)
    if not -_ROUNDING <= number <= 1 + _ROUNDING:
        raise ValueError(f"its {name} is {number:g}, expected a number within 0..1, 1 the best")
    return min(1.0, max(0.0, number))


def _text(values: dict[str, Any]) -> str:
    """The words, taken out of the values; "" where the fields hold them."""
    name = _first(values, _TEXTS)
    if name is None:
        if _first(values, _WORDS_IN_FIELDS) is None:
            raise ValueError(f"it has none of {', '.join(_TEXTS)}: the words to show")
        return ""
    text = values.pop(name)
    if not isinstance(text, str):
        raise ValueError(f"its {name} is {text!r:.80}, expected a text")
    return text


def _id(values: Mapping[str, Any], text: str) -> str:
    """What tells it from its source's other results, the same every time it is found."""
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
    """When it came to be; None where it does not say so in a form that can be read."""
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
