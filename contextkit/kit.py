"""Open a workspace's configuration, plugins and store as a `ContextKit`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from attrs import define, evolve, field

from contextkit.config.load import load_config
from contextkit.config.project_files import projects_stamp
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
from contextkit.store.open import IndexedFields, open_store
from contextkit.store.projects import ProjectRecords
from contextkit.workspace.find import Workspace, find_workspace
from contextkit.workspace.listing import listed_once

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
        store: the records; opened on first use.
        caches: the caches, or None where `[cache]` is off.
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
    _projects: object = field(default=None, init=False)

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
        """Create a kit from a loaded configuration and registry.

        The store opens on first use.
        """
        caches = _open_caches(config)
        embedders: Embedders = OneEmbedder(NotAsked())
        if models:
            embedders = PluginEmbedders(config, registry, caches.vectors if caches else None)
        revisions = caches.revisions(config) if caches else None
        store = open_store(config, embedders, IndexedFields(registry), revisions)
        return cls(
            workspace=workspace, config=config, registry=registry, store=store, caches=caches
        )

    @property
    def identity(self) -> Identity:
        """Identify the project that this workspace's records belong to.

        The identity also says why the name in the workspace's file is not used, if it is not. It
        is decided again after `contextkit project link` and the like.
        """
        stamp = projects_stamp()
        if self._identity is None or stamp != self._projects:
            found = identify(
                self.workspace.root, self.config, self.project_records, claim=self.claims_name
            )
            if found.problem and found != self._identity:
                _log.warning("project_name_not_used", reason=found.problem, remedy=found.remedy)
            if found.note:
                _log.info("project_chosen", project=found.project, note=found.note)
            self._identity, self._projects = found, projects_stamp()
        return self._identity

    @property
    def project(self) -> str:
        """The project of this workspace's records: repository, name or path.

        On a server, it is this installation's own name for a path.
        """
        return self.pipeline.ownership.project(self.identity.project)

    @property
    def project_records(self) -> ProjectRecords:
        """The records of whole projects, for moving and deleting them."""
        return ProjectRecords.of(self.store, self.registry)

    @property
    def _folder(self) -> Path:
        return self.workspace.root

    # -- sources --------------------------------------------------------------------------

    def sources(self) -> list[SourceOverview]:
        """List the installed sources and other plugins.

        Each entry has the state, the weight and the number of records. This call blocks.

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
        """Add the host's own source, without an entry point."""
        self.registry.register(plugin, name)

    def enable(self, name: str) -> None:
        """Switch a source on for later requests.

        Raises `InvalidContextTypeError`.
        """
        self.registry.enable(name)

    def disable(self, name: str) -> None:
        """Switch a source off for later requests.

        Raises `InvalidContextTypeError`.
        """
        self.registry.disable(name)

    def records(self, source: str, user: str | None = None) -> Records:
        """Return a source's records for this project and a user.

        Args:
            source: the source.
            user: whose, where a host has many users; default: this installation's user.

        Raises `InvalidContextTypeError` for a name that is no source.
        """
        self.registry.require(source)
        return self.pipeline.records(source, self.project, user, self.workspace.root)

    @property
    def redactor(self) -> Redactor:
        """The redactor for texts that do not go through `records`."""
        return self.pipeline.redactor

    def embedder(self, source: str) -> Embedder:
        """Return the embedder of a source's records and search queries.

        Raises `ConfigError` if no plugin has the configured model.
        """
        return self.store.embedders.of(source)

    @listed_once()
    def index(
        self,
        sources: Sequence[str] | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        wait: bool = True,
        seconds: float | None = None,
        query: str = "",
    ) -> dict[str, IndexOutcome]:
        """Update records from the workspace, and prune them; blocks.

        Args:
            sources: which ones; default: every source that is on and can.
            progress: called as the work goes on.
            wait: False to skip the sources that another process indexes.
            seconds: the time after which sources leave the rest to a later run.
            query: what may answer it is indexed first.

        Returns:
            Source -> its outcome or its error; a source that fails does not stop the others.
        """
        names = self.registry.sources if sources is None else sources
        return index_sources(
            self.registry,
            self.store,
            {name: self.records(name) for name in names},
            self.workspace.root,
            progress=progress or (lambda _: None),
            wait=wait,
            seconds=seconds,
            query=query,
        )

    def retention(self, source: str) -> Retention:
        """Return the age and number limits of a source's records.

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
        """Delete records past their retention limit.

        Records are deleted when they are too old or when there are too many. This call blocks.

        The limits are `[sources.NAME] keep_days` and `keep_records`, or the source's own. Sources
        that index the workspace, and sources without a limit, are not pruned.

        Args:
            sources: which ones; default: every source that is on.
            dry_run: True to delete nothing and only count.
            user: whose own records are pruned beside the project's, where a host has many
                users; default: those of this installation's user.

        Returns:
            Source -> the records that were deleted, or would be.
        """
        names = self.registry.sources if sources is None else sources
        records = [self.records(name, user) for name in names]
        return prune_sources(self.registry, records, dry_run=dry_run)

    # -- usage history --------------------------------------------------------------------

    def mark_used(self, used: FormattedContext | Iterable[ContextItem | tuple[str, str]]) -> None:
        """Mark items as used, for strategies that score usage.

        This call blocks. A mark raises an item's usage more than its presence in a context does,
        and is recorded under every strategy. Where the history is off (`[history] enabled`)
        nothing happens. A history that cannot be written is logged.

        Args:
            used: a context, of which all items count, or some items, or (source, id) of each.

        Raises `InvalidRequestError` for a value that is not an item.
        """
        mark_used(self.pipeline.history, self.project, used)

    # -- the cache ------------------------------------------------------------------------

    async def _assembled(self, request: ContextRequest, recipe: Recipe) -> FormattedContext:
        contexts = self.caches.contexts if self.caches is not None else None
        if contexts is not None and request.cache:
            # The cached contexts and results contain the queries.
            request = await self.redactor.request(request)
        if contexts is None or not request.cache:
            return await self.pipeline.assemble(request, recipe)
        return await contexts.assembled(self.pipeline, request, recipe)

    async def warm(
        self, queries: Sequence[str], **options: Unpack[RequestOptions]
    ) -> list[FormattedContext]:
        """Fill the cache with the contexts of some queries.

        Args:
            queries: the queries.
            options: options of `ContextRequest`, as the later requests will have them.

        Raises what `assemble_context` raises.
        """
        return [await self.assemble_context(query, **options) for query in queries]

    def warm_sync(
        self, queries: Sequence[str], **options: Unpack[RequestOptions]
    ) -> list[FormattedContext]:
        """Run `warm` without an event loop."""
        return run_blocking(self.warm(queries, **options))

    def cache_stats(self) -> dict[str, CacheStats]:
        """Return this kit's cache hits and misses.

        The keys are `contexts`, `results` and `embeddings`. Without a cache the mapping is empty.
        """
        return {} if self.caches is None else self.caches.stats()

    # -- the end --------------------------------------------------------------------------

    def close(self) -> None:
        """Close the store and release the cache's memory; blocks.

        A closed kit reopens both when used again, and must be closed again. Queries that still run
        do not reopen the store.
        """
        self.store.close()
        if self.caches is not None:
            self.caches.close()

    def leave(self) -> None:
        """Release the kit at process exit, faster than `close`.

        A store that was only read stays open until the process ends. Do not use the kit afterwards.
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
