"""Leave out items that an agent's session has seen."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Collection, Generator, Iterator
from contextvars import ContextVar
from typing import Any

from contextkit.kit import ContextKit
from contextkit.models.items import ContextItem
from contextkit.plugin.spec import hookimpl

_NAME = "shown-before"
_shown: ContextVar[tuple[Collection[str], str | None]] = ContextVar("contextkit_shown")


def item_keys(item: ContextItem) -> list[str]:
    """Keys that identify an item and its merged duplicates."""
    named = [(item.source, item.id), *((other.source, other.id) for other in item.also_in)]
    return [f"{source}:{record}" for source, record in named]


@contextlib.contextmanager
def shown_before(keys: Collection[str], session: str | None = None) -> Iterator[None]:
    """Leave items out of contexts assembled in this block.

    Args:
        keys: the items that were shown.
        session: the agent's session, whose own records are left out too; None if the agent
            has lost its memory of it.
    """
    token = _shown.set((keys, session))
    try:
        yield
    finally:
        _shown.reset(token)


def hide_shown(kit: ContextKit) -> None:
    """Make a kit leave out the items of `shown_before`."""
    kit.register(_HideShown(), _NAME)


class _HideShown:
    """Filters the items of every source."""

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
    # A value that is not a list of items is refused later, as for any source.
    if not isinstance(found, (list, tuple)):
        return found
    return [item for item in found if not _is_known(item, keys, session)]


def _is_known(item: Any, keys: Collection[str], session: str | None) -> bool:
    if not isinstance(item, ContextItem):
        return False
    return item_keys(item)[0] in keys or (session is not None and item.sequence == session)
