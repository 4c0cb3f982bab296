"""The configuration: its layers, where each value came from, and what is wrong with one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from contextkit.config.load import (
    DEADLINE,
    SOURCE_TIMEOUT,
    data_folder,
    user_config_file,
    with_command_timeouts,
)
from contextkit.config.origins import Origin
from contextkit.config.sections import AssembleSettings, SourceSettings
from contextkit.config.settings import Config
from tests.config.conftest import Load

# -- layers and their order -----------------------------------------------------------------

LAYERS: Mapping[str, Mapping[str, Any]] = {
    "user": {"user": "[assemble]\nlimit = 11\n"},
    "project": {"project": "# ours\n[assemble]\nlimit = 12\n"},
    "environment": {"environment": {"CONTEXTKIT_ASSEMBLE_LIMIT": "13"}},
    "flag": {"flags": {"assemble.limit": 14}},
}
VALUES = {"default": None, "user": 11, "project": 12, "environment": 13, "flag": 14}


@pytest.mark.parametrize(
    "layers",
    [c for size in range(5) for c in itertools.combinations(LAYERS, size)],
    ids="+".join,
)
def test_a_later_layer_beats_an_earlier_one(load: Load, layers: tuple[str, ...]) -> None:
    """Defaults, user, project, environment, flags: the last that says something wins."""
    config = load(**{key: value for name in layers for key, value in LAYERS[name].items()})
    strongest = layers[-1] if layers else "default"
    assert config.assemble.limit == VALUES[strongest]
    assert config.origin("assemble.limit").layer == strongest


def test_a_layer_leaves_what_it_does_not_mention(load: Load) -> None:
    """Layers are joined value by value, not table by table."""
    config = load(
        user="[assemble]\nlimit = 5\nstyle = 'xml'\n[sources.code]\nweight = 3\n",
        project="[assemble]\nlimit = 6\n[sources.code]\npriority = 9\n",
    )
    assert (config.assemble.limit, config.assemble.style) == (6, "xml")
    assert config.source("code") == SourceSettings(weight=3.0, priority=9)


def test_origins_name_file_and_line(load: Load, root: Path, home: Path) -> None:
    """A value says which line of which file, which variable or which flag it came from."""
    config = load(
        user="project = 'mine'\n\n[store]\nlock_timeout = 3\n",
        project="sources.code.weight = 2\n[sources.memories]\n# a note\ntimeout = 1.5\n",
        environment={"CONTEXTKIT_ASSEMBLE_DEADLINE": "2"},
        flags={
            "sources.code.enabled": False,
            "sources.my_source.enabled": True,
            "assemble.max_tokens": 9,
        },
    )
    assert {key: str(origin) for key, origin in config.origins.items()} == {
        "project": f"{home / 'config.toml'}:1",
        "store.lock_timeout": f"{home / 'config.toml'}:4",
        "sources.code.weight": f"{root / 'contextkit.toml'}:1",
        "sources.memories.timeout": f"{root / 'contextkit.toml'}:4",
        "assemble.deadline": "CONTEXTKIT_ASSEMBLE_DEADLINE",
        "sources.code.enabled": "--disable code",
        "sources.my-source.enabled": "--enable my_source",
        "assemble.max_tokens": "--max-tokens",
    }
    assert str(config.origin("assemble.limit")) == "default"


def test_contextkit_toml_stands_instead_of_pyproject(load: Load, root: Path) -> None:
    """Where there are both, the file of its own is read."""
    config = load(pyproject="[project]\nname = 'x'\n\n[tool.contextkit.assemble]\nlimit = 2\n")
    assert config.assemble.limit == 2
    assert config.origin("assemble.limit") == Origin("project", str(root / "pyproject.toml"), 5)
    assert load(project="").assemble.limit is None


def test_a_byte_order_mark_does_no_harm(load: Load) -> None:
    """Some editors write one."""
    assert load(project="\ufeff[assemble]\nlimit = 7\n").assemble.limit == 7


def test_described_lists_every_setting(load: Load) -> None:
    """Every setting with value and origin, sorted; a source's where they are set."""
    rows = load(
        project="[sources.code]\nweight = 2\nexclude = ['*.min.js']\n",
        flags={"sources.values.enabled": False},
    ).described()
    keys = [key for key, _, _ in rows]
    assert keys == sorted(keys)
    values = {key: value for key, value, _ in rows}
    assert values["assemble.max_tokens"] == 2000
    assert values["sources.code.weight"] == 2.0
    assert values["sources.code.exclude"] == ["*.min.js"]
    assert values["sources.values.enabled"] is False
    assert "sources.code.enabled" not in values
    assert {origin.layer for _, _, origin in rows} == {"default", "project", "flag"}


# -- sources --------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["my-source", "my_source"])
def test_a_source_is_found_under_either_spelling(load: Load, spelling: str) -> None:
    """Environment variables cannot have a hyphen, so both spellings are one."""
    config = load(
        project=f"[sources.{spelling}]\nweight = 2\n",
        environment={"CONTEXTKIT_SOURCES_MY_SOURCE_ENABLED": "no"},
        flags={f"sources.{spelling}.limit": 4},
    )
    for name in ("my-source", "my_source"):
        assert config.source(name) == SourceSettings(weight=2.0, enabled=False, limit=4)


def test_what_is_not_the_cores_is_the_sources_own(load: Load) -> None:
    """A source's own settings are handed on as they are, tables included."""
    config = load(
        project="[sources.code]\nlimit = 3\nroots = ['src']\n[sources.code.langs]\npy = 1"
    )
    assert config.source("code").own == {"roots": ["src"], "langs": {"py": 1}}
    assert config.origin("sources.code.langs").line == 4


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((text, True) for text in ("1", "true", "Yes", "on")),
        *((text, False) for text in ("0", "FALSE", "no", " off ")),
    ],
)
def test_a_variable_switches_a_source(load: Load, text: str, value: bool) -> None:
    """`CONTEXTKIT_SOURCES_NAME_ENABLED` takes what people write."""
    config = load(environment={"CONTEXTKIT_SOURCES_CODE_ENABLED": text})
    assert config.source("code").enabled is value


def test_variables_of_each_type(load: Load, home: Path) -> None:
    """Text becomes the setting's type."""
    config = load(
        environment={
            "CONTEXTKIT_PROJECT": "mine",
            "CONTEXTKIT_ASSEMBLE_SOURCES": "code, memories,",
            "CONTEXTKIT_ASSEMBLE_MIN_RELEVANCE": "0.25",
            "CONTEXTKIT_ASSEMBLE_STYLE": "plain",
            "CONTEXTKIT_STORE_PATH": str(home / "records"),
            "CONTEXTKIT_SOURCES_CODE_WEIGHT": "2.5",
            "CONTEXTKIT_SOURCES_CODE_PRIORITY": "80",
        }
    )
    assert config.project == "mine"
    assert config.assemble.sources == ("code", "memories")
    assert config.assemble.min_relevance == 0.25
    assert config.assemble.style == "plain"
    assert config.store.path == home / "records"
    assert config.source("code") == SourceSettings(weight=2.5, priority=80)


def test_the_process_environment_is_the_default(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an environment of its own, `load_config` reads the process's."""
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_LIMIT", "8")
    assert load().assemble.limit == 8
    assert load(environment={}).assemble.limit is None


def test_an_empty_variable_is_not_set(load: Load) -> None:
    """`CONTEXTKIT_STORE_URL=` does not point the store at nowhere."""
    config = load(environment={"CONTEXTKIT_STORE_URL": "", "CONTEXTKIT_ASSEMBLE_SOURCES": " "})
    assert config.store.url is None
    assert config.assemble.sources is None


def test_variables_that_are_no_settings_are_left_alone(load: Load) -> None:
    """Those of other programs, the home, the debug switch, those of the tests."""
    names = ("PATH", "CONTEXTKIT_HOME", "CONTEXTKIT_DEBUG", "CONTEXTKIT_TEST_QDRANT_URL")
    assert load(environment=dict.fromkeys(names, "1")) == Config()


# -- where things are -----------------------------------------------------------------------


def test_the_home_variable_moves_everything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CONTEXTKIT_HOME` holds the user's settings and the data."""
    assert (data_folder(), user_config_file()) == (home, home / "config.toml")
    monkeypatch.setenv("CONTEXTKIT_HOME", "~/kit")
    assert data_folder() == Path.home() / "kit"


def test_without_the_variable_the_platforms_folders_are_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the platform has for a user's data and settings, below a folder of ours."""
    monkeypatch.delenv("CONTEXTKIT_HOME")
    assert data_folder().name == "contextkit"
    assert user_config_file().parts[-2:] == ("contextkit", "config.toml")
    assert home not in data_folder().parents


def test_a_folder_in_a_file_is_beside_that_file(load: Load, home: Path) -> None:
    """The store does not move with the folder that the program runs in."""
    assert load(user="[store]\npath = 'records'\n").store.path == home / "records"
    assert load(user="[store]\npath = '~/records'\n").store.path == Path.home() / "records"


def test_models_are_chosen_for_all_sources_and_for_one(load: Load) -> None:
    """From the user's file and from the environment."""
    config = load(
        user="embedding.model = 'openai:x/y'\nsources.code.embedder = 'default'",
        environment={"CONTEXTKIT_SOURCES_CODE_EMBEDDER": "fastembed:a b"},
    )
    assert config.embedding.model == "openai:x/y"
    assert config.source("code").embedder == "fastembed:a b"
    assert config.source("memories").embedder is None


def test_both_limits_are_longer_where_none_is_configured() -> None:
    """Longer than what the library has by itself; nothing else differs."""
    config = with_command_timeouts(Config())
    assert config.assemble == AssembleSettings(source_timeout=SOURCE_TIMEOUT, deadline=DEADLINE)
    assert AssembleSettings().source_timeout < SOURCE_TIMEOUT < DEADLINE
    assert AssembleSettings().deadline < DEADLINE
    origins = {key: str(origin) for key, _, origin in config.described() if origin.layer}
    assert origins["assemble.deadline"] == "default of commands"
    assert origins["assemble.limit"] == "default"


def test_what_is_configured_stays_as_it_is() -> None:
    """Each of the limits by itself, also where it is what the library has."""
    chosen = Origin("user", "config.toml", 2)
    settings = AssembleSettings(deadline=0.5)
    config = with_command_timeouts(Config(assemble=settings, origins={"assemble.deadline": chosen}))
    assert config.assemble.deadline == 0.5
    assert config.assemble.source_timeout == SOURCE_TIMEOUT
    assert config.origins["assemble.deadline"] is chosen
