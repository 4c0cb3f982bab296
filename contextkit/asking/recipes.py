"""The recipes that plugins offer: finding them, and building one from a host's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import frozen

from contextkit.errors import (
    ContextKitError,
    InvalidRequestError,
    PluginError,
    SourceError,
    in_words,
)
from contextkit.registry import SourceRegistry
from contextkit.registry.checks import checked_recipe, checked_recipes
from contextkit.request import Recipe, RecipeTemplate

__all__ = ["OfferedRecipe", "build_recipe", "find_recipe", "offered_recipes"]

_HOOK = "contextkit_recipes"


@frozen
class OfferedRecipe:
    """A recipe's template, and the plugin that offers it."""

    plugin: str
    template: RecipeTemplate


def offered_recipes(registry: SourceRegistry) -> Mapping[str, OfferedRecipe]:
    """The recipes of the plugins that are on, by name.

    A plugin whose hook fails offers none; the failure is logged.

    Raises `PluginError` where two plugins offer one name.
    """
    found: dict[str, OfferedRecipe] = {}
    for offer in _offers(registry):
        name = offer.template.name
        if name in found:
            raise PluginError(
                f"the recipe '{name}' is offered by {found[name].plugin} and by {offer.plugin}: "
                f"switch one of them off"
            )
        found[name] = offer
    return dict(sorted(found.items()))


def _offers(registry: SourceRegistry) -> Iterator[OfferedRecipe]:
    for plugin in registry.on_with(_HOOK):
        templates = registry.attempt(plugin, _HOOK, partial(_templates, plugin))
        yield from (OfferedRecipe(plugin, template) for template in templates or ())


def _templates(plugin: str, results: Sequence[object]) -> tuple[RecipeTemplate, ...]:
    # pluggy leaves None out of the list of what the hook returned.
    return checked_recipes(plugin, results[0]) if results else ()


def find_recipe(registry: SourceRegistry, name: str) -> OfferedRecipe:
    """The recipe of that name.

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
        SourceError: where its plugin fails, or builds what is no recipe.
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
