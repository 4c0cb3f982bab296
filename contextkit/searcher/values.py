"""Somebody else's objects as plain values: names and what they stand for, JSON all the way."""

from __future__ import annotations

import dataclasses
import numbers
import os
from collections.abc import Mapping, Sequence, Set
from datetime import date
from enum import Enum
from typing import Any

import attrs

__all__ = ["named_values", "plain"]

_LEVELS = 8
"""How deep values may be nested; what goes deeper is taken for a cycle of objects."""


def named_values(value: object) -> dict[str, Any] | None:
    """What an object or a mapping says by its public names, without what is None.

    Returns None for what has no names: a text, a number, a class.
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
    # A mapping, or a row of a database, which has keys and is none.
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {name: value[name] for name in value.keys()}  # noqa: SIM118
    return getattr(value, "__dict__", None)


def plain(value: Any, levels: int = _LEVELS) -> Any:
    """The value as JSON would have it; what has no such form is its text.

    Raises `ValueError` for what is nested too deep.
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
    """Numbers of other libraries as Python's own."""
    if value is None or isinstance(value, (str, bool)):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _plain_object(value: Any, levels: int) -> Any:
    found = None if isinstance(value, os.PathLike) else named_values(value)
    if found is None:
        return str(value)
    return {name: plain(inner, levels - 1) for name, inner in found.items()}
