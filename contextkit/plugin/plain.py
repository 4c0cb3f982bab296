"""Copy what a plugin returned to plain values.

A subclass of `str`, `dict` or `ContextItem` may have methods that are slow, that raise or that
never end. They run here, in the plugin's own time, and never in a later stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from operator import attrgetter
from types import NoneType
from typing import Any

from attrs import evolve, fields

from contextkit.models.items import ContextItem, Provenance, Successor
from contextkit.text.passages import Excerpt

MOST_CHARACTERS = 1_000_000
"""How much text of one source an assembly takes: what is more fits into no context."""

_MOST_VALUES = 10_000
_DEEPEST = 50

_NAMES = tuple(each.name for each in fields(ContextItem))
_CHECKED = ("source", "content", "id", "kind", "title", "text", "location", "sequence", "position")
_values = attrgetter(*_CHECKED, "metadata", "also_in", "must_keep", "superseded_by")
_TEXTS = {str, Excerpt}
_SCALARS = {str, int, float, bool, NoneType}
_CONTAINERS = {dict, list, tuple}
_VALUES = _SCALARS | _CONTAINERS
_TEXT: Set[type] = {str}
_OPTIONAL: Set[type] = {str, NoneType}
_NUMBER: Set[type] = {int, NoneType}
_MAPPING: Set[type] = {dict}
_TUPLE: Set[type] = {tuple}
_NONE: Set[type] = {NoneType}
_PLAIN: Sequence[Set[type]] = (
    *(_TEXT, _TEXT, _TEXT, _TEXT, _OPTIONAL, _OPTIONAL, _OPTIONAL, _OPTIONAL),
    *(_NUMBER, _MAPPING, _TUPLE, _TUPLE, _NONE),
)
_plain_types: set[tuple[type, ...]] = set()
"""Types of an item's fields that are plain: there are few, and items are many."""


class TooMuchError(ValueError):
    """A plugin returned more than can be used."""


def plain_item(item: ContextItem) -> ContextItem:
    """Return an item of plain values.

    The item itself is returned if its fields are of the right types and its metadata is small. A
    copy's types are still to be checked.

    Raises `TooMuchError` for metadata that is too large.
    """
    if type(item) is not ContextItem:
        item = _rebuilt(item)
    values = _values(item)
    types = tuple(map(type, values))
    if types not in _plain_types:
        if all(kind in plain for kind, plain in zip(types, _PLAIN, strict=True)):
            _plain_types.add(types)
        else:
            return _copied(item)
    metadata = item.metadata
    if not _is_small(metadata):
        metadata = _Copy().mapping(metadata)
    if metadata is item.metadata and item.also_in == () and {*map(type, item.must_keep)} <= _TEXT:
        return item
    return _copied(evolve(item, metadata=metadata))


def _rebuilt(item: ContextItem) -> ContextItem:
    return ContextItem(**{name: getattr(item, name) for name in _NAMES})


def _copied(item: ContextItem) -> ContextItem:
    copy = _Copy()
    texts = {name: plain_text(getattr(item, name)) for name in _CHECKED}
    metadata = item.metadata
    if isinstance(metadata, Mapping) and not _is_small(metadata):
        metadata = copy.mapping(metadata)
    newer = item.superseded_by
    return evolve(
        item,
        **texts,
        metadata=metadata,
        also_in=_each(item.also_in, Provenance, _provenance),
        must_keep=_each(item.must_keep, str, plain_text),
        superseded_by=_successor(newer) if isinstance(newer, Successor) else newer,
    )


def _each(entries: Any, kind: type, copied: Any) -> Any:
    if not isinstance(entries, tuple):
        return entries
    return tuple(copied(each) if isinstance(each, kind) else each for each in entries)


def _provenance(other: Provenance) -> Provenance:
    return Provenance(*map(plain_text, (other.source, other.id, other.location)))


def _successor(newer: Successor) -> Successor:
    return Successor(
        plain_text(newer.id), newer.created_at, plain_text(newer.location), plain_text(newer.title)
    )


def plain_text(value: Any) -> Any:
    """Return a text without the methods of its subclass; other values unchanged."""
    if type(value) in _TEXTS or not isinstance(value, str):
        return value
    return str.__str__(value)


def _is_small(metadata: Mapping[str, Any]) -> bool:
    """Check whether metadata has only plain values, and few, as nearly all has."""
    if type(metadata) is not dict:
        return False
    if not metadata:
        return True
    waiting: list[Any] = [metadata]
    values = characters = 0
    for each in waiting:
        values += len(each)
        # So few containers are not nested too deeply either.
        if len(waiting) > _DEEPEST or values > _MOST_VALUES:
            return False
        if type(each) is dict:
            if each and {*map(type, each)} != _TEXT:
                return False
            each = each.values()  # noqa: PLW2901
        # Collecting the types once is faster than testing each value in a loop.
        kinds = {*map(type, each)}
        if not kinds <= _VALUES:
            return False
        if str in kinds:
            characters += sum([len(value) for value in each if type(value) is str])
        if not kinds.isdisjoint(_CONTAINERS):
            waiting += [value for value in each if type(value) in _CONTAINERS]
    return characters <= MOST_CHARACTERS


class _Copy:
    """Copies one item's metadata, within a number of values and characters.

    Objects other than texts, mappings, lists and tuples stay as they are.
    """

    def __init__(self) -> None:
        self.values = 0
        self.characters = 0

    def mapping(self, found: Mapping[Any, Any], depth: int = 0) -> dict[Any, Any]:
        return {
            plain_text(key): self.value(value, depth + 1)
            for key, value in self.counted(found.items())
        }

    def value(self, value: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            raise TooMuchError(f"its metadata is more than {_DEEPEST} levels deep")
        kind = type(value)
        if isinstance(value, str):
            value = plain_text(value)
            self.characters += len(value)
            if self.characters > MOST_CHARACTERS:
                raise TooMuchError(f"its metadata has more than {MOST_CHARACTERS:,} characters")
            return value
        if kind in _SCALARS:
            return value
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if isinstance(value, list):
            return [self.value(each, depth + 1) for each in self.counted(value)]
        if isinstance(value, tuple):
            return tuple(self.value(each, depth + 1) for each in self.counted(value))
        return value

    def counted(self, values: Iterable[Any]) -> Iterable[Any]:
        for value in values:
            self.values += 1
            if self.values > _MOST_VALUES:
                raise TooMuchError(f"its metadata has more than {_MOST_VALUES:,} values")
            yield value
