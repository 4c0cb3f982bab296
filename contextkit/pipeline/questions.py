"""Contexts, warnings and other recipes that a host asks for."""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from contextkit.errors import ContextAssemblyError, InvalidRequestError
from contextkit.logs import get_logger
from contextkit.models.context import FormattedContext
from contextkit.models.items import ContextItem
from contextkit.models.record import Record
from contextkit.models.request import ContextRequest, Recipe
from contextkit.pipeline.breakers import SourceHealth
from contextkit.pipeline.pipeline import Pipeline
from contextkit.pipeline.recipes import build_recipe, context_recipe, find_recipe
from contextkit.pipeline.request import check_whole_number, make_request, refuse_unknown_sources
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
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """Assemble context for a query from several sources (seed 1).

        Args:
            query: what the context is needed for.
            context_types: the sources to ask; default: every one that is on.
            limit: items per source; default: the configured, 20.
            max_tokens: the budget of the text; default: the configured, 2000.
            options: further fields of `ContextRequest`: `weights`, `limits`, `timeouts`,
                `filters`, `tokens`, `style`, `detail`, `group_by`, `include_sources`,
                `guard`, `compress`, `overflow`, `shares`, `fill`, `source_timeout`, `deadline`,
                `min_relevance`, `diversity`, `session`, `since`, `kinds`, `entity_types`,
                `exclude`, `exclude_sources`, `user`, `additional_context`, `strategy`, `depth`,
                `record_use`, `cache`. A strategy is a name, a `Strategy`, or the parts to
                replace as a mapping.

        Raises:
            InvalidContextTypeError: for a name that is no source.
            InvalidRequestError: for a value that makes no sense.
            StoreError: where the store does not open, and no source answers without it.
        """
        request, recipe = self._asked(query, context_types, limit, max_tokens, options)
        return self.pipeline.observers.notify(await self._assembled(request, recipe))

    async def explain_item(
        self,
        item: str,
        query: str,
        context_types: Sequence[str] | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> list[ItemExplanation]:
        """Assemble a context and say why an item is in it, or why it is not.

        Args:
            item: its id or the beginning of that, its title, or its location.
            query: what the context is needed for.
            context_types: the sources to ask; default: every one that is on.
            limit: items per source; default: the configured, 20.
            max_tokens: the budget of the text; default: the configured, 2000.
            options: further fields of `ContextRequest`.

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
        request, recipe = self._asked(query, context_types, limit, max_tokens, options)
        context = await self.pipeline.assemble(evolve(request, record_use=False), recipe)
        return await explain_item(self.pipeline, request, recipe, context.trace, item)

    def _asked(
        self,
        query: str,
        context_types: Sequence[str] | None,
        limit: int | None,
        max_tokens: int | None,
        options: Mapping[str, Any],
    ) -> tuple[ContextRequest, Recipe]:
        refuse_unknown_sources(self.registry, options.get("strategy"))
        request = make_request(
            self.registry.config,
            query,
            project=self.project,
            workspace=self._folder,
            sources=context_types,
            limit=limit,
            max_tokens=max_tokens,
            **options,
        )
        recipe = context_recipe(self.registry, request.sources)
        if self.pipeline.answer is not None:
            # A host's own scores are on scales of their own: its sections stand as in seed 1.
            recipe = evolve(recipe, best_first=False)
        return request, recipe

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
                and as relevant as can be (seed 3). A record, which must have a `source` as what
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
        self,
        domain: str,
        strategy: str | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """Warnings from past experiences of a domain (seed 1): the `premortem` recipe."""
        _log.info("assembling_premortem", domain=domain, strategy=strategy, limit=limit)
        return await self.assemble_recipe(
            "premortem",
            {"domain": domain, "strategy": strategy},
            limit=limit,
            max_tokens=max_tokens,
            **options,
        )

    async def assemble_recipe(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """Assemble a context by a plugin's recipe.

        Args:
            name: the recipe.
            arguments: what it is built from.
            limit: items per section; default: the recipe's.
            max_tokens: the budget; default: the recipe's.
            options: further fields of `ContextRequest`.

        Raises:
            InvalidContextTypeError: for a section whose source is not there.
            InvalidRequestError: where there is no such recipe, or it refuses the arguments.
            PluginError: where two plugins offer one.
            SourceError: where the plugin fails to build it.
        """
        refuse_unknown_sources(self.registry, options.get("strategy"))
        offered = find_recipe(self.registry, name)
        recipe = build_recipe(offered, arguments)
        request = make_request(
            self.registry.config,
            recipe.title,
            project=self.project,
            workspace=self._folder,
            limit=offered.template.limit if limit is None else limit,
            max_tokens=offered.template.max_tokens if max_tokens is None else max_tokens,
            recipe=name,
            **options,
        )
        return self.pipeline.observers.notify(await self._assembled(request, recipe))

    async def count_tokens(self, text: str, tokens: str | None = None) -> int:
        """The tokens of a text (seed 3's `estimateTokens`).

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
        """A text of the host's own within so many tokens (seed 3).

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

        check_whole_number("max_tokens", max_tokens)
        count = await self.pipeline.counter(tokens or self.registry.config.assemble.tokens)
        return await compressed(self.registry, text, max_tokens, query, count)

    def health(self) -> dict[str, SourceHealth]:
        """How each source that is on fared in the requests so far: its breaker's state.

        Nobody is asked for it. A breaker lives as long as this object does: another process,
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
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """`assemble_context` for a program without an event loop."""
        return run_blocking(
            self.assemble_context(query, context_types, limit, max_tokens, **options)
        )

    def explain_item_sync(
        self,
        item: str,
        query: str,
        context_types: Sequence[str] | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> list[ItemExplanation]:
        """`explain_item` for a program without an event loop."""
        return run_blocking(
            self.explain_item(item, query, context_types, limit, max_tokens, **options)
        )

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
        self,
        domain: str,
        strategy: str | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """`get_premortem_context` for a program without an event loop."""
        return run_blocking(
            self.get_premortem_context(domain, strategy, limit, max_tokens, **options)
        )


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
