"""Check sources with requests filtered by kind, type or time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextkit.models.items import ContextItem
from contextkit.pipeline.filters import refusal
from contextkit.testing.subject import NotConformingError, Subject, within

_KINDS = 3
"""So many kinds, and so many types, are asked for, each alone."""


def check_filters(subject: Subject) -> None:
    """Check that filters keep a matching item.

    The filters are an item's own kind, entity type and time.
    """
    items = subject.found()
    for item in _one_of_each([i.kind or i.source for i in items], items):
        _ask(subject, item, {"kinds": (item.kind or item.source,)}, "kind_field")
    _check_entity_types(subject, items)
    for item in [item for item in items if item.created_at is not None][:1]:
        _ask(subject, item, {"since": item.created_at}, "dated")


def _check_entity_types(subject: Subject, items: Sequence[ContextItem]) -> None:
    field = subject.kit.registry.info(subject.name).entity_type_field
    if not field:
        return
    typed = [item for item in items if item.metadata.get(field)]
    if not typed:
        raise NotConformingError(
            f"SourceInfo.entity_type_field is {field!r}, which no item has in its metadata: a "
            f"request for entity types leaves all of them out"
        )
    for item in _one_of_each([str(i.metadata[field]) for i in typed], typed):
        _ask(subject, item, {"entity_types": (item.metadata[field],)}, "entity_type_field")


def _one_of_each(names: Sequence[str], items: Sequence[ContextItem]) -> list[ContextItem]:
    first: dict[str, ContextItem] = {}
    for name, item in zip(names, items, strict=True):
        first.setdefault(name, item)
    return list(first.values())[:_KINDS]


def _ask(subject: Subject, item: ContextItem, wanted: Mapping[str, Any], field: str) -> None:
    info = subject.kit.registry.info(subject.name)
    request = subject.request(**wanted)
    found = within(lambda: subject.find(request), subject.timeout)
    if item.id in {other.id for other in found if refusal(other, request, info) is None}:
        return
    said = getattr(info, field)
    hint = (
        f"is SourceInfo.{field} = {said!r} true of its records and items?"
        if said
        else "what it makes of that itself is narrower than what its items say"
    )
    name, value = next(iter(wanted.items()))
    shown = value.isoformat() if name == "since" else list(value)
    raise NotConformingError(
        f"contextkit_query does not find item {item.id!r} any more where the request says "
        f"{name} = {shown}, which it meets: {hint}"
    )
