"""What sources say of themselves: their title and place, their own settings, their weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextRequest, SourceInfo
from contextkit.agent.tools import offered_tools
from contextkit.cli.commands import PluginCommands
from contextkit.config.origins import Origin
from contextkit.config.sections import SourceSettings
from contextkit.config.settings import Config
from contextkit.errors import ConfigError, SourceError
from contextkit.models.source import Setting
from contextkit.plugin.manager import SourceRegistry
from tests.making import make_plugin, make_registry

if TYPE_CHECKING:
    from tests.conftest import Site

REQUEST = ContextRequest(query="when is high water?")


# -- what a source says of itself -----------------------------------------------------------


def test_sources_stand_in_the_order_of_their_priorities() -> None:
    """Highest first, then by name; the configured priority beats the source's."""
    low, high = (make_plugin([], contextkit_source=SourceInfo(priority=10)) for _ in range(2))
    registry = make_registry(
        {"b": make_plugin([]), "a": make_plugin([]), "low": low, "high": high},
        {"high": SourceSettings(priority=90)},
    )
    assert registry.sources == ["high", "a", "b", "low"]


def test_a_source_has_a_title() -> None:
    """Its own, or one made from its name."""
    titled = make_plugin([], contextkit_source=SourceInfo(title="Tides"))
    silent = make_plugin([], contextkit_source=None)
    registry = make_registry({"tide": titled, "deep_sea-life": silent})
    assert registry.info("tide").title == "Tides"
    assert registry.info("deep_sea-life").title == "Deep sea life"


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (SourceInfo(title=3), "SourceInfo: title is an int"),  # type: ignore[arg-type]
        (SourceInfo(indexed_fields="day"), "SourceInfo: indexed_fields is a str"),  # type: ignore[arg-type]
        (SourceInfo(indexed_fields=(1,)), "entry 0 is an int, expected str"),  # type: ignore[arg-type]
        (SourceInfo(embedder=3), "SourceInfo: embedder is an int"),  # type: ignore[arg-type]
        (SourceInfo(reads="code"), "SourceInfo: reads is a str"),  # type: ignore[arg-type]
        (SourceInfo(count_filters=None), "SourceInfo: count_filters is None"),  # type: ignore[arg-type]
    ],
)
def test_what_a_source_says_of_itself_is_checked(info: SourceInfo, reason: str) -> None:
    """A wrong type is found when the plugin is loaded, not when its context is rendered."""
    with pytest.raises(SourceError) as caught:
        make_registry({"tide": make_plugin([], contextkit_source=info)})
    assert (caught.value.source, caught.value.hook) == ("tide", "contextkit_source")
    assert caught.value.reason == reason


# -- a source's own settings ----------------------------------------------------------------


def checking(settings: Mapping[str, Any]) -> list[str]:
    """Takes a setting `harbour`, and nothing else."""
    return [f"{key}: not a setting of tide" for key in settings if key != "harbour"]


def test_own_settings_are_checked_with_file_and_line() -> None:
    """The error says where the setting stands."""
    config = Config(
        sources={"tide": SourceSettings(own={"harbour": "Kiel", "harbor": "Kiel"})},
        origins={"sources.tide.harbor": Origin("project", "/w/contextkit.toml", 7)},
    )
    registry = SourceRegistry(config, entry_points=False)
    with pytest.raises(ConfigError) as caught:
        registry.register(make_plugin([], contextkit_check_settings=checking), "tide")
    assert str(caught.value) == "/w/contextkit.toml:7: sources.tide.harbor: not a setting of tide"
    assert registry.plugins == []


def test_good_settings_pass() -> None:
    """Nothing to say is `None` or an empty list; without settings the hook is not called."""
    settings = {"tide": SourceSettings(own={"harbour": "Kiel"})}
    silent = make_plugin([], contextkit_check_settings=lambda settings: None)
    make_registry({"tide": make_plugin([], contextkit_check_settings=checking)}, settings)
    make_registry({"tide": silent}, settings)

    def never(settings: Mapping[str, Any]) -> list[str]:
        raise AssertionError("called without settings")

    make_registry({"tide": make_plugin([], contextkit_check_settings=never)})


def test_a_problem_that_names_no_setting() -> None:
    """It is told as it is."""
    plugin = make_plugin([], contextkit_check_settings=lambda settings: ["it is all wrong"])
    with pytest.raises(ConfigError, match=r"^sources\.tide: it is all wrong$"):
        make_registry({"tide": plugin}, {"tide": SourceSettings(own={"x": 1})})


@pytest.mark.parametrize("result", ["x: wrong", 3, [3]])
def test_problems_are_checked(result: object) -> None:
    """What is no list of texts is the plugin's error."""
    plugin = make_plugin([], contextkit_check_settings=lambda settings: result)
    with pytest.raises(SourceError, match="contextkit_check_settings"):
        make_registry({"tide": plugin}, {"tide": SourceSettings(own={"x": 1})})


DECLARED = SourceInfo(
    settings={"harbour": "", "days": Setting(7, least=1, most=365), "share": Setting(0.5, over=0)},
)


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        ({"harbour": "Kiel", "days": 1, "share": 2}, []),
        ({"harbour": 3}, ["harbour: must be a text, got 3"]),
        ({"days": 400}, ["days: must be a whole number from 1 to 365, got 400"]),
        ({"days": True}, ["days: must be a whole number from 1 to 365, got True"]),
        ({"share": float("nan")}, ["share: must be a number over 0, got nan"]),
        (
            {"day": 1},
            [
                "day: the source tide has no such setting; it has harbour, days, share; "
                "did you mean days?"
            ],
        ),
    ],
)
def test_declared_settings_are_checked_without_a_hook(
    given: dict[str, Any], problems: list[str]
) -> None:
    """Each has the type of its default and its range; other names are refused."""
    assert list(DECLARED.setting_problems("tide", given)) == problems


def test_a_source_reads_its_settings_with_their_defaults() -> None:
    """What the user did not set has its declared default."""
    plugin = make_plugin([], contextkit_source=DECLARED)
    registry = make_registry({"tide": plugin}, {"tide": SourceSettings(own={"days": 30})})
    assert registry.settings("tide") == {"harbour": "", "days": 30, "share": 0.5}
    with pytest.raises(ConfigError, match=r"^sources\.tide\.days: must be a whole number"):
        make_registry({"tide": plugin}, {"tide": SourceSettings(own={"days": 0})})


# -- constants --------------------------------------------------------------------------------


def test_constants_need_no_hook() -> None:
    """Weight and dedup keys come from `SourceInfo`; a hook that is there wins."""
    info = SourceInfo(weight=3.0, dedup_key="harbour:{harbour}")
    registry = make_registry(
        {
            "tide": make_plugin([], contextkit_source=info),
            "ebb": make_plugin(
                [],
                contextkit_source=info,
                contextkit_weight=lambda request: 2.0,
                contextkit_dedup_keys=lambda items: [["own"] for _ in items],
            ),
        }
    )
    items = [ContextItem("tide", "a", 1.0, metadata) for metadata in ({"harbour": "Kiel"}, {})]
    assert [registry.weight(name, REQUEST) for name in ("tide", "ebb")] == [3.0, 2.0]
    assert registry.dedup_keys("tide", items) == [("harbour:Kiel",), ()]
    assert list(registry.dedup_keys("ebb", items)) == [("own",), ("own",)]


@pytest.mark.parametrize(
    "wrong", [{"weight": 0}, {"dedup_key": "harbour"}, {"tools": "tools"}, {"weight": math.inf}]
)
def test_a_constant_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    """When the plugin is loaded, not when a context is assembled."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SourceInfo(**wrong)


def test_declared_commands_and_tools_are_imported_when_used(site: Site) -> None:
    """They come from the modules that the targets name; a wrong target costs those tools."""
    code = """
        from contextkit import SourceInfo, Tool, hookimpl

        def tide(kit) -> dict[str, str]:
            return {}

        TOOLS = [Tool(name="%s", description="The tide.", run=tide)]

        @hookimpl
        def contextkit_source():
            return SourceInfo(
                commands={"tide": ("no_such_module:tide", "Show the tide.")}, tools=f"%s:TOOLS"
            )
        """
    site.install("tide-tables", "tide", code % ("tide", "{__name__}"))
    site.install("ebb-tables", "ebb", code % ("ebb", "no_such_module"))
    registry, failures = SourceRegistry(Config()), list[tuple[str, str, str]]()
    offered = offered_tools(registry, lambda *failure: failures.append(failure))
    commands = PluginCommands()
    commands.add_all(registry)
    assert {"tide", "ebb"} & {*offered} == {"tide"}
    assert "tide" in commands.commands
    assert failures == [
        (
            "ebb",
            "contextkit_tools",
            "no_such_module:TOOLS: ModuleNotFoundError: No module named 'no_such_module'",
        )
    ]


# -- weights --------------------------------------------------------------------------------


def test_a_weight_comes_from_the_request_the_settings_the_source_or_is_one() -> None:
    """In this order."""
    weighty = {name: make_plugin([], contextkit_weight=lambda request: 2) for name in "abc"}
    # An integer that is too large for a float is refused.
    huge = make_plugin([], contextkit_weight=lambda request: 10**400)
    registry = make_registry(
        {**weighty, "d": make_plugin([]), "e": huge},
        {"a": SourceSettings(weight=3.0), "b": SourceSettings(weight=3.0)},
    )
    request = attrs.evolve(REQUEST, weights={"a": 4.0})
    assert [registry.weight(name, request) for name in "abcde"] == [4.0, 3.0, 2, 1.0, 1.0]


@pytest.mark.parametrize(
    "weight", [0, -1, float("nan"), float("inf"), True, "2", None, [1], 1j, ZeroDivisionError]
)
def test_a_wrong_weight_costs_the_weight_alone(weight: Any) -> None:
    """It counts as 1.0, and the log names source and hook."""

    def contextkit_weight(request: ContextRequest) -> Any:
        if weight is ZeroDivisionError:
            raise ZeroDivisionError
        return weight

    registry = make_registry({"tide": make_plugin([], contextkit_weight=contextkit_weight)})
    with capture_logs() as logs:
        assert registry.weight("tide", REQUEST) == 1.0
    assert [(e["source"], e["hook"]) for e in logs] == (
        [] if weight is None else [("tide", "contextkit_weight")]
    )


def test_own_settings_of_an_installed_source_are_checked(site: Site) -> None:
    """A wrong setting is the user's error, not a broken plugin."""
    code = """
        from contextkit import hookimpl

        @hookimpl
        def contextkit_query(request):
            return []

        @hookimpl
        def contextkit_check_settings(settings):
            return [f"{key}: not a setting" for key in settings]
        """
    site.install("tide-tables", "tide", code)
    config = Config(
        sources={"tide": SourceSettings(own={"x": 1})},
        origins={"sources.tide.x": Origin("flag", "--x")},
    )
    with pytest.raises(ConfigError, match=r"^sources\.tide\.x: not a setting$"):
        SourceRegistry(config)
