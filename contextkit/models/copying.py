"""Copy frozen objects in a fraction of the time that `attrs.evolve` takes."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from attrs import fields

T = TypeVar("T")


def copied(value: T, **changes: Any) -> T:
    """Copy a frozen object with changed parts.

    No part is converted or checked. So the changes must be valid, and no other part may be
    computed from them.
    """
    copy = object.__new__(type(value))
    put = object.__setattr__
    kind: Any = type(value)
    for name in _names(kind):
        put(copy, name, changes[name] if name in changes else getattr(value, name))
    return copy


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
