"""`ContextKit`: one workspace's configuration, plugins and store, for a host to embed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from attrs import define, evolve, field, frozen

from contextkit.config.load import load_config
from contextkit.config.projects import Identity, identify
from contextkit.config.settings import Config
from contextkit.embedding.choice import Embedders, OneEmbedder, PluginEmbedders
from contextkit.embedding.embedder import Embedder, NotAsked
from contextkit.indexing.retention import Pruned, Retention, prune_sources, retention_of
from contextkit.indexing.run import IndexOutcome, index_sources
from contextkit.logs import get_logger
from contextkit.models.context import FormattedContext
from contextkit.models.indexer import Progress
from contextkit.models.items import ContextItem
from contextkit.models.records import Records
from contextkit.models.request import ContextRequest, Recipe
from contextkit.models.request_options import RequestOptions
from contextkit.pipeline.overview import SourceOverview, source_overview
from contextkit.pipeline.pipeline import Pipeline
from contextkit.pipeline.questions import AskingForContexts, run_blocking
from contextkit.pipeline.redact import Redactor
from contextkit.pipeline.usage import history_of, mark_used
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.open import open_store
from contextkit.workspace.find import Workspace, find_workspace

if TYPE_CHECKING:
    from contextkit.cache.caches import Caches
    from contextkit.cache.stats import CacheStats

_log = get_logger(__name__)


@define(eq=False, kw_only=True)
class ContextKit(AskingForContexts):
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
        caches: what is kept for a while, or None where `[cache]` is off.
        pipeline: the stages that assemble.
        claims_name: whether a project's name in the workspace's file, which no other workspace
            has used, becomes this workspace's.
    """

    workspace: Workspace
    config: Config
    registry: SourceRegistry
    store: RecordStore
    caches: Caches | None = None
    claims_name: bool = True
    pipeline: Pipeline = field(init=False)
    _identity: Identity | None = field(default=None, init=False)

    @pipeline.default
    def _make_pipeline(self) -> Pipeline:
        history = history_of(self.config) if self.config.history.enabled else None
        recall = self.caches.attach(self.registry, self.store) if self.caches else None
        return Pipeline(self.registry, self.store, history=history, recall=recall)

    @classmethod
    def open(
        cls,
        workspace: str | Path = ".",
        *,
        settings: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        entry_points: bool = True,
        models: bool = True,
    ) -> Self:
        """Find a workspace, read its configuration and load the plugins.

        Args:
            workspace: a folder in it.
            settings: dotted key -> value, stronger than files and environment.
            environment: variables to read settings from; default: the process's.
            entry_points: False to load no installed plugin, only what `register` adds.
            models: False to load no embedding model and search by keywords alone, in a
                process that asks once and writes nothing.

        Raises:
            ConfigError: where a setting is wrong.
            DuplicateSourceError: where two distributions provide one source name.
            WorkspaceError: where there is no such folder.
        """
        found = find_workspace(Path(workspace))
        config = load_config(found, environment=environment, flags=settings)
        return cls.over(found, config, SourceRegistry(config, entry_points), models=models)

    @classmethod
    def over(
        cls,
        workspace: Workspace,
        config: Config,
        registry: SourceRegistry,
        *,
        models: bool = True,
    ) -> Self:
        """The kit of what has been read and loaded already; its store opens when it is used."""
        caches = _open_caches(config)
        embedders: Embedders = OneEmbedder(NotAsked())
        if models:
            embedders = PluginEmbedders(config, registry, caches.vectors if caches else None)
        revisions = caches.revisions(config) if caches else None
        store = open_store(config, embedders, _IndexedFields(registry), revisions)
        return cls(
            workspace=workspace, config=config, registry=registry, store=store, caches=caches
        )

    @property
    def identity(self) -> Identity:
        """What this workspace's records belong to, and why not what its file names."""
        if self._identity is None or self._identity.problem:
            found = identify(self.workspace.root, self.config, claim=self.claims_name)
            if found.problem and self._identity is None:
                _log.warning("project_name_not_used", reason=found.problem, remedy=found.remedy)
            self._identity = found
        return self._identity

    @property
    def project(self) -> str:
        """What this workspace's records belong to: the project's name, or the path."""
        return self.identity.project

    @property
    def _folder(self) -> Path:
        return self.workspace.root

    # -- sources --------------------------------------------------------------------------

    def sources(self) -> list[SourceOverview]:
        """List the installed sources and other plugins: state, weight, records; blocking.

        Raises `StoreError` where the store does not open.
        """
        health, root = self.health(), self.workspace.root
        plugins = self.registry.plugins
        rows = [source_overview(self.registry, each, root, self.records) for each in plugins]
        return [
            evolve(row, left_alone=health[row.name].words if row.name in health else None)
            for row in rows
        ]

    def register(self, plugin: object, name: str) -> None:
        """Add a source of the host's own, without an entry point."""
        self.registry.register(plugin, name)

    def enable(self, name: str) -> None:
        """Switch a source on for what follows. Raises `InvalidContextTypeError`."""
        self.registry.enable(name)

    def disable(self, name: str) -> None:
        """Switch a source off for what follows. Raises `InvalidContextTypeError`."""
        self.registry.disable(name)

    def records(self, source: str, user: str | None = None) -> Records:
        """A source's records of this project and of a user.

        Args:
            source: the source.
            user: whose, where a host has many users; default: the one user of this machine.

        Raises `InvalidContextTypeError` for a name that is no source.
        """
        self.registry.require(source)
        return self.pipeline.records(source, self.project, user)

    @property
    def redactor(self) -> Redactor:
        """What replaces secrets in texts, for what goes past `records`."""
        return self.pipeline.redactor

    def embedder(self, source: str) -> Embedder:
        """What makes the dense vectors of a source's records, and of what they are searched by.

        Raises `ConfigError` if no plugin has the configured model.
        """
        return self.store.embedders.of(source)

    def index(
        self,
        sources: Sequence[str] | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        wait: bool = True,
    ) -> dict[str, IndexOutcome]:
        """Bring records up to date with the workspace, and prune; blocking.

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

    def retention(self, source: str) -> Retention:
        """How long a source's records are kept, and how many.

        Raises `InvalidContextTypeError` for a name that is no source.
        """
        self.registry.require(source)
        return retention_of(self.registry, source)

    def prune(
        self,
        sources: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        user: str | None = None,
    ) -> dict[str, Pruned]:
        """Delete records that are not kept: too old, or too many; blocking.

        What is kept is `[sources.NAME] keep_days` and `keep_records`, or what the source says
        itself. A source that indexes the workspace is not pruned, and so is one of which
        everything is kept.

        Args:
            sources: which ones; default: every source that is on.
            dry_run: True to delete nothing and only count.
            user: whose own records are pruned beside the project's, where a host has many
                users; default: those of the one user of this machine.

        Returns:
            Source -> what went, or would go.
        """
        names = self.registry.sources if sources is None else sources
        records = [self.records(name, user) for name in names]
        return prune_sources(self.registry, records, dry_run=dry_run)

    # -- what was of use ------------------------------------------------------------------

    def mark_used(self, used: FormattedContext | Iterable[ContextItem | tuple[str, str]]) -> None:
        """Say which items turned out to be of use, for strategies that count that; blocking.

        It counts more than being in a context, and whatever strategy is in force. Where the
        history is off (`[history] enabled`) nothing happens, where it cannot be written that
        is logged.

        Args:
            used: a context, of which all items count, or some items, or (source, id) of each.

        Raises `InvalidRequestError` for what is no item.
        """
        mark_used(self.pipeline.history, self.project, used)

    # -- the cache ------------------------------------------------------------------------

    async def _assembled(self, request: ContextRequest, recipe: Recipe) -> FormattedContext:
        if self.caches is None or self.caches.contexts is None or not request.cache:
            return await self.pipeline.assemble(request, recipe)
        # The cache keeps what was asked, too.
        request = self.redactor.request(request)
        return await self.caches.contexts.assembled(self.pipeline, request, recipe)

    async def warm(
        self, queries: Sequence[str], **options: Unpack[RequestOptions]
    ) -> list[FormattedContext]:
        """Assemble the contexts of some queries, for the cache to have them.

        Args:
            queries: the queries.
            options: options of `ContextRequest`, as the later requests will have them.

        Raises what `assemble_context` raises.
        """
        return [await self.assemble_context(query, **options) for query in queries]

    def warm_sync(
        self, queries: Sequence[str], **options: Unpack[RequestOptions]
    ) -> list[FormattedContext]:
        """`warm` for a program without an event loop."""
        return run_blocking(self.warm(queries, **options))

    def cache_stats(self) -> dict[str, CacheStats]:
        """`contexts`, `results`, `embeddings` -> hits and misses of this kit; empty without."""
        return {} if self.caches is None else self.caches.stats()

    # -- the end --------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the store, and of what the cache has in memory; blocking.

        A kit that is used again opens them again, and is to be closed again.
        """
        self.store.close()
        if self.caches is not None:
            self.caches.close()

    def leave(self) -> None:
        """Instead of `close` at the end of a process, for which it need not wait that long.

        A store that was only read stays open until the process is gone. The kit is not used
        afterwards.
        """
        self.store.leave()
        if self.caches is not None:
            self.caches.close()

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


def _open_caches(config: Config) -> Caches | None:
    if not config.cache.enabled:
        return None
    from contextkit.cache.caches import open_caches

    return open_caches(config)


@frozen(eq=False)
class _IndexedFields(Mapping[str, Sequence[str]]):
    """Source -> the record fields that it filters by, for those registered later, too."""

    registry: SourceRegistry

    def __getitem__(self, source: str) -> Sequence[str]:
        return self.registry.info(source).indexed_fields

    def __iter__(self) -> Iterator[str]:
        return iter(self.registry.sources)

    def __len__(self) -> int:
        return len(self.registry.sources)
