"""All caches of one kit."""

from __future__ import annotations

import importlib.util
import os

from attrs import define, field

from contextkit.cache.contexts import ContextCache
from contextkit.cache.keys import Keys, key_of
from contextkit.cache.levels import Kind, Levels
from contextkit.cache.redis import RedisLevel
from contextkit.cache.results import QueryVectors, ResultCache
from contextkit.cache.revisions import SharedRevisions
from contextkit.cache.stats import CacheStats
from contextkit.config.sections import CacheSettings
from contextkit.config.settings import Config
from contextkit.errors import ConfigError
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.revisions import Revisions

CACHED = ("contexts", "results", "embeddings")
"""The names of the caches."""


@define(eq=False)
class Caches:
    """Caches contexts, sources' results, and query vectors.

    Attributes:
        settings: `[cache]`.
        levels: the storage.
        vectors: query vectors; None without Redis, because embedders cache some themselves.
    """

    settings: CacheSettings
    levels: Levels
    vectors: QueryVectors | None = field(init=False)
    contexts: ContextCache | None = field(default=None, init=False)
    results: ResultCache | None = field(default=None, init=False)
    _revisions: SharedRevisions | None = field(default=None, init=False)

    @vectors.default
    def _make_vectors(self) -> QueryVectors | None:
        return None if self.levels.redis is None else QueryVectors(self.levels, self.kinds[2])

    @property
    def kinds(self) -> tuple[Kind, Kind, Kind]:
        """Sizes and lifetimes of contexts, results and embeddings."""
        its = self.settings
        return (
            Kind("contexts", its.contexts_size, its.contexts_ttl, its.shared_contexts_ttl),
            Kind("results", its.results_size, its.results_ttl, its.results_ttl),
            Kind("embeddings", 0, 0.0, its.embeddings_ttl),
        )

    def attach(self, registry: SourceRegistry, store: RecordStore) -> ResultCache:
        """Create the caches for these sources and this store."""
        keys = Keys(registry, store, blocking=self._revisions is not None)
        self.contexts = ContextCache(self.levels, self.kinds[0], keys)
        self.results = ResultCache(self.levels, self.kinds[1], keys)
        return self.results

    def revisions(self, config: Config) -> Revisions | None:
        """The revisions for a store on a server.

        None: the store has its own.
        """
        if self.levels.redis is None or config.store.url is None:
            return None
        place = key_of([config.store.url, config.store.collection])
        self._revisions = SharedRevisions(self.levels, place)
        return self._revisions

    def stats(self) -> dict[str, CacheStats]:
        """Statistics of each cache in this process."""
        parts = (self.contexts, self.results, self.vectors)
        return {
            name: CacheStats() if part is None else part.counting.so_far
            for name, part in zip(CACHED, parts, strict=True)
        }

    def clear(self) -> bool:
        """Delete all cached values, in Redis for all users.

        Returns False if that failed.
        """
        return self.levels.clear_blocking(self.kinds)

    def close(self) -> None:
        """Clear the memory and close the connections."""
        self.levels.close()


def open_caches(config: Config) -> Caches:
    """Open the configured caches; nothing is connected yet.

    Raises `ConfigError` if Redis is configured and its library is missing.
    """
    settings = config.cache
    redis = None
    if settings.url != "memory":
        if importlib.util.find_spec("redis") is None:
            raise ConfigError(
                'Redis needs its library: pip install "contextkit-core[redis]"', key="cache.url"
            )
        password = os.environ.get(settings.password_variable)
        redis = RedisLevel(settings.url, password, settings.timeout)
    return Caches(settings, Levels(redis, settings.jitter))
