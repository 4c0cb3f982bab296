"""From a request and a recipe to the questions that the sources are asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import evolve

from contextkit.config import normalized
from contextkit.errors import InvalidContextTypeError
from contextkit.registry import SourceRegistry
from contextkit.request import ContextRequest, Recipe, Section
from contextkit.signals.reading import signals_of

__all__ = [
    "check_excluded",
    "context_recipe",
    "floor_of",
    "section_request",
    "sections_to_ask",
    "timeout_of",
    "title_of",
]


def context_recipe(registry: SourceRegistry, sources: Sequence[str] | None) -> Recipe:
    """The recipe of one section per source: the named ones, or every one that is on.

    They are asked in the order of the sources' priorities, whatever order was named, so that
    the same question gives the same text. `assemble.order` says how they are rendered.

    Raises `InvalidContextTypeError` for a name that is no source.
    """
    for name in sources or ():
        registry.require(name)
    wanted = registry.sources if sources is None else registry.in_order(sources)
    return Recipe(
        name="context",
        title="Context",
        sections=tuple(Section(source=name) for name in wanted),
        best_first=registry.config.assemble.order == "match",
    )


def sections_to_ask(
    registry: SourceRegistry, recipe: Recipe, excluded: Collection[str] = ()
) -> list[Section]:
    """The recipe's sections without the excluded sources' and the optional ones that are off.

    Raises `InvalidContextTypeError` where a section that is not optional has no source, and
    for an excluded name that is none.
    """
    check_excluded(registry, excluded)
    on = set(registry.sources)
    asked = [
        section
        for section in recipe.sections
        if (section.source in on or not section.optional) and section.source not in excluded
    ]
    for section in asked:
        registry.require(section.source)
    return asked


def check_excluded(registry: SourceRegistry, names: Collection[str]) -> None:
    """Raise `InvalidContextTypeError` for what there is none of; what is off or broken may be."""
    known = [plugin.name for plugin in registry.plugins]
    for name in names:
        if name not in known:
            raise InvalidContextTypeError(name, known)


def title_of(registry: SourceRegistry, section: Section) -> str:
    """A section's heading."""
    return section.title or registry.info(section.source).title


def section_request(
    registry: SourceRegistry, section: Section, request: ContextRequest
) -> ContextRequest:
    """The request as one section's source sees it, still without its records.

    What it can change in place is a copy: no plugin changes what others are asked, or the settings.
    """
    settings = registry.config.source(section.source)
    return evolve(
        request,
        query=section.query or request.query,
        signals=signals_of(section.query) if section.query else request.signals,
        limit=request.limits.get(section.source)
        or section.limit
        or request.strategy.limits.get(normalized(section.source))
        or settings.limit
        or request.limit,
        filters={**request.filters, **section.filters},
        weights=dict(request.weights),
        limits=dict(request.limits),
        timeouts=dict(request.timeouts),
        settings=registry.settings(section.source),
        source_timeout=timeout_of(registry, section, request),
        neighbours=request.strategy.neighbours,
    )


def timeout_of(registry: SourceRegistry, section: Section, request: ContextRequest) -> float:
    """Seconds that a section's source may take."""
    return (
        request.timeouts.get(section.source)
        or registry.config.source(section.source).timeout
        or request.source_timeout
    )


def floor_of(registry: SourceRegistry, section: Section, request: ContextRequest) -> float:
    """The relevance below which a section's items are left out, 0..1."""
    configured = registry.config.source(section.source).min_relevance
    return request.min_relevance if configured is None else configured
