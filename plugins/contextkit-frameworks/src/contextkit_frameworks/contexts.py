"""Assemble a context for each turn of a conversation."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from attrs import Factory, frozen

from contextkit import ContextAssembler, ContextItem, ContextKit, FormattedContext, RequestOptions
from contextkit.errors import StoreError
from contextkit.logs import get_logger

Kit: TypeAlias = ContextKit | ContextAssembler

_log = get_logger(__name__)


def key_of(item: ContextItem) -> str:
    """Return the name of an item that `exclude` accepts."""
    return f"{item.source}:{item.id}"


@frozen
class Contexts:
    """Contexts for the turns of conversations.

    Attributes:
        kit: what assembles; the caller opens and closes it.
        options: options of each request, such as `max_tokens`.
    """

    kit: Kit
    options: RequestOptions = Factory(RequestOptions)

    def get(self, query: str, shown: Collection[str] = ()) -> FormattedContext | None:
        """Assemble the context of a turn, outside of an event loop.

        Args:
            query: what the user said.
            shown: the keys of items that the conversation already has.

        Returns:
            None if there is nothing to show, or if the store fails: an agent goes on without
            context.

        Raises `ContextAssemblyError` for options that do not fit.
        """
        if not query.strip():
            return None
        try:
            context = self.kit.assemble_context_sync(query, **self._without(shown))
        except StoreError as error:
            _log.warning("context_failed", reason=str(error))
            return None
        return context if context.items else None

    async def aget(self, query: str, shown: Collection[str] = ()) -> FormattedContext | None:
        """Assemble the context of a turn in an event loop, as `get` does."""
        if not query.strip():
            return None
        try:
            context = await self.kit.assemble_context(query, **self._without(shown))
        except StoreError as error:
            _log.warning("context_failed", reason=str(error))
            return None
        return context if context.items else None

    def _without(self, shown: Collection[str]) -> RequestOptions:
        """Return the options, with further items to leave out."""
        options = self.options.copy()
        if shown:
            options["exclude"] = [*(options.get("exclude") or ()), *shown]
        return options
