"""What many tests are made of: plugins, registries and kits' settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from attrs import define

from contextkit import (
    ContextAssembler,
    ContextItem,
    ContextKit,
    ContextRequest,
    SourceInfo,
    hookimpl,
)
from contextkit.config.sections import AssembleSettings, SourceSettings
from contextkit.config.settings import Config
from contextkit.models.candidate import Candidate, Scores
from contextkit.plugin.manager import SourceRegistry

OpenKit = Callable[..., ContextKit]
"""The fixture `open_kit`."""

KEYWORDS: dict[str, Any] = {"embedding.model": "none"}
"""Settings of a kit that loads no model."""


def make_plugin(items: Sequence[ContextItem] | None = None, **hooks: Any) -> ModuleType:
    """Make a plugin: `make_plugin(items, contextkit_weight=lambda request: 2.0)`.

    With `items` it is a source that finds them. A hook is a function, or the value that it
    returns. A function that is marked already, as a wrapper is, stays as it is.
    """
    plugin = ModuleType("plugin")
    if items is not None:
        hooks["contextkit_query"] = lambda request: list(items)
    for name, given in hooks.items():
        function = given if inspect.isroutine(given) else _returning(given, name)
        marked = hasattr(function, "contextkit_impl")
        setattr(plugin, name, function if marked else hookimpl(function))
    return plugin


def make_source(items: Sequence[ContextItem], **hooks: Any) -> ModuleType:
    """Make a source whose relevances say how much of the query an item answers."""
    return make_plugin(items, **{"contextkit_source": SourceInfo(scale="calibrated"), **hooks})


def _returning(value: Any, hook: str) -> Callable[..., Any]:
    if hook == "contextkit_query":
        return lambda request: value
    return lambda: value


@define
class Clock:
    """Seconds that pass when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


async def from_records(request: ContextRequest) -> list[ContextItem]:
    """Find what the source's records answer; a query for `make_plugin`."""
    hits = await request.records.search(request.query, limit=request.limit)
    return [
        ContextItem(
            request.records.source,
            hit.record.text,
            hit.relevance,
            {"similarity": hit.similarity},
            id=hit.record.id,
        )
        for hit in hits
    ]


def make_candidate(item: ContextItem, section: str | None = None) -> Candidate:
    """Make a candidate of an item that matches as well as it is relevant."""
    match = item.relevance
    scores = Scores(relevance=match, match=match, salience=0.5, recency=0.5, priority=0.5)
    return Candidate(item=item, section=section or item.source, scores=scores)


class Nobody:
    """A host's searcher that may be asked for anything, and finds nothing."""

    def __getattr__(self, name: str) -> Callable[..., Sequence[object]]:
        if not name.startswith("search_"):
            raise AttributeError(name)
        return lambda *_, **__: ()


def make_assembler(plugins: Mapping[str, object], **assemble: float) -> ContextAssembler:
    """Make an assembler of plugins, without a store: `make_assembler({…}, deadline=1.0)`."""
    patient = {"source_timeout": 60.0, "deadline": 60.0, "compress_timeout": 60.0, **assemble}
    config = Config(assemble=AssembleSettings(**patient))  # type: ignore[arg-type]
    registry = SourceRegistry(config, entry_points=False)
    for name, plugin in plugins.items():
        registry.register(plugin, name)
    return ContextAssembler(Nobody(), registry=registry)


def make_registry(
    plugins: Mapping[str, object] | None = None,
    settings: Mapping[str, SourceSettings] | None = None,
) -> SourceRegistry:
    """Make a registry of plugins: `make_registry({"tide": plugin}, settings={…})`."""
    registry = SourceRegistry(Config(sources=settings or {}), entry_points=False)
    for name, plugin in (plugins or {}).items():
        registry.register(plugin, name)
    return registry
