"""Requests of a host: contexts, premortems, other recipes, explanations, updates."""

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
from contextkit.pipeline.request import make_request, refuse_unknown_sources
from contextkit.plugin.manager import SourceRegistry

if TYPE_CHECKING:
    from contextkit.pipeline.explain import ItemExplanation

_log = get_logger(__name__)

T = TypeVar("T")


class AskingForContexts(abc.ABC):
    """What `ContextKit` and `ContextAssembler` have in common: a pipeline to ask.

    Attributes:
        registry: the plugins.
        pipeline: the stages that assemble.
    """

    registry: SourceRegistry
    pipeline: Pipeline

    @property
    @abc.abstractmethod
    def project(self) -> str:
        """What the searched records belong to."""

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
            query: what the context is needed for.
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
        """Assemble a context and say why an item is in it, or why it is not.

        Args:
            item: its id or the beginning of that, its title, or its location.
            query: what the context is needed for.
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
        # What a cache has kept says nothing of what happens now.
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
            # A host's own scores are on scales of their own: its sections keep their fixed order.
            recipe = evolve(recipe, best_first=False)
        return request, recipe

    def _request(
        self, query: str, options: RequestOptions, recipe: str = "context"
    ) -> ContextRequest:
        refuse_unknown_sources(self.registry, options.get("strategy"))
        return make_request(
            self.registry.config,
            query,
            project=self.project,
            workspace=self._folder,
            recipe=recipe,
            **options,
        )

    async def update_context(
        self,
        context: FormattedContext,
        new: ContextItem | Record | Sequence[ContextItem | Record],
        *,
        max_tokens: int | None = None,
    ) -> FormattedContext:
        """Let something new join a context that was assembled, without asking the sources.

        The result is the context that an assembly gives where the item's source finds it as
        well: what it repeats is dropped, the weakest leave until the budget holds, and the
        trace names who came and who left. It can be updated again. Where the strategy counts
        use, who came counts as chosen; for the others it is a repeated request.

        A context out of a cache keeps nothing that an update could go on from: it is assembled
        anew first, from the sources' kept answers where there are any, and has what was
        written since.

        Args:
            context: what was assembled in this process, or a cache gave; it stays as it is.
            new: one or several items, best first; relevance 1.0 says that an item is as new
                and as relevant as can be. A record, which must have a `source` as what
                `put` returns has, becomes the item that its source makes of it, with that
                relevance. The source may be any name: where the recipe has no section of it,
                it gets one in its place by priority.
            max_tokens: the budget of the text; default: the context's.

        Raises:
            InvalidContextTypeError: for an item of a plugin that is no source.
            InvalidRequestError: for a context that was not assembled here, and for a value
                that makes no sense.
        """
        several = list(new) if isinstance(new, Iterable) else [new]
        updated = await self.pipeline.update(context, several, max_tokens)
        return self.pipeline.observers.notify(updated)

    async def get_premortem_context(
        self, domain: str, strategy: str | None = None, **options: Unpack[PremortemOptions]
    ) -> FormattedContext:
        """Assemble warnings from past experiences of a domain: the `premortem` recipe."""
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
            arguments: what it is built from.
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

        Raises `InvalidRequestError` where nothing counts by that name.
        """
        count = await self.pipeline.counter(tokens or self.registry.config.assemble.tokens)
        return count(text)

    async def compress(
        self, text: str, max_tokens: int, *, query: str = "", tokens: str | None = None
    ) -> str:
        """A text of the host's own within so many tokens.

        One that fits stays as it is, but for invisible characters, which are left out or shown
        as escapes. Else it is summarised by the plugins that do so for every
        source; else the sentences are kept that have most to do with the query; else the
        beginning is.

        Args:
            text: the text.
            max_tokens: what the result may take.
            query: what its words are needed for; default: nothing in particular.
            tokens: what counts, as in a request; default: the configured.

        Raises `InvalidRequestError` for a value that makes no sense.
        """
        from contextkit.pipeline.summaries import compressed

        checked_option("max_tokens", max_tokens)
        count = await self.pipeline.counter(tokens or self.registry.config.assemble.tokens)
        return await compressed(self.registry, text, max_tokens, query, count)

    def health(self) -> dict[str, SourceHealth]:
        """How each source that is on fared in the requests so far: its breaker's state.

        No source is queried for it. A breaker lives as long as this object does: another process,
        or another kit, knows of other failures.

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
        """`assemble_context` for a program without an event loop."""
        return run_blocking(self.assemble_context(query, context_types, **options))

    def explain_item_sync(
        self,
        item: str,
        query: str,
        context_types: Sequence[str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> list[ItemExplanation]:
        """`explain_item` for a program without an event loop."""
        return run_blocking(self.explain_item(item, query, context_types, **options))

    def update_context_sync(
        self,
        context: FormattedContext,
        new: ContextItem | Record | Sequence[ContextItem | Record],
        *,
        max_tokens: int | None = None,
    ) -> FormattedContext:
        """`update_context` for a program without an event loop."""
        return run_blocking(self.update_context(context, new, max_tokens=max_tokens))

    def count_tokens_sync(self, text: str, tokens: str | None = None) -> int:
        """`count_tokens` for a program without an event loop."""
        return run_blocking(self.count_tokens(text, tokens))

    def compress_sync(
        self, text: str, max_tokens: int, *, query: str = "", tokens: str | None = None
    ) -> str:
        """`compress` for a program without an event loop."""
        return run_blocking(self.compress(text, max_tokens, query=query, tokens=tokens))

    def get_premortem_context_sync(
        self, domain: str, strategy: str | None = None, **options: Unpack[PremortemOptions]
    ) -> FormattedContext:
        """`get_premortem_context` for a program without an event loop."""
        return run_blocking(self.get_premortem_context(domain, strategy, **options))

    def assemble_recipe_sync(
        self, name: str, arguments: Mapping[str, Any], **options: Unpack[RequestOptions]
    ) -> FormattedContext:
        """`assemble_recipe` for a program without an event loop."""
        return run_blocking(self.assemble_recipe(name, arguments, **options))


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """A coroutine's result. Raises `ContextAssemblyError` where an event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    coroutine.close()
    raise ContextAssemblyError(
        "an event loop is running in this thread: await the method without _sync instead"
    )
