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
_shown: ContextVar[tuple[Collection[str], str | None]] = ContextVar("contextkit_shown")


def item_keys(item: ContextItem) -> list[str]:
    """What an item is remembered by, and so are the duplicates that it stands for."""
    named = [(item.source, item.id), *((other.source, other.id) for other in item.also_in)]
    return [f"{source}:{record}" for source, record in named]


@contextlib.contextmanager
def shown_before(keys: Collection[str], session: str | None = None) -> Iterator[None]:
    """Leave items out of what is assembled here, for as long as this lasts.

    Args:
        keys: what was shown.
        session: the session that asks, which knows what is part of it; None where it has
            forgotten.
    """
    token = _shown.set((keys, session))
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
        keys, session = _shown.get(((), None))
        if not keys and session is None:
            return found
        if inspect.isawaitable(found):
            return _later(found, keys, session)
        return _without(found, keys, session)


async def _later(found: Awaitable[Any], keys: Collection[str], session: str | None) -> Any:
    return _without(await found, keys, session)


def _without(found: Any, keys: Collection[str], session: str | None) -> Any:
    # What is no list of items is refused later, as that of any source.
    if not isinstance(found, (list, tuple)):
        return found
    return [item for item in found if not _is_known(item, keys, session)]


def _is_known(item: Any, keys: Collection[str], session: str | None) -> bool:
    if not isinstance(item, ContextItem):
        return False
    return item_keys(item)[0] in keys or (session is not None and item.sequence == session)
