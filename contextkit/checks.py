"""Checking what a plugin's hooks return, so that an error names the plugin and the hook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from contextkit.errors import SourceError
from contextkit.models import ContextItem, RecipeTemplate, SourceInfo

__all__ = [
    "checked_info",
    "checked_items",
    "checked_keys",
    "checked_recipes",
    "checked_texts",
    "checked_weight",
]

T = TypeVar("T")


def _sequence_of(source: str, hook: str, result: object, kind: type[T]) -> tuple[T, ...]:
    if isinstance(result, (str, bytes)) or not isinstance(result, Sequence):
        raise SourceError(
            source, hook, f"expected a sequence of {kind.__name__}, got {type(result).__name__}"
        )
    for position, entry in enumerate(result):
        if not isinstance(entry, kind):
            raise SourceError(
                source,
                hook,
                f"entry {position} is a {type(entry).__name__}, expected {kind.__name__}",
            )
    return tuple(result)


def _one_per_item(source: str, hook: str, returned: int, items: int) -> None:
    if returned != items:
        raise SourceError(source, hook, f"returned {returned} results for {items} items")


def checked_items(source: str, result: object, limit: int) -> tuple[ContextItem, ...]:
    """What `contextkit_query` returned: at most `limit` items, all of this source."""
    hook = "contextkit_query"
    items = _sequence_of(source, hook, () if result is None else result, ContextItem)
    for item in items:
        if item.source != source:
            raise SourceError(
                source, hook, f"item {item.id!r} says it is of source '{item.source}'"
            )
        if not isinstance(item.content, str):
            raise SourceError(
                source, hook, f"item {item.id!r}: content is a {type(item.content).__name__}"
            )
    return items[:limit]


def checked_texts(source: str, result: object, items: int) -> tuple[str, ...]:
    """What `contextkit_format` returned: one text per item."""
    texts = _sequence_of(source, "contextkit_format", result, str)
    _one_per_item(source, "contextkit_format", len(texts), items)
    return texts


def checked_keys(source: str, result: object, items: int) -> tuple[tuple[str, ...], ...]:
    """What `contextkit_dedup_keys` returned: per item a sequence of keys."""
    hook = "contextkit_dedup_keys"
    if isinstance(result, (str, bytes)) or not isinstance(result, Sequence):
        raise SourceError(source, hook, f"expected a sequence, got {type(result).__name__}")
    _one_per_item(source, hook, len(result), items)
    return tuple(_sequence_of(source, hook, keys, str) for keys in result)


def checked_weight(source: str, result: object) -> float:
    """What `contextkit_weight` returned: a finite number over 0."""
    if isinstance(result, bool) or not isinstance(result, (int, float)):
        raise SourceError(
            source, "contextkit_weight", f"expected a number, got {type(result).__name__}"
        )
    if not (math.isfinite(result) and result > 0):
        raise SourceError(source, "contextkit_weight", f"expected a number over 0, got {result}")
    return float(result)


def checked_info(source: str, result: object) -> SourceInfo:
    """What `contextkit_source` returned."""
    if not isinstance(result, SourceInfo):
        raise SourceError(
            source, "contextkit_source", f"expected a SourceInfo, got {type(result).__name__}"
        )
    return result


def checked_recipes(plugin: str, result: object) -> tuple[RecipeTemplate, ...]:
    """What `contextkit_recipes` returned."""
    return _sequence_of(plugin, "contextkit_recipes", result, RecipeTemplate)
