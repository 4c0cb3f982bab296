"""Leaving out what a session has been shown, before anything is ranked."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Collection, Generator, Iterator
from contextvars import ContextVar
from typing import Any

from contextkit.hookspecs import hookimpl
from contextkit.kit import ContextKit
from contextkit.models import ContextItem

__all__ = ["hide_shown", "item_keys", "shown_before"]

_NAME = "shown-before"
_shown: ContextVar[Collection[str]] = ContextVar("contextkit_shown")


def item_keys(item: ContextItem) -> list[str]:
    """What an item is remembered by, and so are the duplicates that it stands for."""
    named = [(item.source, item.id), *((other.source, other.id) for other in item.also_in)]
    return [f"{source}:{record}" for source, record in named]


@contextlib.contextmanager
def shown_before(keys: Collection[str]) -> Iterator[None]:
    """Leave these items out of what is assembled here, for as long as this lasts."""
    token = _shown.set(keys)
    try:
        yield
    finally:
        _shown.reset(token)


def hide_shown(kit: ContextKit) -> None:
    """Let a kit leave out what `shown_before` says."""
    kit.register(_HideShown(), _NAME)


class _HideShown:
    """Wraps every source's answers."""

    @hookimpl(wrapper=True)
    def contextkit_query(self) -> Generator[None, Any, Any]:
        found = yield
        keys = _shown.get(())
        if not keys:
            return found
        return _later(found, keys) if inspect.isawaitable(found) else _without(found, keys)


async def _later(found: Awaitable[Any], keys: Collection[str]) -> Any:
    return _without(await found, keys)


def _without(found: Any, keys: Collection[str]) -> Any:
    # What is no list of items is refused later, as that of any source.
    if not isinstance(found, (list, tuple)):
        return found
    return [i for i in found if not (isinstance(i, ContextItem) and item_keys(i)[0] in keys)]
