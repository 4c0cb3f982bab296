"""The registry: what is installed, what is on, and how a plugin's hooks are called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import click
import pluggy
import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextRequest, hookimpl
from contextkit.cli.commands import PluginCommands
from contextkit.config.origins import Origin
from contextkit.config.sections import SourceSettings
from contextkit.config.settings import Config
from contextkit.errors import DuplicateSourceError, InvalidContextTypeError, PluginError
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.status import PluginStatus
from tests.making import make_plugin, make_registry

if TYPE_CHECKING:
    from tests.conftest import Site

REQUEST = ContextRequest(query="when is high water?")

WORKING = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    return [ContextItem("{name}", "high water at noon", 0.9)]
"""


def status(registry: SourceRegistry, name: str) -> PluginStatus:
    """What the registry knows of one plugin."""
    return next(status for status in registry.plugins if status.name == name)


def off(label: str = "/w/contextkit.toml", line: int | None = 3, **sources: bool) -> Config:
    """A configuration whose file switches sources on or off."""
    return Config(
        sources={name: SourceSettings(enabled=on) for name, on in sources.items()},
        origins={f"sources.{name}.enabled": Origin("project", label, line) for name in sources},
    )


# -- entry points of installed distributions ------------------------------------------------


def test_an_installed_source_is_on(site: Site) -> None:
    """It is found by its entry point, and known by its distribution."""
    site.install("tide-tables", "tide", WORKING.format(name="tide"))
    registry = SourceRegistry()
    assert status(registry, "tide") == PluginStatus(
        name="tide", state="on", distribution="tide-tables", version="1.2", is_source=True
    )
    assert "tide" in registry.sources
    (item,) = registry.call("tide", "contextkit_query", request=REQUEST)
    assert item.content == "high water at noon"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise RuntimeError('no\\n  water')", "RuntimeError: no water"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import no_such_module_here", "ModuleNotFoundError: No module named"),
        ("class Panic(BaseException): pass\nraise Panic()", "Panic"),
        ("def f(:", "SyntaxError: invalid syntax"),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_qeury(request): ...",
            "there is no hook 'contextkit_qeury'; did you mean 'contextkit_query'?",
        ),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_zzzzzz(): ...",
            "there is no hook 'contextkit_zzzzzz'",
        ),
        (
            "def contextkit_query(request): ...",
            "'contextkit_query' lacks the @hookimpl decorator",
        ),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_query(query): ...",
            "Plugin 'broken' for hook 'contextkit_query'",
        ),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef query(request): ...",
            "unknown hook 'query' in plugin",
        ),
        (
            "from contextkit import hookimpl\n"
            "@hookimpl(specname='contextkit_query')\ndef find(request): ...",
            "'find' must be named like its hook, without specname",
        ),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_source(): return 3",
            "source 'broken' failed in contextkit_source: expected a SourceInfo, got an int",
        ),
        (
            "from contextkit import hookimpl\n@hookimpl\ndef contextkit_source(): exit(1)",
            "source 'broken' failed in contextkit_source: SystemExit: 1",
        ),
    ],
)
def test_a_broken_plugin_costs_only_itself(site: Site, code: str, reason: str) -> None:
    """It is listed with the reason and logged; the others work."""
    site.install("broken-thing", "broken", code)
    site.install("tide-tables", "tide", WORKING.format(name="tide"))
    with capture_logs() as logs:
        registry = SourceRegistry()
    broken = status(registry, "broken")
    assert (broken.state, broken.distribution, broken.version) == ("broken", "broken-thing", "1.2")
    assert broken.reason is not None
    assert broken.reason.startswith(reason)
    assert [entry for entry in logs if entry["event"] == "plugin_broken"] == [
        {
            "event": "plugin_broken",
            "log_level": "warning",
            "plugin": "broken",
            "distribution": "broken-thing",
            "reason": broken.reason,
        }
    ]
    assert "broken" not in registry.sources
    assert registry.call("tide", "contextkit_query", request=REQUEST)
    assert registry.call("broken", "contextkit_query", request=REQUEST) is None


def test_an_interrupt_while_importing_stops_everything(site: Site) -> None:
    """Control-C is for the program, not for the plugin."""
    site.install("slow-thing", "slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        SourceRegistry()


def test_a_broken_plugin_cannot_be_switched_on(site: Site) -> None:
    """The errors name the distribution and the reason."""
    site.install("broken-thing", "broken", "raise RuntimeError('rust')")
    registry = SourceRegistry()
    reason = "source 'broken' of broken-thing is broken: RuntimeError: rust"
    with pytest.raises(PluginError, match=reason):
        registry.enable("broken")
    with pytest.raises(InvalidContextTypeError, match=reason):
        registry.require("broken")
    registry.disable("broken")
    assert status(registry, "broken").state == "broken"


def test_a_source_that_is_off_is_imported_for_a_request_that_names_it(site: Site) -> None:
    """Not before; it is listed with the setting that switched it off, and stays off."""
    module = site.install("tide-tables", "tide", WORKING.format(name="tide"))
    registry = SourceRegistry(off(tide=False))
    listed = PluginStatus(
        name="tide",
        state="off",
        reason="off by /w/contextkit.toml:3",
        distribution="tide-tables",
        version="1.2",
    )
    assert module not in sys.modules
    assert status(registry, "tide") == listed
    registry.require("tide")
    assert module in sys.modules
    assert registry.call("tide", "contextkit_query", request=REQUEST)
    assert status(registry, "tide") == attrs.evolve(listed, is_source=True)
    assert "tide" not in registry.sources


def test_enabling_imports_what_was_off(site: Site) -> None:
    """At run time a source is switched on and off at will."""
    module = site.install("tide-tables", "tide", WORKING.format(name="tide"))
    registry = SourceRegistry(off(tide=False))
    registry.enable("tide")
    assert module in sys.modules
    assert "tide" in registry.sources
    registry.disable("tide", "too wet")
    assert "tide" not in registry.sources
    assert status(registry, "tide").reason == "too wet"
    registry.enable("tide")
    assert "tide" in registry.sources
    assert status(registry, "tide").reason is None


def test_two_distributions_of_one_name(site: Site) -> None:
    """Neither is picked in silence: the error names both and says how to go on."""
    site.install("tide-tables", "tide", WORKING.format(name="tide"))
    module = site.install("another-tide", "tide", WORKING.format(name="tide"))
    with pytest.raises(DuplicateSourceError) as caught:
        SourceRegistry()
    assert caught.value.distributions == ["another-tide", "tide-tables"]
    assert "provided by another-tide and by tide-tables" in str(caught.value)
    assert "[sources.tide] enabled = false" in str(caught.value)
    assert module not in sys.modules


def test_a_contested_name_that_is_off_stays_off(site: Site) -> None:
    """Switched off it is no trouble; switching it on or naming it is the error again."""
    site.install("tide-tables", "tide", WORKING.format(name="tide"))
    site.install("another-tide", "tide", WORKING.format(name="tide"))
    registry = SourceRegistry(off(tide=False))
    assert status(registry, "tide").state == "off"
    with pytest.raises(DuplicateSourceError, match="another-tide and by tide-tables"):
        registry.enable("tide")
    with pytest.raises(InvalidContextTypeError, match="another-tide and by tide-tables"):
        registry.require("tide")


def test_two_spellings_are_one_name(site: Site) -> None:
    """Settings could not tell `tide-log` from `tide_log`: the error says who spells it how."""
    site.install("tide-tables", "tide-log", WORKING.format(name="tide-log"))
    with pytest.raises(DuplicateSourceError, match=r"\(as 'tide-log'\) and by the host process"):
        SourceRegistry().register(make_plugin([]), "tide_log")
    site.install("another-tide", "tide_log", WORKING.format(name="tide_log"))
    with pytest.raises(DuplicateSourceError) as caught:
        SourceRegistry()
    assert caught.value.distributions == ["another-tide (as 'tide_log')", "tide-tables"]
    switched = Config(sources={"tide-log": SourceSettings(enabled=False)})
    registry = SourceRegistry(switched)
    assert [status(registry, name).state for name in ("tide-log", "tide_log")] == ["off", "off"]


@pytest.mark.parametrize("attribute", ["", "Tide", "tide"])
def test_a_plugin_is_a_module_a_class_or_an_object(site: Site, attribute: str) -> None:
    """A class is made an object of; attrs classes with `eq=False` are fine."""
    code = """
        import attrs
        from contextkit import ContextItem, hookimpl

        @attrs.define(eq=False)
        class Tide:
            when: str = "noon"

            @hookimpl
            def contextkit_query(self, request):
                return [ContextItem("tide", f"high water at {self.when}", 0.9)]

        tide = Tide("dusk")
        """
    if not attribute:
        code = WORKING.format(name="tide")
    site.install("tide-tables", "tide", code, attribute)
    (item,) = SourceRegistry().call("tide", "contextkit_query", request=REQUEST)
    assert item.content == f"high water at {'dusk' if attribute == 'tide' else 'noon'}"


# -- a host's own plugins -------------------------------------------------------------------


def test_a_host_registers_its_own(site: Site) -> None:
    """It is on at once, known as the host's, and without entry points the only one."""
    site.install("moon-tables", "moon", WORKING.format(name="moon"))
    registry = make_registry({"tide": make_plugin([])})
    assert registry.plugins == [PluginStatus(name="tide", state="on", is_source=True)]
    assert registry.plugins[0].distribution == "the host process"


def test_a_hosts_source_can_be_configured_off() -> None:
    """The user's settings hold for it too."""
    registry = SourceRegistry(off(tide=False), entry_points=False)
    registry.register(make_plugin([]), "tide")
    assert registry.sources == []
    assert status(registry, "tide").reason == "off by /w/contextkit.toml:3"
    registry.enable("tide")
    assert registry.sources == ["tide"]


def test_a_name_is_taken_once(site: Site) -> None:
    """A host's plugin does not replace another of that name."""
    site.install("tide-tables", "tide", WORKING.format(name="tide"))
    with pytest.raises(DuplicateSourceError, match="by tide-tables and by the host process"):
        SourceRegistry().register(make_plugin([]), "tide")
    registry = make_registry({"tide": make_plugin([])})
    with pytest.raises(DuplicateSourceError, match="by the host process and by the host process"):
        registry.register(make_plugin([]), "tide")


@pytest.mark.parametrize("name", ["", "Tide", "9tide", "ti de", "tide!", "-tide"])
def test_a_name_must_be_a_sources(name: str) -> None:
    """Names are what settings and variables can spell."""
    with pytest.raises(PluginError, match="is not a source's name: lower-case letters"):
        make_registry({name: make_plugin([])})


def test_a_plugin_has_one_name() -> None:
    """The same object is not two sources."""
    plugin = make_plugin([])
    with pytest.raises(PluginError, match="already registered under a different name"):
        make_registry({"a": plugin, "b": plugin})


def test_an_unhashable_plugin_is_refused() -> None:
    """Pluggy keeps plugins in sets: it would break the calls of every other source."""

    @attrs.define
    class Tide:
        @hookimpl
        def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
            return []

    with pytest.raises(PluginError, match="unhashable type: 'Tide'"):
        make_registry({"tide": Tide()})


def test_a_refused_plugin_leaves_nothing_behind() -> None:
    """Its other hooks are gone with it, and the name is free."""
    registry = make_registry({"tide": make_plugin([])})
    wrong = make_plugin([], contextkit_weight=lambda weather: 2.0)
    with pytest.raises(PluginError, match="contextkit_weight"):
        registry.register(wrong, "moon")
    assert not registry.implements("moon", "contextkit_query")
    registry.register(make_plugin([]), "moon")
    assert registry.sources == ["moon", "tide"]


def test_a_plugin_whose_attribute_raises() -> None:
    """Looking at a plugin runs its properties; what they raise is that plugin's."""

    class Tide:
        @property
        def depth(self) -> float:
            raise ZeroDivisionError("no ground")

    with pytest.raises(PluginError, match="ZeroDivisionError: no ground"):
        make_registry({"tide": Tide})


# -- names that are no sources --------------------------------------------------------------


def test_an_unknown_source_names_the_nearest() -> None:
    """Whatever is done with the name."""
    registry = make_registry({"tide": make_plugin([]), "moon": make_plugin([])})
    for asked in (registry.require, registry.enable, registry.disable):
        with pytest.raises(InvalidContextTypeError) as caught:
            asked("tides")
        assert str(caught.value) == (
            "Invalid source 'tides'. Valid sources: moon, tide. Did you mean 'tide'?"
        )
        assert (caught.value.invalid_type, caught.value.valid_types) == ("tides", ["moon", "tide"])


def test_a_plugin_without_query_is_no_source() -> None:
    """It is on, it is listed, and it cannot be asked."""
    registry = make_registry({"helper": make_plugin(contextkit_recipes=None)})
    assert (status(registry, "helper").state, registry.sources) == ("on", [])
    with pytest.raises(InvalidContextTypeError, match=r"'helper' \(not a source\)"):
        registry.require("helper")


# -- commands -------------------------------------------------------------------------------


def test_commands_come_from_the_plugins_that_are_on() -> None:
    """A plugin whose commands fail costs those commands."""
    cli = PluginCommands()

    def adding(name: str) -> Callable[[click.Group], None]:
        return lambda cli: cli.add_command(click.Command(name))

    registry = make_registry(
        {
            "a": make_plugin(contextkit_commands=adding("ebb")),
            "b": make_plugin(contextkit_commands=lambda cli: 1 / 0),
            "c": make_plugin(contextkit_commands=adding("flood")),
            "d": make_plugin(contextkit_commands=adding("storm")),
        }
    )
    registry.disable("d")
    with capture_logs() as logs:
        cli.add_all(registry)
    assert sorted(cli.commands) == ["ebb", "flood"]
    assert [(e["source"], e["hook"]) for e in logs] == [("b", "contextkit_commands")]


def test_the_manager_is_the_registrys_own() -> None:
    """Nothing is shared between two registries."""
    first, second = make_registry(), make_registry()
    assert isinstance(first._manager, pluggy.PluginManager)
    assert first._manager is not second._manager
