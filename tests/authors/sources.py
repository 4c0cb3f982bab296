"""Small sources for tests to break."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from contextkit import ContextItem, hookimpl

__all__ = ["answering", "counting", "giving", "item", "plugin"]


def item(item_id: str = "a", relevance: float = 0.5, **fields: Any) -> ContextItem:
    """An item of the source."""
    return ContextItem("tide", fields.pop("content", item_id), relevance, id=item_id, **fields)


def plugin(**hooks: Callable[..., Any]) -> ModuleType:
    """A plugin of these hooks."""
    module = ModuleType("tides")
    for name, function in hooks.items():
        setattr(module, name, hookimpl(function))
    return module


def answering(*items: ContextItem, **hooks: Callable[..., Any]) -> ModuleType:
    """A source that always finds the same, with further hooks."""
    return plugin(contextkit_query=lambda request: list(items)[: request.limit], **hooks)


def giving(hook: str, function: Callable[..., Any]) -> ModuleType:
    """A source that finds two items and has one more hook."""
    return answering(item("a"), item("b"), **{hook: function})


def counting() -> Callable[[], int]:
    """Gives another number at each call."""
    numbers = itertools.count(1)
    return lambda: next(numbers)
