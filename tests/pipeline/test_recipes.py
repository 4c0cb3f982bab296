"""Recipes: found by name, built from arguments, asked section by section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit import (
    ContextRequest,
    InvalidContextTypeError,
    InvalidRequestError,
    Recipe,
    RecipeTemplate,
    Section,
    SourceError,
    SourceInfo,
)
from contextkit.config.sections import SourceSettings
from contextkit.errors import PluginError
from contextkit.pipeline.recipes import (
    OfferedRecipe,
    build_recipe,
    find_recipe,
    offered_recipes,
    section_request,
    sections_to_ask,
)
from contextkit.plugin.manager import SourceRegistry
from tests.making import make_plugin, make_registry


def outlook(day: str, depth: float | None = None) -> Recipe:
    """A recipe of one section."""
    if day == "never":
        raise InvalidRequestError("there is no such day")
    return Recipe(name="outlook", title=f"Outlook for {day}", sections=(Section(source="tide"),))


def template(name: str = "outlook", build: Any = outlook) -> RecipeTemplate:
    """What a plugin offers."""
    return RecipeTemplate(name=name, description="the outlook", build=build)


# -- finding --------------------------------------------------------------------------------


def test_recipes_of_every_plugin_that_is_on() -> None:
    """Sorted by name; a hook may say that there is none."""
    registry = make_registry(
        {
            "a": make_plugin(contextkit_recipes=[template("x"), template("b")]),
            "b": make_plugin(contextkit_recipes=[template("a")]),
            "c": make_plugin(contextkit_recipes=None),
            "d": make_plugin(contextkit_recipes=[template("d")]),
        }
    )
    registry.disable("d")
    offered = offered_recipes(registry)
    assert {name: offer.plugin for name, offer in offered.items()} == {"a": "b", "b": "a", "x": "a"}
    assert list(offered) == ["a", "b", "x"]
    assert find_recipe(registry, "x") == offered["x"]


def test_two_plugins_with_one_recipe() -> None:
    """Neither is picked in silence."""
    registry = make_registry(
        {name: make_plugin(contextkit_recipes=[template()]) for name in ("tide", "moon")}
    )
    message = "the recipe 'outlook' is offered by moon and by tide: turn one of them off"
    with pytest.raises(PluginError, match=message):
        offered_recipes(registry)
    registry.disable("moon")
    assert find_recipe(registry, "outlook").plugin == "tide"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (3, "expected a sequence of RecipeTemplate, got an int"),
        (["outlook"], "entry 0 is a str, expected RecipeTemplate"),
        ([template(name=3)], "RecipeTemplate: name is an int"),  # type: ignore[arg-type]
        ([template(build="outlook")], "RecipeTemplate: build is a str"),
    ],
)
def test_wrong_recipes_cost_that_plugins_recipes(result: Any, reason: str) -> None:
    """The others are there; the log names plugin and hook."""
    registry = make_registry(
        {
            "moon": make_plugin(contextkit_recipes=lambda: result),
            "storm": make_plugin(contextkit_recipes=lambda: 1 / 0),
            "tide": make_plugin(contextkit_recipes=[template()]),
        }
    )
    with capture_logs() as logs:
        assert list(offered_recipes(registry)) == ["outlook"]
    assert [(e["source"], e["hook"], e["reason"]) for e in logs] == [
        ("moon", "contextkit_recipes", reason),
        ("storm", "contextkit_recipes", "ZeroDivisionError: division by zero"),
    ]


# -- building -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "recipe 'outlook': missing a required argument: 'day'"),
        ({"day": "x", "week": 2}, "recipe 'outlook': got an unexpected keyword argument 'week'"),
        ({"day": "never"}, "there is no such day"),
    ],
)
def test_wrong_arguments_are_the_requests_fault(arguments: dict[str, Any], message: str) -> None:
    """The recipe's own checks included."""
    with pytest.raises(InvalidRequestError) as caught:
        build_recipe(OfferedRecipe("tide", template()), arguments)
    assert str(caught.value) == message


def sections(*made: Any, footer: Any = "", title: Any = "X") -> Callable[[], Recipe]:
    """Builds a recipe that may be wrong."""
    return lambda: Recipe(name="x", title=title, sections=made, footer=footer)


def failing() -> Recipe:
    """Does not build."""
    raise TypeError("no\nharbour")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (failing, "recipe 'x' cannot be built: TypeError: no harbour"),
        (lambda: None, "build returned None, expected a Recipe"),
        (sections("tide"), "entry 0 is a str, expected Section"),
        (sections(title=3), "recipe 'x': title is an int"),
        (
            sections(Section(source="a"), Section(source="b", key="a")),
            "recipe 'x': two sections have the key 'a'",
        ),
        (sections(Section(source=3)), "recipe 'x': section 3: source is an int"),  # type: ignore[arg-type]
        (
            sections(Section(source="a", title=3)),  # type: ignore[arg-type]
            "recipe 'x': section 'a': title is an int",
        ),
        (
            sections(Section(source="a", filters=None)),  # type: ignore[arg-type]
            "recipe 'x': section 'a': filters is None",
        ),
        (sections(footer=3), "recipe 'x': footer is an int"),
        (
            sections(footer="{nothing}"),
            "recipe 'x': its footer cannot be filled in: KeyError('nothing')",
        ),
        (sections(footer="{"), "recipe 'x': its footer cannot be filled in: ValueError("),
        (sections(footer="{0}"), "recipe 'x': its footer cannot be filled in: IndexError("),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_its_plugins_fault(build: Any, reason: str) -> None:
    """The error names plugin and hook."""
    with pytest.raises(SourceError) as caught:
        build_recipe(OfferedRecipe("tide", template("x", build)), {})
    assert (caught.value.source, caught.value.hook) == ("tide", "contextkit_recipes")
    assert caught.value.reason.startswith(reason)


# -- from recipe to questions ---------------------------------------------------------------


@pytest.fixture
def registry() -> SourceRegistry:
    """Three sources of different priorities, one of them off."""
    registry: SourceRegistry = make_registry(
        {
            "low": make_plugin([], contextkit_source=SourceInfo(priority=10, title="Low")),
            "high": make_plugin([], contextkit_source=SourceInfo(priority=90)),
            "off": make_plugin([]),
        },
        {"low": SourceSettings(limit=5, own={"harbour": "Kiel"})},
    )
    registry.disable("off")
    return registry


def asked(recipe: Recipe) -> list[str]:
    """The sources of a recipe's sections."""
    return [section.source for section in recipe.sections]


def test_an_optional_section_is_left_out_where_its_source_is_off(registry: SourceRegistry) -> None:
    """One that is not optional makes its source ready, or is an error."""

    def keys(*made: Section) -> list[str]:
        recipe = Recipe(name="x", title="X", sections=made)
        return [section.key for section in sections_to_ask(registry, recipe)]

    assert keys(Section(source="low"), Section(source="off", optional=True)) == ["low"]
    assert keys(Section(source="none", optional=True), Section(source="off")) == ["off"]
    with pytest.raises(InvalidContextTypeError, match="'none'"):
        keys(Section(source="none"))


def test_a_source_sees_its_own_request(registry: SourceRegistry) -> None:
    """The section's query, limit and filters before the request's; its own settings."""
    request = ContextRequest(query="q", limit=20, filters={"a": 1, "b": 1})
    section = Section(source="low", query="other", limit=3, filters={"b": 2})
    seen = section_request(registry, section, request)
    assert (seen.query, seen.limit, seen.filters) == ("other", 3, {"a": 1, "b": 2})
    assert seen.settings == {"harbour": "Kiel"}
    plain = section_request(registry, Section(source="low"), request)
    assert (plain.query, plain.limit, plain.filters) == ("q", 5, {"a": 1, "b": 1})
    assert section_request(registry, Section(source="high"), request).limit == 20
