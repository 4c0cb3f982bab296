"""A workspace's file, which may be a stranger's, narrows what the user set and never widens it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import fields
from hypothesis import given, strategies as st

from contextkit import ContextItem, ContextKit, SourceInfo
from contextkit.config.join import allowed_value
from contextkit.config.sections import SECTIONS, SourceSettings
from contextkit.config.settings import Config
from contextkit.errors import ConfigError
from contextkit.models.source import WORKSPACE_RULES, Setting
from contextkit.plugin.manager import SourceRegistry
from tests.config.conftest import Load
from tests.making import make_plugin


def value(config: Config, key: str) -> Any:
    """A setting of the core, by its dotted key."""
    return {name: found for name, found, _ in config.described()}[key]


def test_every_setting_declares_its_rule() -> None:
    """A setting that is added later cannot forget to say what a stranger's file may do to it."""
    settings = [a for kind in (*SECTIONS.values(), SourceSettings) for a in fields(kind)]
    undeclared = [a.name for a in settings if a.metadata.get("rule") not in WORKSPACE_RULES]
    assert undeclared == ["own"]


WIDENED = [
    ("sources.code.enabled", "false", "true", False),
    ("hooks.enabled", "false", "true", False),
    ("hooks.resident", "false", "true", False),
    ("history.enabled", "false", "true", False),
    ("assemble.compress", "false", "true", False),
    ("assemble.guard", "true", "false", True),
    ("assemble.deadline", "1", "60", 1.0),
    ("assemble.source_timeout", "0.2", "inf", 0.2),
    ("assemble.max_items", "50", "5000", 50),
    ("hooks.timeout", "2", "30", 2.0),
    ("hooks.max_tokens", "500", "9000", 500),
    ("sources.code.timeout", "1", "60", 1.0),
    ("assemble.sources", "['code']", "['memories']", ()),
    ("hooks.sources", "['a', 'my_own']", "['my-own', 'b']", ("my-own",)),
    ("hooks.start_sources", "['a']", "['a', 'b']", ("a",)),
    ("assemble.exclude_sources", "['a']", "[]", ("a",)),
]
NARROWED = [
    ("sources.code.enabled", "true", "false", False),
    ("hooks.enabled", "true", "false", False),
    ("assemble.guard", "false", "true", True),
    ("assemble.deadline", "60", "1", 1.0),
    ("hooks.max_tokens", "9000", "500", 500),
    ("hooks.sources", "['a', 'b']", "['b']", ("b",)),
]
FREE = [
    ("assemble.max_tokens", "100", "9000", 9000),
    ("assemble.style", "'xml'", "'plain'", "plain"),
    ("assemble.strategy", "'recent'", "'matching'", "matching"),
    ("sources.code.weight", "1", "9", 9.0),
    ("ranking.recency", "0", "1", 1.0),
]


def _lines(key: str, text: str) -> str:
    section, _, name = key.rpartition(".")
    return f"[{section}]\n{name} = {text}\n"


@pytest.mark.parametrize(("key", "users", "workspaces", "counts"), WIDENED)
def test_what_the_user_set_is_not_widened(
    load: Load, key: str, users: str, workspaces: str, counts: Any
) -> None:
    """The user's choice stands, and the configuration tells what was overruled and where."""
    config = load(_lines(key, users), _lines(key, workspaces))
    assert value(config, key) == counts
    overruled = config.overruled[key]
    assert (Path(overruled.origin.label).name, overruled.origin.line) == ("contextkit.toml", 2)
    assert (Path(overruled.users.label).name, overruled.users.line) == ("config.toml", 2)


@pytest.mark.parametrize(("key", "users", "workspaces", "counts"), [*NARROWED, *FREE])
def test_a_workspace_narrows_and_chooses_freely_what_widens_nothing(
    load: Load, key: str, users: str, workspaces: str, counts: Any
) -> None:
    """Switching off, lower limits, budgets, weights, strategies and style count as they stand."""
    config = load(_lines(key, users), _lines(key, workspaces))
    assert value(config, key) == counts
    assert not config.overruled


@pytest.mark.parametrize(("key", "workspaces", "counts"), [(k, w, c) for k, _, w, c in NARROWED])
def test_where_the_user_set_nothing_the_workspace_decides(
    load: Load, key: str, workspaces: str, counts: Any
) -> None:
    """A default is not the user's choice."""
    assert value(load("", _lines(key, workspaces)), key) == counts
    assert load("", "[sources.tide]\nenabled = true\n").source("tide").enabled


@pytest.mark.parametrize("key", ["assemble.sources", "hooks.sources", "hooks.start_sources"])
@pytest.mark.parametrize("off_in", ["user", "environment", "flag"])
def test_a_workspace_names_no_source_that_the_user_switched_off(
    load: Load, key: str, off_in: str
) -> None:
    """To name a source in a list would be another way to switch it on."""
    config = load(
        "[sources.my_own]\nenabled = false\n" if off_in == "user" else "",
        _lines(key, "['my-own', 'b']"),
        environment={"CONTEXTKIT_SOURCES_MY_OWN_ENABLED": "no"} if off_in == "environment" else {},
        flags={"sources.my-own.enabled": False} if off_in == "flag" else {},
    )
    assert value(config, key) == ("b",)
    assert config.overruled[key].value == ["my-own", "b"]


def test_the_environment_and_flags_beat_both_files(load: Load) -> None:
    """They are the user's own act, whatever the files say to each other."""
    files = ("[hooks]\nenabled = false\n", "[hooks]\nenabled = true\n")
    assert not load(*files).hooks.enabled
    for layer in (
        {"environment": {"CONTEXTKIT_HOOKS_ENABLED": "yes"}},
        {"flags": {"hooks.enabled": True}},
    ):
        config = load(*files, **layer)
        assert (config.hooks.enabled, config.overruled) == (True, {})


def test_a_wrong_value_of_a_workspace_is_still_refused(load: Load) -> None:
    """A rule decides between values, it does not hide a mistake."""
    with pytest.raises(
        ConfigError, match=r"contextkit\.toml:2: hooks\.timeout: expected a number of"
    ):
        load("[hooks]\ntimeout = 2\n", "[hooks]\ntimeout = 'long'\n")


def test_a_workspace_names_no_tokenizer_file(load: Load) -> None:
    """A stranger's file is not parsed by a tokenizer's library, whatever the user set."""
    config = load("", "[assemble]\ntokens = 'tokenizers:evil.json'\n")
    assert config.assemble.tokens == "default"
    assert load("", "[assemble]\ntokens = 'gpt-5'\n").assemble.tokens == "gpt-5"


@pytest.mark.parametrize("key", ["history.max_items", "hooks.idle_minutes", "sources.x.keep_days"])
def test_what_is_the_users_alone_is_refused(load: Load, key: str) -> None:
    """Such as what would delete records, or keep a process of the user's running."""
    with pytest.raises(ConfigError, match="this setting is yours alone"):
        load("", _lines(key, "1"))


# -- a source's own settings ------------------------------------------------------------------

INFO = SourceInfo(
    settings={
        "feed": Setting(True, rule="off"),
        "exclude": Setting([], rule="more"),
        "size": Setting(10, rule="capped"),
        "url": Setting("", rule="user"),
        "folder": "",
        "days": Setting(1, rule="free"),
    },
)


@pytest.fixture
def registered(load: Load) -> Callable[[str, str], SourceRegistry]:
    """A registry with the source `tide`, whose settings both files have."""

    def registered(user: str, workspace: str) -> SourceRegistry:
        config = load(f"[sources.tide]\n{user}", f"[sources.tide]\n{workspace}")
        registry = SourceRegistry(config, entry_points=False)
        registry.register(make_plugin([], contextkit_source=lambda: INFO), "tide")
        return registry

    return registered


def test_a_source_says_what_a_workspace_may_change(
    registered: Callable[[str, str], SourceRegistry],
) -> None:
    """Its own settings follow the rules that it names; what it does not name stands."""
    registry = registered(
        "feed = false\nexclude = ['mine/']\nfolder = 'a'\ndays = 1\n",
        "feed = true\nexclude = ['!mine/']\nfolder = 'b'\ndays = 9\nsize = 99\n",
    )
    assert registry.settings("tide") == {
        "url": "",
        "feed": False,
        "exclude": ["!mine/", "mine/"],
        "folder": "a",
        "days": 9,
        "size": 10,
    }
    own = registry.own_settings("tide")
    assert {key.removeprefix("sources.tide.") for key in own.overruled} == {
        "feed",
        "exclude",
        "folder",
        "size",
    }


def test_a_sources_address_is_the_users_alone(
    registered: Callable[[str, str], SourceRegistry],
) -> None:
    """A stranger's file does not say where a plugin sends things, set by the user or not."""
    assert registered("url = 'https://mine'\n", "").settings("tide")["url"] == "https://mine"
    for users in ("", "url = 'https://mine'\n"):
        with pytest.raises(ConfigError, match=r"contextkit\.toml:2: sources\.tide\.url: .* alone"):
            registered(users, "url = 'https://evil'\n")


def test_a_source_that_is_not_loaded_keeps_the_users_settings(load: Load) -> None:
    """Until a source is there to name its rules, the user's value counts."""
    config = load("[sources.tide]\na = 1\n", "[sources.tide]\na = 2\nb = 3\n")
    assert config.source("tide").own == {"a": 1, "b": 3}


def test_a_rule_that_makes_no_sense_is_refused() -> None:
    """A misspelt rule would leave a setting open."""
    with pytest.raises(ValueError, match="rule"):
        Setting(1, rule="any")  # type: ignore[arg-type]


def test_a_source_that_is_off_is_not_asked_by_a_workspaces_list(
    open_kit: Callable[..., ContextKit], home: Path, tmp_path: Path
) -> None:
    """The whole way: what the user switched off is in no context that a workspace asks for."""
    (home / "config.toml").write_text("[sources.tide]\nenabled = false\n")
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "contextkit.toml").write_text(
        "[sources.tide]\nenabled = true\n[assemble]\nsources = ['tide', 'ebb']\n"
    )
    item = ContextItem(id="1", source="tide", content="a tide table", relevance=1.0)
    kit = open_kit({"tide": make_plugin([item]), "ebb": make_plugin([])})
    assert not kit.assemble_context_sync("tide table").items


# -- rules ------------------------------------------------------------------------------------

_NAMES = st.lists(st.sampled_from("abc"))
_NUMBERS = st.integers() | st.floats()


@given(_NUMBERS, _NUMBERS)
def test_a_number_is_never_raised(users: float, workspaces: float) -> None:
    """Not by infinity or by what is no number either."""
    assert not allowed_value("lower", users, workspaces) > users


@given(_NAMES, _NAMES, st.booleans(), st.booleans())
def test_lists_and_switches_are_never_widened(
    users: list[str], workspaces: list[str], users_on: bool, workspaces_on: bool
) -> None:
    """Names are only taken away, exclusions only added, and switches go one way."""
    assert set(allowed_value("fewer", users, workspaces)) == set(users) & set(workspaces)
    assert set(allowed_value("more", users, workspaces)) == set(users) | set(workspaces)
    assert allowed_value("off", users_on, workspaces_on) == (users_on and workspaces_on)
    assert allowed_value("on", users_on, workspaces_on) == (users_on or workspaces_on)
