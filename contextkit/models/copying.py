"""Copy frozen objects in a fraction of the time that `attrs.evolve` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from attrs import fields

T = TypeVar("T")


def copied(value: T, **changes: Any) -> T:
    """Copy a frozen object with changed parts.

    No part is converted or checked. So the changes must be valid, and no other part may be
    computed from them.
    """
    kind: Any = type(value)
    copy: T = object.__new__(kind)
    put, parts_of = _parts(kind)
    for set_part, part in zip(put.values(), parts_of(value), strict=True):
        set_part(copy, part)
    for name, part in changes.items():
        put[name](copy, part)
    return copy


@cache
def _parts(kind: Any) -> tuple[Mapping[str, Callable[[Any, Any], None]], Callable[[Any], Any]]:
    """What writes each part, and what reads all of them."""
    names = [each.name for each in fields(kind)]
    return {name: getattr(kind, name).__set__ for name in names}, attrgetter(*names)
