"""`ContextKit`: what a host program embeds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

from contextkit import (
    ContextAssemblyError,
    ContextItem,
    ContextKit,
    ContextRequest,
    InvalidContextTypeError,
    InvalidRequestError,
    Recipe,
    RecipeTemplate,
    Record,
    RequestOptions,
    Section,
)
from contextkit.errors import ConfigError, WorkspaceError
from contextkit.models.request_options import OPTIONS
from tests.making import KEYWORDS, OpenKit, from_records, make_plugin

TIDE = [
    ContextItem("tide", "High water comes at noon.", 0.9, id="1"),
    ContextItem("tide", "The gate is closed before ebb.", 0.8, id="2"),
]


def outlook(day: str, strategy: str | None = None) -> Recipe:
    """A recipe of two sections of one source."""
    return Recipe(
        name="outlook",
        title=f"Outlook for {day}",
        sections=(
            Section(source="tide", key="first", title="First", query=f"tides on {day}", limit=1),
            Section(source="tide", key="then", title="Then", query=strategy, weight=3.0),
            Section(source="moon", optional=True),
        ),
        footer="*Based on {counts[tide]} reports and {counts[moon]} moons*",
    )


def offering(name: str = "outlook", **options: Any) -> ModuleType:
    """A source with a recipe."""
    template = RecipeTemplate(name=name, description="the outlook", build=outlook, **options)
    return make_plugin(TIDE, contextkit_recipes=[template])


# -- opening --------------------------------------------------------------------------------


def test_a_kit_is_opened_on_a_folder_in_a_workspace(tmp_path: Path) -> None:
    """Its settings are read, its root found; flags beat variables beat files."""
    (tmp_path / "contextkit.toml").write_text(
        "project = 'mine'\n[assemble]\nlimit = 3\nmax_tokens = 7"
    )
    (tmp_path / "src").mkdir()
    kit = ContextKit.open(
        str(tmp_path / "src"),
        settings={"assemble.limit": 4},
        environment={"CONTEXTKIT_ASSEMBLE_MAX_TOKENS": "8"},
        entry_points=False,
    )
    assert kit.workspace.root == tmp_path
    assert (kit.config.assemble.limit, kit.config.assemble.max_tokens) == (4, 8)
    assert kit.project == "name:mine"


def test_opening_touches_no_store(tmp_path: Path, home: Path) -> None:
    """That happens when it is first used."""
    with ContextKit.open(tmp_path, entry_points=False):
        pass
    assert [path.name for path in home.iterdir()] == ["config.toml"]


async def test_a_kit_may_do_without_models(open_kit: OpenKit) -> None:
    """Records that have vectors are found by their words, and nothing is said to be wrong."""
    plugin = make_plugin(contextkit_query=from_records)
    with open_kit({"tide": plugin}) as kit:
        kit.records("tide").put([Record(id="1", text="High water comes at noon.")])
        assert kit.store.identity.models
    quick = open_kit({"tide": plugin}, models=False)
    context = await quick.assemble_context("when does the water come?")

    assert "High water comes at noon." in context.markdown
    assert context.trace.notes == ()
    assert quick.embedder("tide").query("water") is None
    assert quick.embedder("tide").dense(["water"]) is None


def test_a_project_is_named_by_its_path(tmp_path: Path) -> None:
    """Also one that is not UTF-8: a store can hold text only."""
    name = os.fsdecode(b"w\xff")
    (tmp_path / name).mkdir()
    assert ContextKit.open(tmp_path, entry_points=False).project == str(tmp_path)
    kit = ContextKit.open(tmp_path / name, entry_points=False)
    assert kit.project == f"{tmp_path}/w\\udcff"
    named = ContextKit.open(tmp_path, entry_points=False, environment={"CONTEXTKIT_PROJECT": name})
    assert named.project == "name:w\\udcff"


def test_what_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    """No such folder, a setting that makes no sense."""
    with pytest.raises(WorkspaceError, match="nowhere"):
        ContextKit.open(tmp_path / "nowhere")
    (tmp_path / "contextkit.toml").write_text("[assemble]\nlimit = 0\n")
    with pytest.raises(ConfigError, match=r"contextkit\.toml:2: assemble\.limit: expected a whole"):
        ContextKit.open(tmp_path)


async def test_a_kit_closes_at_the_end_of_its_block(open_kit: OpenKit) -> None:
    """Another can have the store at once; a closed one opens again when it is used."""
    async with open_kit({"tide": make_plugin(TIDE)}, settings=KEYWORDS) as kit:
        assert (await kit.assemble_context("tide?")).sources_used == {"tide": 2}
    with open_kit({"tide": make_plugin(TIDE)}, settings=KEYWORDS) as other:
        other.records("tide").put([Record(id="1", text="x")])
    assert [record.id for record in kit.records("tide").scan()] == ["1"]


# -- sources --------------------------------------------------------------------------------


def test_sources_are_switched_at_run_time(open_kit: OpenKit) -> None:
    """By name; a name that is none names the nearest."""
    kit = open_kit({"tide": make_plugin(TIDE)}, settings=KEYWORDS)
    kit.disable("tide")
    assert kit.registry.sources == []
    kit.enable("tide")
    assert kit.registry.sources == ["tide"]

    def index(name: str) -> object:
        return kit.index([name])

    asking: tuple[Callable[[str], object], ...] = (kit.enable, kit.disable, kit.records, index)
    for asked in asking:
        with pytest.raises(InvalidContextTypeError, match="Did you mean 'tide'"):
            asked("tied")


def test_records_of_a_source_that_is_off_can_be_read(open_kit: OpenKit) -> None:
    """And it stays off."""
    kit = open_kit({"tide": make_plugin([])}, settings=KEYWORDS)
    kit.disable("tide")
    assert kit.records("tide").count() == 0
    assert kit.registry.sources == []


# -- contexts -------------------------------------------------------------------------------


def test_type_checkers_know_every_option() -> None:
    """`RequestOptions` names the options of `ContextRequest`, so add a new one there, too."""
    assert set(get_type_hints(RequestOptions)) == set(OPTIONS)


async def test_a_misspelt_option_is_refused(open_kit: OpenKit) -> None:
    """By a type checker, which reads this file, and when it runs."""
    kit = open_kit({"tide": make_plugin(TIDE)}, settings=KEYWORDS)
    with pytest.raises(InvalidRequestError, match="did you mean 'max_tokens'"):
        await kit.assemble_context("tide?", max_token=5)  # type: ignore[call-arg]
    with pytest.raises(InvalidRequestError, match="limit must be a whole number of at least 1"):
        await kit.assemble_context("tide?", limit="5")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequestError, match="context_types and sources are the same"):
        await kit.assemble_context("tide?", ["tide"], sources=["tide"])


def test_a_host_lists_the_sources(open_kit: OpenKit) -> None:
    """With state, weight and records, as `contextkit sources --json` prints them."""
    kit = open_kit({"tide": make_plugin(TIDE)}, settings=KEYWORDS)
    kit.records("tide").put([Record(id="1", text="High water comes at noon.")])
    (tide,) = kit.sources()
    assert (tide.name, tide.state, tide.weight, tide.records) == ("tide", "on", 1.0, 1)
    kit.disable("tide")
    (off,) = kit.sources()
    assert (off.state, off.weight, off.records) == ("off", None, None)


def test_a_script_needs_no_event_loop(open_kit: OpenKit) -> None:
    """The seed's arguments; all but the first two have names, as every option has."""
    kit = open_kit({"tide": make_plugin(TIDE)}, settings=KEYWORDS)
    context = kit.assemble_context_sync("tide?", ["tide"], limit=1, max_tokens=500)
    assert (context.sources_used, context.trace.max_tokens) == ({"tide": 1}, 500)


async def test_the_synchronous_twin_within_an_event_loop(open_kit: OpenKit) -> None:
    """A clear error, and no coroutine that was never awaited."""
    kit = open_kit({"tide": offering("premortem")}, settings=KEYWORDS)
    message = "await the method without _sync instead"
    with pytest.raises(ContextAssemblyError, match=message):
        kit.assemble_context_sync("tide?")
    with pytest.raises(ContextAssemblyError, match=message):
        kit.get_premortem_context_sync("debugging")


async def test_configured_sources_are_those_that_are_asked(open_kit: OpenKit) -> None:
    """Unless the request names others."""
    moon = make_plugin([ContextItem("moon", "The moon is full.", 0.9)])
    kit = open_kit(
        {"tide": make_plugin(TIDE), "moon": moon},
        settings=KEYWORDS | {"assemble.sources": ["moon"]},
    )
    assert (await kit.assemble_context("tide?")).sources_used == {"moon": 1}
    assert (await kit.assemble_context("tide?", ["tide"])).sources_used == {"tide": 2}


# -- recipes --------------------------------------------------------------------------------


async def test_a_recipe_asks_each_section_its_own_question(open_kit: OpenKit) -> None:
    """Sections in the recipe's order, the recipe's title and footer, its budget and limit."""
    seen = []

    def contextkit_query(request: ContextRequest) -> list[ContextItem]:
        seen.append((request.query, request.limit, request.max_tokens, request.recipe))
        number = len(seen)
        return [ContextItem("tide", f"Report {number} of the tides.", 0.9, id=f"{number}")]

    template = RecipeTemplate(
        name="outlook", description="x", build=outlook, max_tokens=900, limit=9
    )
    kit = open_kit(
        {"tide": make_plugin(contextkit_query=contextkit_query, contextkit_recipes=[template])},
        settings=KEYWORDS,
    )
    context = await kit.assemble_recipe("outlook", {"day": "Monday"})
    assert sorted(seen) == [
        ("Outlook for Monday", 9, 900, "outlook"),
        ("tides on Monday", 1, 900, "outlook"),
    ]
    lines = context.markdown.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Outlook for Monday",
        "## First",
        "## Then",
    ]
    assert lines[-1] == "*Based on 2 reports and 0 moons*"
    assert [source.section for source in context.trace.sources] == ["first", "then"]
    assert context.trace.recipe == "outlook"
    shares = [source.share for source in context.trace.sources]
    assert shares[1] == pytest.approx(3 * shares[0], abs=2)


async def test_a_recipes_numbers_can_be_given(open_kit: OpenKit) -> None:
    """A budget and a limit of the request beat the recipe's; wrong ones are refused."""
    kit = open_kit({"tide": offering()}, settings=KEYWORDS)
    context = await kit.assemble_recipe("outlook", {"day": "x"}, max_tokens=300, style="plain")
    assert context.trace.max_tokens == 300
    assert context.markdown.startswith("=== Outlook for x ===")
    wrongs: list[RequestOptions] = [{"limit": 0}, {"max_tokens": 0}]
    for wrong in wrongs:
        with pytest.raises(InvalidRequestError, match="must be a whole number of at least 1"):
            await kit.assemble_recipe("outlook", {"day": "x"}, **wrong)


async def test_premortem_is_the_recipe_of_that_name(open_kit: OpenKit) -> None:
    """With the seed's arguments."""

    def build(domain: str, strategy: str | None) -> Recipe:
        title = f"Premortem: {domain}" + (f" with {strategy}" if strategy else "")
        return Recipe(name="premortem", title=title, sections=(Section(source="tide"),))

    template = RecipeTemplate(name="premortem", description="x", build=build, max_tokens=1500)
    kit = open_kit({"tide": make_plugin(TIDE, contextkit_recipes=[template])}, settings=KEYWORDS)
    context = await kit.get_premortem_context("debugging", strategy="bisect", limit=1)
    assert context.markdown.startswith("# Premortem: debugging with bisect\n")
    assert (context.trace.max_tokens, context.sources_used) == (1500, {"tide": 1})


async def test_premortem_without_the_plugin_that_offers_it(open_kit: OpenKit) -> None:
    """The error says what is missing and what there is."""
    kit = open_kit({"tide": offering()}, settings=KEYWORDS)
    with pytest.raises(InvalidRequestError) as caught:
        await kit.get_premortem_context("debugging")
    assert str(caught.value) == (
        "no source that is on offers the recipe 'premortem'; there is: context, outlook"
    )
