"""The registry: what is installed, what is on, and how a plugin's hooks are called."""

from __future__ import annotations

import itertools
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import click
import pluggy
import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, ContextRequest, SourceInfo, hookimpl
from contextkit.config import Config, Origin, SourceSettings
from contextkit.errors import (
    ConfigError,
    DuplicateSourceError,
    InvalidContextTypeError,
    PluginError,
    SourceError,
    StoreBusyError,
)
from contextkit.plugin_status import PluginStatus
from contextkit.registry import SourceRegistry
from contextkit.testing import write_distribution

MakePlugin = Callable[..., ModuleType]
MakeRegistry = Callable[..., SourceRegistry]
REQUEST = ContextRequest(query="when is high water?")

WORKING = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    return [ContextItem("{name}", "high water at noon", 0.9)]
"""


class Site:
    """A folder on `sys.path` with distributions that were really installed there."""

    _modules = itertools.count()

    def __init__(self, folder: Path) -> None:
        """An empty one."""
        self.folder = folder

    def install(self, distribution: str, name: str, code: str, attribute: str = "") -> str:
        """Install a distribution with one entry point; return its module's name."""
        module = f"contextkit_test_{next(self._modules)}"
        (self.folder / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        target = f"{module}:{attribute}" if attribute else module
        write_distribution(self.folder, distribution, {name: target}, version="1.2")
        return module


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Where a test installs its distributions."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return Site(folder)


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


def test_a_source_that_was_off_may_turn_out_to_be_broken(site: Site) -> None:
    """Whoever names it is told why; it is listed as broken from then on."""
    site.install("broken-thing", "broken", "raise RuntimeError('rust')")
    registry = SourceRegistry(off(broken=False))
    with pytest.raises(InvalidContextTypeError, match="broken: RuntimeError: rust"):
        registry.require("broken")
    assert status(registry, "broken").state == "broken"


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


def test_a_source_that_is_off_is_never_imported(site: Site) -> None:
    """It is listed with the setting that switched it off, and is not in `sys.modules`."""
    module = site.install("tide-tables", "tide", WORKING.format(name="tide"))
    registry = SourceRegistry(off(tide=False))
    assert module not in sys.modules
    assert status(registry, "tide") == PluginStatus(
        name="tide",
        state="off",
        reason="off by /w/contextkit.toml:3",
        distribution="tide-tables",
        version="1.2",
    )
    assert "tide" not in registry.sources


def test_a_request_that_names_it_makes_it_ready_and_leaves_it_off(site: Site) -> None:
    """The request beats the setting for itself; the next one does not meet the source."""
    module = site.install("tide-tables", "tide", WORKING.format(name="tide"))
    registry = SourceRegistry(off(tide=False))
    registry.require("tide")
    assert module in sys.modules
    assert registry.call("tide", "contextkit_query", request=REQUEST)
    assert "tide" not in registry.sources
    assert status(registry, "tide") == PluginStatus(
        name="tide",
        state="off",
        reason="off by /w/contextkit.toml:3",
        distribution="tide-tables",
        version="1.2",
        is_source=True,
    )


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


def test_without_entry_points_nothing_installed_is_there(site: Site) -> None:
    """A host that wants only its own sources gets only those."""
    site.install("tide-tables", "tide", WORKING.format(name="tide"))
    assert SourceRegistry(entry_points=False).plugins == []


# -- a host's own plugins -------------------------------------------------------------------


def test_a_host_registers_its_own(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
    """It is on at once, and known as the host's."""
    registry = make_registry({"tide": make_plugin([])})
    assert registry.plugins == [PluginStatus(name="tide", state="on", is_source=True)]
    assert registry.plugins[0].distribution == "the host process"


def test_a_hosts_source_can_be_configured_off(make_plugin: MakePlugin) -> None:
    """The user's settings hold for it too."""
    registry = SourceRegistry(off(tide=False), entry_points=False)
    registry.register(make_plugin([]), "tide")
    assert registry.sources == []
    assert status(registry, "tide").reason == "off by /w/contextkit.toml:3"
    registry.enable("tide")
    assert registry.sources == ["tide"]


def test_a_name_is_taken_once(
    site: Site, make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """A host's plugin does not replace another of that name."""
    site.install("tide-tables", "tide", WORKING.format(name="tide"))
    with pytest.raises(DuplicateSourceError, match="by tide-tables and by the host process"):
        SourceRegistry().register(make_plugin([]), "tide")
    registry = make_registry({"tide": make_plugin([])})
    with pytest.raises(DuplicateSourceError, match="by the host process and by the host process"):
        registry.register(make_plugin([]), "tide")


@pytest.mark.parametrize("name", ["", "Tide", "9tide", "ti de", "tide!", "-tide"])
def test_a_name_must_be_a_sources(
    make_registry: MakeRegistry, make_plugin: MakePlugin, name: str
) -> None:
    """Names are what settings and variables can spell."""
    with pytest.raises(PluginError, match="is not a source's name: lower-case letters"):
        make_registry({name: make_plugin([])})


def test_a_plugin_has_one_name(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
    """The same object is not two sources."""
    plugin = make_plugin([])
    with pytest.raises(PluginError, match="already registered under a different name"):
        make_registry({"a": plugin, "b": plugin})


def test_an_unhashable_plugin_is_refused(make_registry: MakeRegistry) -> None:
    """Pluggy keeps plugins in sets: it would break the calls of every other source."""

    @attrs.define
    class Tide:
        @hookimpl
        def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
            return []

    with pytest.raises(PluginError, match="unhashable type: 'Tide'"):
        make_registry({"tide": Tide()})


def test_a_refused_plugin_leaves_nothing_behind(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """Its other hooks are gone with it, and the name is free."""
    registry = make_registry({"tide": make_plugin([])})
    wrong = make_plugin([], contextkit_weight=lambda weather: 2.0)
    with pytest.raises(PluginError, match="contextkit_weight"):
        registry.register(wrong, "moon")
    assert not registry.implements("moon", "contextkit_query")
    registry.register(make_plugin([]), "moon")
    assert registry.sources == ["moon", "tide"]


def test_a_plugin_whose_attribute_raises(make_registry: MakeRegistry) -> None:
    """Looking at a plugin runs its properties; what they raise is that plugin's."""

    class Tide:
        @property
        def depth(self) -> float:
            raise ZeroDivisionError("no ground")

    with pytest.raises(PluginError, match="ZeroDivisionError: no ground"):
        make_registry({"tide": Tide})


# -- names that are no sources --------------------------------------------------------------


def test_an_unknown_source_names_the_nearest(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """Whatever is done with the name."""
    registry = make_registry({"tide": make_plugin([]), "moon": make_plugin([])})
    for asked in (registry.require, registry.enable, registry.disable):
        with pytest.raises(InvalidContextTypeError) as caught:
            asked("tides")
        assert str(caught.value) == (
            "Invalid context type 'tides'. Valid types: moon, tide. Did you mean 'tide'?"
        )
        assert (caught.value.invalid_type, caught.value.valid_types) == ("tides", ["moon", "tide"])


def test_a_plugin_without_query_is_no_source(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """It is on, it is listed, and it cannot be asked."""
    registry = make_registry({"helper": make_plugin(contextkit_recipes=None)})
    assert (status(registry, "helper").state, registry.sources) == ("on", [])
    with pytest.raises(InvalidContextTypeError, match=r"'helper' \(not a source\)"):
        registry.require("helper")


# -- what a source says of itself -----------------------------------------------------------


def test_sources_stand_in_the_order_of_their_priorities(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """Highest first, then by name; the configured priority beats the source's."""
    low, high = (make_plugin([], contextkit_source=SourceInfo(priority=10)) for _ in range(2))
    registry = make_registry(
        {"b": make_plugin([]), "a": make_plugin([]), "low": low, "high": high},
        {"high": SourceSettings(priority=90)},
    )
    assert registry.sources == ["high", "a", "b", "low"]


def test_a_source_has_a_title(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
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
        (SourceInfo(reads="code"), "SourceInfo: reads is a str"),  # type: ignore[arg-type]
        (SourceInfo(count_filters=None), "SourceInfo: count_filters is None"),  # type: ignore[arg-type]
    ],
)
def test_what_a_source_says_of_itself_is_checked(
    make_registry: MakeRegistry, make_plugin: MakePlugin, info: SourceInfo, reason: str
) -> None:
    """A wrong type is found when the plugin is loaded, not when its context is rendered."""
    with pytest.raises(SourceError) as caught:
        make_registry({"tide": make_plugin([], contextkit_source=info)})
    assert (caught.value.source, caught.value.hook) == ("tide", "contextkit_source")
    assert caught.value.reason == reason


# -- a source's own settings ----------------------------------------------------------------


def checking(settings: Mapping[str, Any]) -> list[str]:
    """Takes a setting `harbour`, and nothing else."""
    return [f"{key}: not a setting of tide" for key in settings if key != "harbour"]


def test_own_settings_are_checked_with_file_and_line(make_plugin: MakePlugin) -> None:
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


def test_good_settings_pass(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
    """Nothing to say is `None` or an empty list; without settings the hook is not called."""
    settings = {"tide": SourceSettings(own={"harbour": "Kiel"})}
    silent = make_plugin([], contextkit_check_settings=lambda settings: None)
    make_registry({"tide": make_plugin([], contextkit_check_settings=checking)}, settings)
    make_registry({"tide": silent}, settings)

    def never(settings: Mapping[str, Any]) -> list[str]:
        raise AssertionError("called without settings")

    make_registry({"tide": make_plugin([], contextkit_check_settings=never)})


def test_a_problem_that_names_no_setting(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """It is told as it is."""
    plugin = make_plugin([], contextkit_check_settings=lambda settings: ["it is all wrong"])
    with pytest.raises(ConfigError, match=r"^sources\.tide: it is all wrong$"):
        make_registry({"tide": plugin}, {"tide": SourceSettings(own={"x": 1})})


@pytest.mark.parametrize("result", ["x: wrong", 3, [3]])
def test_problems_are_checked(
    make_registry: MakeRegistry, make_plugin: MakePlugin, result: object
) -> None:
    """What is no list of texts is the plugin's error."""
    plugin = make_plugin([], contextkit_check_settings=lambda settings: result)
    with pytest.raises(SourceError, match="contextkit_check_settings"):
        make_registry({"tide": plugin}, {"tide": SourceSettings(own={"x": 1})})


# -- calling --------------------------------------------------------------------------------


def test_a_call_reaches_one_source(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
    """Never another's hook, whichever was registered last, and `None` without a hook."""
    registry = make_registry(
        {
            "a": make_plugin([], contextkit_weight=lambda request: 2.0),
            "b": make_plugin([], contextkit_weight=lambda request: 3.0),
            "silent": make_plugin([]),
            "z": make_plugin([], contextkit_weight=lambda request: 4.0),
        }
    )
    weights = {
        name: registry.call(name, "contextkit_weight", request=REQUEST) for name in registry.sources
    }
    assert weights == {"a": 2.0, "b": 3.0, "silent": None, "z": 4.0}


def test_a_plugin_that_is_no_source_answers_for_no_source(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """What a helper says of itself is not taken for what a source says."""
    helper = make_plugin(
        contextkit_source=SourceInfo(title="Helper"),
        contextkit_weight=lambda request: 9.0,
        contextkit_index=lambda indexer: None,
    )
    registry = make_registry({"a": make_plugin([]), "helper": helper, "z": make_plugin([])})
    assert registry.info("z").title == "Z"
    assert [registry.weight(name, REQUEST) for name in ("a", "z")] == [1.0, 1.0]
    assert registry.info("helper").title == "Helper"
    assert not registry.implements("a", "contextkit_index")


def watched(registry: SourceRegistry) -> tuple[list[tuple[str, list[str]]], Callable[[], None]]:
    """Every hook call from now on: hook, and the plugins that it reached; and an end to it."""
    seen: list[tuple[str, list[str]]] = []

    def before(name: str, impls: Any, kwargs: Any) -> None:
        seen.append((name, [impl.plugin_name for impl in impls]))

    return seen, registry._manager.add_hookcall_monitoring(before, lambda *_: None)


def test_a_hook_is_called_once_and_reaches_its_source_alone(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """A call with many items is one call of one plugin."""
    plugins = {
        name: make_plugin([], contextkit_format=lambda items, style: [style for _ in items])
        for name in ("a", "b", "c")
    }
    registry = make_registry(plugins)
    seen, undo = watched(registry)
    items = [ContextItem("b", f"text {number}", 0.5) for number in range(50)]
    found = registry.call("b", "contextkit_format", items=items, style="xml", detail="full")
    assert found == ["xml"] * 50
    undo()
    assert seen == [("contextkit_format", ["b"])]


def test_callers_are_made_once(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
    """And anew when a plugin joins."""
    registry = make_registry({"a": make_plugin([]), "b": make_plugin([])})
    caller = registry.caller("a", "contextkit_query")
    assert registry.caller("a", "contextkit_query") is caller
    registry.register(make_plugin([]), "c")
    assert registry.caller("a", "contextkit_query") is not caller


@pytest.mark.parametrize("old_style", [True, False])
def test_a_plugin_that_is_no_source_wraps_every_sources_hooks(
    make_registry: MakeRegistry, make_plugin: MakePlugin, old_style: bool
) -> None:
    """A redaction sees each source's texts and changes them, until it is switched off."""
    seen = []

    def old(items: list[ContextItem], style: str) -> Any:
        outcome = yield
        seen.append(items[0].source)
        outcome.force_result([text.replace("secret", "*") for text in outcome.get_result()])

    def new(items: list[ContextItem], style: str) -> Any:
        texts = yield
        seen.append(items[0].source)
        return [text.replace("secret", "*") for text in texts]

    wrapper = hookimpl(hookwrapper=True)(old) if old_style else hookimpl(wrapper=True)(new)

    def shown(items: list[ContextItem], style: str) -> list[str]:
        return [f"{item.source} secret" for item in items]

    sources = {name: make_plugin([], contextkit_format=shown) for name in ("a", "b")}
    registry = make_registry({**sources, "redaction": make_plugin(contextkit_format=wrapper)})

    def texts(name: str) -> Any:
        items = [ContextItem(name, "x", 0.5)]
        return registry.call(name, "contextkit_format", items=items, style="plain", detail="full")

    assert [texts(name) for name in ("a", "b")] == [["a *"], ["b *"]]
    assert seen == ["a", "b"]
    registry.disable("redaction")
    assert texts("a") == ["a secret"]
    registry.enable("redaction")
    assert texts("a") == ["a *"]


def test_wrapping_the_query_does_not_make_a_source(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """A tracer wraps the query of others and is asked for nothing itself."""
    seen = []

    @hookimpl(wrapper=True)
    def contextkit_query(request: ContextRequest) -> Any:
        seen.append(request.query)
        return (yield)

    registry = make_registry(
        {"tide": make_plugin([]), "tracer": make_plugin(contextkit_query=contextkit_query)}
    )
    assert registry.sources == ["tide"]
    assert registry.call("tide", "contextkit_query", request=REQUEST) == []
    assert seen == [REQUEST.query]


def test_a_source_that_wraps_is_kept_out_of_the_others_calls(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """A source has no say in another's results."""

    @hookimpl(wrapper=True)
    def contextkit_weight(request: ContextRequest) -> Any:
        yield
        return 99.0

    registry = make_registry(
        {
            "greedy": make_plugin([], contextkit_weight=contextkit_weight),
            "tide": make_plugin([], contextkit_weight=lambda request: 2.0),
        }
    )
    assert registry.weight("tide", REQUEST) == 2.0


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("low\n water"), "ValueError: low water"),
        (ValueError(), "ValueError"),
        (SystemExit(2), "SystemExit: 2"),
        (ConfigError("no harbour", key="x"), "x: no harbour"),
    ],
)
def test_what_a_hook_raises_names_source_and_hook(
    make_registry: MakeRegistry, make_plugin: MakePlugin, error: BaseException, reason: str
) -> None:
    """Whatever it is, it becomes a `SourceError` from that cause."""

    def contextkit_weight(request: ContextRequest) -> float:
        raise error

    registry = make_registry({"tide": make_plugin([], contextkit_weight=contextkit_weight)})
    with pytest.raises(SourceError) as caught:
        registry.call("tide", "contextkit_weight", request=REQUEST)
    assert str(caught.value) == f"source 'tide' failed in contextkit_weight: {reason}"
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [StoreBusyError("held"), SourceError("x", "y", "z")])
def test_errors_that_say_enough_are_passed_on(
    make_registry: MakeRegistry, make_plugin: MakePlugin, error: Exception
) -> None:
    """The store's trouble is the store's."""

    def contextkit_index(indexer: Any) -> None:
        raise error

    registry = make_registry({"tide": make_plugin([], contextkit_index=contextkit_index)})
    with pytest.raises(type(error)) as caught:
        registry.call("tide", "contextkit_index", indexer=None)
    assert caught.value is error


def test_an_interrupt_in_a_hook_is_passed_on(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """Control-C is for the program."""

    def contextkit_index(indexer: Any) -> None:
        raise KeyboardInterrupt

    registry = make_registry({"tide": make_plugin([], contextkit_index=contextkit_index)})
    with pytest.raises(KeyboardInterrupt):
        registry.call("tide", "contextkit_index", indexer=None)


def test_only_the_query_may_be_async(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
    """An `async def` elsewhere is an error that says so."""

    async def contextkit_format(items: list[ContextItem], style: str) -> list[str]:
        return ["x"]

    registry = make_registry({"tide": make_plugin([], contextkit_format=contextkit_format)})
    with pytest.raises(SourceError, match="only contextkit_query may be async"):
        registry.call("tide", "contextkit_format", items=[], style="xml", detail="full")


def test_an_attempt_that_fails_gives_nothing_and_says_why(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """A hook with a default costs the default; the failure is logged, or told to the caller."""
    registry = make_registry({"tide": make_plugin([], contextkit_index=lambda indexer: 1 / 0)})
    told: list[tuple[str, str, str]] = []

    def attempt(**options: Any) -> Any:
        return registry.attempt("tide", "contextkit_index", str, **options, indexer=None)

    with capture_logs() as logs:
        assert attempt() is None
    assert [(e["event"], e["source"], e["hook"]) for e in logs] == [
        ("hook_failed", "tide", "contextkit_index")
    ]
    assert attempt(failed=lambda *failure: told.append(failure)) is None
    assert told == [("tide", "contextkit_index", "ZeroDivisionError: division by zero")]


# -- weights --------------------------------------------------------------------------------


def test_a_weight_comes_from_the_request_the_settings_the_source_or_is_one(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """In this order."""
    weighty = {name: make_plugin([], contextkit_weight=lambda request: 2) for name in "abc"}
    registry = make_registry(
        {**weighty, "d": make_plugin([])},
        {"a": SourceSettings(weight=3.0), "b": SourceSettings(weight=3.0)},
    )
    request = attrs.evolve(REQUEST, weights={"a": 4.0})
    assert [registry.weight(name, request) for name in "abcd"] == [4.0, 3.0, 2, 1.0]


@pytest.mark.parametrize(
    "weight", [0, -1, float("nan"), float("inf"), True, "2", None, [1], 1j, ZeroDivisionError]
)
def test_a_wrong_weight_costs_the_weight_alone(
    make_registry: MakeRegistry, make_plugin: MakePlugin, weight: Any
) -> None:
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


def test_a_huge_weight_is_a_weight(make_registry: MakeRegistry, make_plugin: MakePlugin) -> None:
    """An integer too large for a float is no reason to fail."""
    plugin = make_plugin([], contextkit_weight=lambda request: 10**400)
    assert make_registry({"tide": plugin}).weight("tide", REQUEST) == 10**400


# -- commands -------------------------------------------------------------------------------


def test_commands_come_from_the_plugins_that_are_on(
    make_registry: MakeRegistry, make_plugin: MakePlugin
) -> None:
    """A plugin whose commands fail costs those commands."""
    cli = click.Group()

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
        registry.add_commands(cli)
    assert sorted(cli.commands) == ["ebb", "flood"]
    assert [(e["source"], e["hook"]) for e in logs] == [("b", "contextkit_commands")]


def test_the_manager_is_the_registrys_own(make_registry: MakeRegistry) -> None:
    """Nothing is shared between two registries."""
    first, second = make_registry(), make_registry()
    assert isinstance(first._manager, pluggy.PluginManager)
    assert first._manager is not second._manager
