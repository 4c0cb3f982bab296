"""Find and build plugins' recipes, and make each section's request."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import frozen

from contextkit.config.settings import normalized
from contextkit.errors import (
    ContextKitError,
    InvalidContextTypeError,
    InvalidRequestError,
    PluginError,
    SourceError,
    in_words,
)
from contextkit.models.copying import copied
from contextkit.models.records import Records
from contextkit.models.request import ContextRequest, Recipe, RecipeTemplate, Section
from contextkit.models.source import SourceInfo
from contextkit.pipeline.request import default_limit
from contextkit.plugin.checks import checked_recipe, checked_recipes
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.questions import signals_of

_HOOK = "contextkit_recipes"

_SELDOM = 0.1
_PART_OF_SELDOM = 0.25
_LEAST_OF_SELDOM = 10
"""A source that answers such questions this seldom, compared with the one that does most often,
retrieves only this part of its usual limit, but this many items: no other may have an answer."""


@frozen
class OfferedRecipe:
    """A recipe's template, and the plugin that offers it."""

    plugin: str
    template: RecipeTemplate


def offered_recipes(registry: SourceRegistry) -> Mapping[str, OfferedRecipe]:
    """Map recipe names to the enabled plugins' recipes.

    A plugin whose hook fails offers none; the failure is logged.

    Raises `PluginError` where two plugins offer one name.
    """
    found: dict[str, OfferedRecipe] = {}
    for offer in _offers(registry):
        name = offer.template.name
        if name in found:
            raise PluginError(
                f"the recipe '{name}' is offered by {found[name].plugin} and by {offer.plugin}: "
                f"turn one of them off"
            )
        found[name] = offer
    return dict(sorted(found.items()))


def _offers(registry: SourceRegistry) -> Iterator[OfferedRecipe]:
    for plugin in registry.on_with(_HOOK):
        templates = registry.attempt(plugin, _HOOK, partial(_templates, plugin))
        yield from (OfferedRecipe(plugin, template) for template in templates or ())


def _templates(plugin: str, results: Sequence[object]) -> tuple[RecipeTemplate, ...]:
    # pluggy leaves None out of the hook's results.
    return checked_recipes(plugin, results[0]) if results else ()


def find_recipe(registry: SourceRegistry, name: str) -> OfferedRecipe:
    """Return the recipe of that name.

    Raises:
        InvalidRequestError: where no plugin that is on offers it.
        PluginError: where two plugins offer one name.
    """
    offered = offered_recipes(registry)
    if name not in offered:
        known = ", ".join(["context", *offered])
        raise InvalidRequestError(
            f"no source that is on offers the recipe '{name}'; there is: {known}"
        )
    return offered[name]


def build_recipe(offered: OfferedRecipe, arguments: Mapping[str, Any]) -> Recipe:
    """Build a recipe from a host's arguments.

    Raises:
        InvalidRequestError: where the arguments are not those that the recipe takes.
        SourceError: where its plugin fails, or builds something other than a recipe.
    """
    template = offered.template
    try:
        inspect.signature(template.build).bind(**arguments)
    except TypeError as error:
        raise InvalidRequestError(f"recipe '{template.name}': {error}") from error
    try:
        return checked_recipe(offered.plugin, template.build(**arguments))
    except ContextKitError:
        raise
    except Exception as error:
        reason = f"recipe '{template.name}' cannot be built: {in_words(error)}"
        raise SourceError(offered.plugin, _HOOK, reason) from error


def context_recipe(registry: SourceRegistry, sources: Sequence[str] | None) -> Recipe:
    """Make a recipe of one section per source.

    The sources are the named ones, or all that are enabled. They are queried in the order of their
    priorities, whatever order was named, so that the same question gives the same text.
    `assemble.order` sets the order in which they are rendered.

    Raises `InvalidContextTypeError` for a name that is not a source.
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
    """Select a recipe's sections to query.

    Sections of excluded sources, and optional sections whose source is off, are left out.

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
    """Raise `InvalidContextTypeError` for unknown names.

    Names of plugins that are off or broken are allowed.
    """
    known = [plugin.name for plugin in registry.plugins]
    for name in names:
        if name not in known:
            raise InvalidContextTypeError(name, known)


def title_of(registry: SourceRegistry, section: Section) -> str:
    """Return a section's heading."""
    return section.title or registry.info(section.source).title


def splits_by_evidence(sections: Sequence[Section], request: ContextRequest) -> bool:
    """Whether the budget depends on what the sections found.

    A strategy, a request or a recipe with questions or weights of its own may split it otherwise.
    """
    own_split = any(section.query is not None or section.weight for section in sections)
    return request.shares == "by_evidence" and not request.strategy.budget and not own_split


def section_requests(
    registry: SourceRegistry,
    sections: Sequence[Section],
    request: ContextRequest,
    records: Sequence[Records],
) -> list[ContextRequest]:
    """Derive the requests of all sections that are asked together, without their records.

    A source that seldom answers such questions is asked for fewer items, as it gets little of the
    budget or none: of 1,340 items of such sources, all 21 that were shown were among the first
    three of their source. Sources without records leave the budget to the others.

    Args:
        registry: has the sources' settings.
        sections: the sections.
        request: the request for the whole context.
        records: each section's records.
    """
    topics = request.signals.topics
    likely = [registry.info(section.source).likely_answers(topics) for section in sections]
    having = [value for value, own in zip(likely, records, strict=True) if not own.known_empty]
    decides = splits_by_evidence(sections, request) and not request.fill
    seldom = _SELDOM * max(having, default=0.0) if decides else 0.0
    return [
        section_request(registry, section, request, _PART_OF_SELDOM if value < seldom else 1.0)
        for section, value in zip(sections, likely, strict=True)
    ]


def section_request(
    registry: SourceRegistry, section: Section, request: ContextRequest, part: float = 1.0
) -> ContextRequest:
    """Derive one section's request, without its records.

    Mutable values are copied, so that no plugin can change other sources' requests or the settings.

    Args:
        registry: has the sources' settings.
        section: the section.
        request: the request for the whole context.
        part: the part of its usual limit, 0..1; a limit that somebody set is kept.
    """
    settings = registry.config.source(section.source)
    return copied(
        request,
        query=section.query or request.query,
        signals=signals_of(section.query) if section.query else request.signals,
        limit=request.limits.get(section.source)
        or section.limit
        or request.strategy.limits.get(normalized(section.source))
        or settings.limit
        or _limit(request, registry.info(section.source), part),
        filters={**request.filters, **section.filters},
        weights=dict(request.weights),
        limits=dict(request.limits),
        timeouts=dict(request.timeouts),
        settings=registry.settings(section.source),
        source_timeout=timeout_of(registry, section, request),
        neighbours=request.strategy.neighbours,
    )


def _limit(request: ContextRequest, info: SourceInfo, part: float) -> int:
    """Return the request's limit, or a smaller one that suits the source."""
    if not request.limit_by_source:
        return request.limit
    limit = request.limit
    # Summaries and single lines are short, whatever their items are.
    if request.detail == "full":
        limit = min(limit, default_limit(request.max_tokens, info.item_tokens))
    return min(limit, max(_LEAST_OF_SELDOM, round(part * limit)))


def timeout_of(registry: SourceRegistry, section: Section, request: ContextRequest) -> float:
    """Return a section's source timeout in seconds."""
    return (
        request.timeouts.get(section.source)
        or registry.config.source(section.source).timeout
        or request.source_timeout
    )


def floor_of(registry: SourceRegistry, section: Section, request: ContextRequest) -> float:
    """Return a section's minimum relevance, 0..1."""
    configured = registry.config.source(section.source).min_relevance
    return request.min_relevance if configured is None else configured
