"""Request methods of hosts: contexts, premortems, recipes, explanations, updates."""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from attrs import evolve

from contextkit.errors import ContextAssemblyError, InvalidRequestError
from contextkit.logs import get_logger
from contextkit.models.context import FormattedContext
from contextkit.models.items import ContextItem
from contextkit.models.record import Record
from contextkit.models.request import ContextRequest, Recipe
from contextkit.models.request_options import PremortemOptions, RequestOptions, checked_option
from contextkit.pipeline.breakers import SourceHealth
from contextkit.pipeline.pipeline import Pipeline
from contextkit.pipeline.recipes import build_recipe, context_recipe, find_recipe
from contextkit.pipeline.request import (
    make_request,
    refuse_unknown_names,
    refuse_unknown_sources,
)
from contextkit.plugin.manager import SourceRegistry

if TYPE_CHECKING:
    from contextkit.pipeline.explain import ItemExplanation

_log = get_logger(__name__)

T = TypeVar("T")


class AskingForContexts(abc.ABC):
    """Request methods that `ContextKit` and `ContextAssembler` share.

    Attributes:
        registry: the plugins.
        pipeline: the stages that assemble.
    """

    registry: SourceRegistry
    pipeline: Pipeline

    @property
    @abc.abstractmethod
    def project(self) -> str:
        """The project whose records are searched."""

    @property
    @abc.abstractmethod
    def _folder(self) -> Path | None:
        """The workspace's root folder, or None."""

    async def assemble_context(
        self,
        query: str,
        context_types: Sequence[str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> FormattedContext:
        """Assemble the context for a query from several sources.

        Args:
            query: the purpose of the context.
            context_types: sources to query, as `sources`; default: every source that is on.
            options: options of `ContextRequest`, such as `max_tokens` and `limit`; None leaves
                one unset. A strategy is a name, a `Strategy`, or a mapping of the parts to
                replace.

        Raises:
            InvalidContextTypeError: for an unknown source.
            InvalidRequestError: for an unknown option or an invalid value.
            StoreError: where the store does not open, and no source answers without it.
        """
        request, recipe = self._asked(query, context_types, options)
        return self.pipeline.observers.notify(await self._assembled(request, recipe))

    async def explain_item(
        self,
        item: str,
        query: str,
        context_types: Sequence[str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> list[ItemExplanation]:
        """Explain why an item is in a context or not.

        The context is assembled for this.

        Args:
            item: its id or the beginning of that, its title, or its location.
            query: the purpose of the context.
            context_types: sources to query, as `sources`; default: every source that is on.
            options: options of `ContextRequest`, as in `assemble_context`.

        Returns:
            One answer for each section that it was found for; at least one.

        Raises what `assemble_context` raises, and `InvalidRequestError` for an empty item.
        """
        from contextkit.pipeline.explain import explain_item

        if not item.strip():
            raise InvalidRequestError(
                "the item is empty: give an id, a title or a location, or ask without an item"
            )
        # A cached context says nothing about the current state.
        options["cache"] = False
        request, recipe = self._asked(query, context_types, options)
        context = await self.pipeline.assemble(evolve(request, record_use=False), recipe)
        return await explain_item(self.pipeline, request, recipe, context.trace, item)

    def _asked(
        self, query: str, context_types: Sequence[str] | None, options: RequestOptions
    ) -> tuple[ContextRequest, Recipe]:
        if context_types is not None:
            if options.get("sources") is not None:
                raise InvalidRequestError("context_types and sources are the same: give one")
            options["sources"] = context_types
        request = self._request(query, options)
        recipe = context_recipe(self.registry, request.sources)
        if self.pipeline.answer is not None:
            # A host's own scores have their own scales, so the sections keep their fixed order.
            recipe = evolve(recipe, best_first=False)
        return request, recipe

    def _request(
        self, query: str, options: RequestOptions, recipe: str = "context"
    ) -> ContextRequest:
        refuse_unknown_sources(self.registry, options.get("strategy"))
        request = make_request(
            self.registry.config,
            query,
            project=self.project,
            workspace=self._folder,
            recipe=recipe,
            **options,
        )
        refuse_unknown_names(self.registry, request)
        return request

    async def update_context(
        self,
        context: FormattedContext,
        new: ContextItem | Record | Sequence[ContextItem | Record],
        *,
        max_tokens: int | None = None,
    ) -> FormattedContext:
        """Add new items to a context without querying the sources.

        The result is the context of an assembly in which the item's source finds it as well. Items
        that repeat it are dropped, the weakest are removed until the budget holds, and the trace
        names the items that were added and removed. The context can be updated again. Where the
        strategy scores usage, an added item counts as chosen; for the other items the update is a
        repeated request.

        A context from a cache has no state to update. It is assembled anew first, from the sources'
        cached answers where there are any, and includes records written since.

        Args:
            context: a context assembled in this process or read from a cache; it is not changed.
            new: one or several items, best first. A relevance of 1.0 marks an item as fully new
                and relevant. A record must have a `source`, as the result of `put` has; it becomes
                the item that its source makes of it, with that relevance. The source may be any
                name. Where the recipe has no section for it, one is added by priority.
            max_tokens: the budget of the text; default: the context's.

        Raises:
            InvalidContextTypeError: for an item of a plugin that is not a source.
            InvalidRequestError: for a context that was not assembled here, and for an invalid
                value.
        """
        several = list(new) if isinstance(new, Iterable) else [new]
        updated = await self.pipeline.update(context, several, max_tokens)
        return self.pipeline.observers.notify(updated)

    async def get_premortem_context(
        self, domain: str, strategy: str | None = None, **options: Unpack[PremortemOptions]
    ) -> FormattedContext:
        """Assemble a domain's warnings from past experience (the `premortem` recipe)."""
        _log.info(
            "assembling_premortem", domain=domain, strategy=strategy, limit=options.get("limit")
        )
        return await self.assemble_recipe(
            "premortem", {"domain": domain, "strategy": strategy}, **options
        )

    async def assemble_recipe(
        self, name: str, arguments: Mapping[str, Any], **options: Unpack[RequestOptions]
    ) -> FormattedContext:
        """Assemble a context by a plugin's recipe.

        Args:
            name: the recipe.
            arguments: the recipe's arguments.
            options: options of `ContextRequest`, as in `assemble_context`; `limit` and
                `max_tokens` default to the recipe's.

        Raises:
            InvalidContextTypeError: for a section whose source is not there.
            InvalidRequestError: where there is no such recipe, or it refuses the arguments.
            PluginError: where two plugins offer one.
            SourceError: where the plugin fails to build it.
        """
        offered = find_recipe(self.registry, name)
        recipe = build_recipe(offered, arguments)
        for option in ("limit", "max_tokens"):
            if options.get(option) is None:
                options[option] = getattr(offered.template, option)
        request = self._request(recipe.title, options, name)
        return self.pipeline.observers.notify(await self._assembled(request, recipe))

    async def count_tokens(self, text: str, tokens: str | None = None) -> int:
        """Count the tokens of a text.

        Args:
            text: the text.
            tokens: what counts, as in a request; default: the configured.

        Raises `InvalidRequestError` where nothing counts by that name, and for what is no text.
        """
        if not isinstance(text, str):
            raise InvalidRequestError(f"only a text has tokens, got a {type(text).__name__}")
        count = await self.pipeline.counter(tokens or self.registry.config.assemble.tokens)
        return count(text)

    async def compress(
        self, text: str, max_tokens: int, *, query: str = "", tokens: str | None = None
    ) -> str:
        """Shorten a host's own text to a number of tokens.

        A text that fits is unchanged, except that invisible characters are removed or shown as
        escapes. A longer text is summarised by the plugins that summarise for every source. Without
        a summary, the sentences closest to the query are kept, or else the beginning.

        Args:
            text: the text.
            max_tokens: the result's limit.
            query: the purpose of the text; default: none in particular.
            tokens: the token counter, as in a request; default: the configured.

        Raises `InvalidRequestError` for an invalid value.
        """
        from contextkit.pipeline.summaries import compressed

        if not isinstance(text, str):
            raise InvalidRequestError(f"only a text is shortened, got a {type(text).__name__}")
        checked_option("max_tokens", max_tokens)
        count = await self.pipeline.counter(tokens or self.registry.config.assemble.tokens)
        return await compressed(self.registry, text, max_tokens, query, count)

    def health(self) -> dict[str, SourceHealth]:
        """Return the health of each enabled source from its breaker.

        No source is queried. A breaker lives as long as this object does, so other processes and
        other kits count other failures.

        Returns:
            Source -> its health, in the order of the sources.
        """
        return {name: self.pipeline.breakers.health(name) for name in self.registry.sources}

    async def _assembled(self, request: ContextRequest, recipe: Recipe) -> FormattedContext:
        return await self.pipeline.assemble(request, recipe)

    def assemble_context_sync(
        self,
        query: str,
        context_types: Sequence[str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> FormattedContext:
        """Run `assemble_context` without an event loop."""
        return run_blocking(self.assemble_context(query, context_types, **options))

    def explain_item_sync(
        self,
        item: str,
        query: str,
        context_types: Sequence[str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> list[ItemExplanation]:
        """Run `explain_item` without an event loop."""
        return run_blocking(self.explain_item(item, query, context_types, **options))

    def update_context_sync(
        self,
        context: FormattedContext,
        new: ContextItem | Record | Sequence[ContextItem | Record],
        *,
        max_tokens: int | None = None,
    ) -> FormattedContext:
        """Run `update_context` without an event loop."""
        return run_blocking(self.update_context(context, new, max_tokens=max_tokens))

    def count_tokens_sync(self, text: str, tokens: str | None = None) -> int:
        """Run `count_tokens` without an event loop."""
        return run_blocking(self.count_tokens(text, tokens))

    def compress_sync(
        self, text: str, max_tokens: int, *, query: str = "", tokens: str | None = None
    ) -> str:
        """Run `compress` without an event loop."""
        return run_blocking(self.compress(text, max_tokens, query=query, tokens=tokens))

    def get_premortem_context_sync(
        self, domain: str, strategy: str | None = None, **options: Unpack[PremortemOptions]
    ) -> FormattedContext:
        """Run `get_premortem_context` without an event loop."""
        return run_blocking(self.get_premortem_context(domain, strategy, **options))

    def assemble_recipe_sync(
        self, name: str, arguments: Mapping[str, Any], **options: Unpack[RequestOptions]
    ) -> FormattedContext:
        """Run `assemble_recipe` without an event loop."""
        return run_blocking(self.assemble_recipe(name, arguments, **options))


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, and return its result.

    Raises `ContextAssemblyError` where an event loop is running.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    coroutine.close()
    raise ContextAssemblyError(
        "an event loop is running in this thread: await the method without _sync instead"
    )
