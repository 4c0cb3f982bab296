"""`ContextKit`: one workspace's configuration, plugins and store, for a host to embed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from attrs import define, field, frozen

from contextkit.assembler import ContextAssembler
from contextkit.config import Config
from contextkit.config_layers import load_config
from contextkit.errors import ContextAssemblyError
from contextkit.index_run import IndexOutcome, index_sources
from contextkit.indexing import Progress
from contextkit.models import FormattedContext
from contextkit.recipes import build_recipe, find_recipe
from contextkit.records import Records
from contextkit.registry import SourceRegistry
from contextkit.requests import make_request
from contextkit.sections import context_recipe
from contextkit.store.base import RecordStore
from contextkit.store.opening import open_store
from contextkit.workspace import Workspace, find_workspace

__all__ = ["ContextKit"]

T = TypeVar("T")


@define(eq=False, kw_only=True)
class ContextKit:
    """Assembles contexts for one workspace.

    ```python
    async with ContextKit.open(".") as kit:
        context = await kit.assemble_context("why do we cap items?", max_tokens=2000)
    ```

    Attributes:
        workspace: the workspace.
        config: its effective configuration.
        registry: the plugins.
        store: the records; it opens when it is first used.
    """

    workspace: Workspace
    config: Config
    registry: SourceRegistry
    store: RecordStore
    _assembler: ContextAssembler = field(init=False)

    @_assembler.default
    def _make_assembler(self) -> ContextAssembler:
        return ContextAssembler(self.registry, self.store)

    @classmethod
    def open(
        cls,
        workspace: str | Path = ".",
        *,
        settings: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        entry_points: bool = True,
    ) -> Self:
        """Find a workspace, read its configuration and load the plugins.

        Args:
            workspace: a folder in it.
            settings: dotted key -> value, stronger than files and environment.
            environment: variables to read settings from; default: the process's.
            entry_points: False to load no installed plugin, only what `register` adds.

        Raises:
            ConfigError: where a setting is wrong.
            DuplicateSourceError: where two distributions provide one source name.
            WorkspaceError: where there is no such folder.
        """
        found = find_workspace(Path(workspace))
        config = load_config(found, environment=environment, flags=settings)
        return cls.over(found, config, SourceRegistry(config, entry_points))

    @classmethod
    def over(cls, workspace: Workspace, config: Config, registry: SourceRegistry) -> Self:
        """The kit of what has been read and loaded already; its store opens when it is used."""
        store = open_store(config, _IndexedFields(registry))
        return cls(workspace=workspace, config=config, registry=registry, store=store)

    @property
    def project(self) -> str:
        """What this workspace's records belong to: the configured name, or its path.

        The two never meet: a cloned repository cannot name itself after another's path.
        """
        named = self.config.project
        name = f"name:{named}" if named else str(self.workspace.root)
        return name.encode("utf-8", "backslashreplace").decode("utf-8")

    # -- sources --------------------------------------------------------------------------

    def register(self, plugin: object, name: str) -> None:
        """Add a source of the host's own, without an entry point."""
        self.registry.register(plugin, name)

    def enable(self, name: str) -> None:
        """Switch a source on for what follows. Raises `InvalidContextTypeError`."""
        self.registry.enable(name)

    def disable(self, name: str) -> None:
        """Switch a source off for what follows. Raises `InvalidContextTypeError`."""
        self.registry.disable(name)

    def records(self, source: str) -> Records:
        """A source's records of this project and of the user.

        Raises `InvalidContextTypeError` for a name that is no source.
        """
        self.registry.require(source)
        return self._assembler.records(source, self.project)

    def wants_dense(self, source: str) -> bool:
        """Whether a source's records have dense vectors; a source that is not on says yes."""
        on = source in self.registry.sources
        return not on or self.registry.info(source).embedder == "default"

    def index(
        self,
        sources: Sequence[str] | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        wait: bool = True,
    ) -> dict[str, IndexOutcome]:
        """Bring records up to date with the workspace; blocking.

        Args:
            sources: which ones; default: every source that is on and can.
            progress: called as the work goes on.
            wait: whether to wait for another process that indexes this project; without,
                its sources are left as they are.

        Returns:
            Source -> what was done, or what went wrong: one source's trouble is its own.
        """
        names = self.registry.sources if sources is None else sources
        for name in names:
            self.registry.require(name)
        return index_sources(
            self.registry,
            self.store,
            {name: self.records(name) for name in names},
            self.workspace.root,
            progress=progress or (lambda _: None),
            wait=wait,
        )

    # -- contexts -------------------------------------------------------------------------

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
            options: further fields of `ContextRequest`: `weights`, `filters`, `style`,
                `overflow`, `source_timeout`, `deadline`, `min_relevance`.

        Raises:
            InvalidContextTypeError: for a name that is no source.
            InvalidRequestError: for a value that makes no sense.
            StoreError: where the store does not open.
        """
        request = make_request(
            self.config,
            query,
            project=self.project,
            workspace=self.workspace.root,
            sources=context_types,
            limit=limit,
            max_tokens=max_tokens,
            **options,
        )
        return await self._assembler.assemble(
            request, context_recipe(self.registry, request.sources)
        )

    async def get_premortem_context(
        self,
        domain: str,
        strategy: str | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """Warnings from past experiences of a domain (seed 1): the `premortem` recipe."""
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
        offered = find_recipe(self.registry, name)
        recipe = build_recipe(offered, arguments)
        request = make_request(
            self.config,
            recipe.title,
            project=self.project,
            workspace=self.workspace.root,
            limit=offered.template.limit if limit is None else limit,
            max_tokens=offered.template.max_tokens if max_tokens is None else max_tokens,
            recipe=name,
            **options,
        )
        return await self._assembler.assemble(request, recipe)

    def assemble_context_sync(
        self,
        query: str,
        context_types: Sequence[str] | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """`assemble_context` for a program without an event loop."""
        return _run(self.assemble_context(query, context_types, limit, max_tokens, **options))

    def get_premortem_context_sync(
        self,
        domain: str,
        strategy: str | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> FormattedContext:
        """`get_premortem_context` for a program without an event loop."""
        return _run(self.get_premortem_context(domain, strategy, limit, max_tokens, **options))

    # -- the end --------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


@frozen
class _IndexedFields:
    """The record fields that the sources filter by, those registered later included."""

    registry: SourceRegistry

    def __iter__(self) -> Iterator[str]:
        sources = self.registry.sources
        return iter(
            sorted({f for name in sources for f in self.registry.info(name).indexed_fields})
        )


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    coroutine.close()
    raise ContextAssemblyError(
        "an event loop is running in this thread: await the method without _sync instead"
    )
