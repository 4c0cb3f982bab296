"""`contextkit config show`, and what is said of a configuration that is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine


def test_each_value_says_where_it_came_from(contextkit: CommandLine, home: Path) -> None:
    """Default, user's file, project's file, environment and flag, the later beating."""
    user, project = home / "config.toml", contextkit.folder / "contextkit.toml"
    user.write_text("[assemble]\nmax_tokens = 3000\nlimit = 7\n")
    project.write_text("[assemble]\nlimit = 9\n\n[sources.code]\nenabled = false\n")
    configured = contextkit.with_variables(CONTEXTKIT_ASSEMBLE_STYLE="xml")
    shown = configured.json("--enable", "code", "config", "show")
    settings = shown["settings"]
    assert settings["assemble.max_tokens"] == {
        "value": 3000,
        "layer": "user",
        "origin": f"{user}:2",
    }
    assert (settings["assemble.limit"]["value"], settings["assemble.limit"]["origin"]) == (
        9,
        f"{project}:2",
    )
    assert settings["assemble.style"]["origin"] == "CONTEXTKIT_ASSEMBLE_STYLE"
    assert settings["sources.code.enabled"] == {
        "value": True,
        "layer": "flag",
        "origin": "--enable code",
    }
    assert settings["assemble.deadline"]["layer"] == "default"
    assert settings["sources.memories.enabled"] == {
        "value": True,
        "layer": "default",
        "origin": "default",
    }
    assert shown["user_file"] == str(user)
    assert shown["project_file"] == str(project)


@pytest.mark.usefixtures("unconfigured")
def test_a_command_waits_longer_for_its_sources_unless_told(contextkit: CommandLine) -> None:
    """A process that has just begun needs more time than one that is warm."""
    shown = contextkit.json("config", "show")["settings"]
    origin = {"layer": "default", "origin": "default of commands"}
    assert shown["assemble.source_timeout"] == {"value": 2.0, **origin}
    assert shown["assemble.deadline"] == {"value": 3.0, **origin}
    file = contextkit.folder / "contextkit.toml"
    file.write_text("[assemble]\nsource_timeout = 0.3\n")
    told = contextkit.json("config", "show")["settings"]["assemble.source_timeout"]
    assert told == {"value": 0.3, "layer": "project", "origin": f"{file}:2"}


def test_a_person_gets_a_table(contextkit: CommandLine) -> None:
    """The same for the eye: one setting a line."""
    shown = contextkit("config", "show").stdout
    assert f"workspace: {contextkit.folder}" in shown
    assert re.search(rf"^project +{contextkit.folder} +default$", shown, re.MULTILINE)
    assert "project_file: none" in shown
    listed = contextkit.with_variables(CONTEXTKIT_ASSEMBLE_SOURCES="code,commits")
    assert "code, commits" in listed("config", "show").stdout
    assert [line.split() for line in shown.splitlines() if line.startswith("assemble.l")] == [
        ["assemble.limit", "-", "default"]
    ]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("[assemble]\nmax_tokens = 'many'\n", 2, "assemble.max_tokens: expected a whole number"),
        ("[assemble]\n\nlimit = 0\n", 3, "assemble.limit: expected a whole number of at least 1"),
        ("[assemble]\nstyle = 'html'\n", 2, "assemble.style: expected one of markdown, xml"),
        (
            "[assemble]\ndeadline = -1\n",
            2,
            "assemble.deadline: expected a number of seconds over 0",
        ),
        ("[assemble]\nmax_token = 5\n", 2, "assemble.max_token"),
        ("[sources.code]\nenabled = 'yes'\n", 2, "sources.code.enabled: expected true or false"),
        ("[sources.code]\nweight = 0\n", 2, "sources.code.weight: expected a number over 0"),
        ("[sources]\ncode = 3\n", 2, "sources.code"),
        ("[sources.memories]\ncolour = 'red'\n", 2, "sources.memories.colour"),
        ("assemble = 3\n", 1, "assemble"),
        ("[assemble]\nlimit = \n", 2, "not valid TOML"),
        ("[store]\nurl = 'http://elsewhere'\n", 2, "store.url: this setting is yours alone"),
    ],
)
def test_a_wrong_file_is_named_with_line_key_and_what_is_expected(
    contextkit: CommandLine, text: str, line: int, expected: str
) -> None:
    """One line says where to look and what to write there; the code is 3."""
    file = contextkit.folder / "contextkit.toml"
    file.write_text(text)
    for arguments in (("sources",), ("assemble", "budget"), ("config", "show"), ("remember", "x")):
        said = contextkit.line(3, *arguments)
        assert said.startswith(f"{file}:{line}: "), said
        assert expected in said


def test_sources_of_the_configuration_that_are_not_there_are_a_wrong_setting(
    contextkit: CommandLine,
) -> None:
    """A default list of sources with a slip in it is not the request's fault."""
    file = contextkit.folder / "contextkit.toml"
    file.write_text("[assemble]\nsources = ['code', 'comits']\n")
    said = contextkit.line(3, "assemble", "budget")
    assert said.startswith("assemble.sources: Invalid source 'comits'")
    assert f"{file}:2" in said
    assert contextkit("assemble", "budget", "--sources", "code").exit_code == 0


def test_a_setting_of_an_unknown_token_counter_is_a_wrong_setting(
    contextkit: CommandLine,
) -> None:
    """Its line is named, with the exit code of wrong settings."""
    file = contextkit.folder / "contextkit.toml"
    file.write_text("[assemble]\ntokens = 'nope'\n")
    expected = f"{file}:2: assemble.tokens: there is no tokenizer 'nope'"
    assert contextkit.line(3, "assemble", "budget").startswith(expected)


def test_show_names_both_files_where_the_users_choice_stands(
    contextkit: CommandLine, home: Path
) -> None:
    """What a workspace's file says against it is named with its line, and does not count."""
    user, workspace = home / "config.toml", contextkit.folder / "contextkit.toml"
    user.write_text("[hooks]\nenabled = false\n[sources.code]\nexclude = ['private/']\n")
    workspace.write_text("[hooks]\nenabled = true\n[sources.code]\nexclude = ['!private/']\n")
    shown = contextkit.json("config", "show")
    assert shown["settings"]["hooks.enabled"]["value"] is False
    assert shown["settings"]["sources.code.exclude"]["value"] == ["!private/", "private/"]
    assert shown["overruled"]["hooks.enabled"] == {
        "value": True,
        "origin": f"{workspace}:2",
        "users": f"{user}:2",
    }
    lines = contextkit("config", "show").stdout
    assert f"{user}:2, not {workspace}:2: your choice stands" in lines
    assert f"{workspace}:4, narrowed by {user}:4" in lines


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("assemble.max_tokens", "4000", "max_tokens = 4000"),
        ("assemble.sources", "code,commits", 'sources = ["code", "commits"]'),
        ("sources.code.enabled", "off", "enabled = false"),
        ("sources.code.max_file_bytes", "9000", "max_file_bytes = 9000"),
        ("store.path", "/elsewhere", 'path = "/elsewhere"'),
    ],
)
def test_a_setting_is_set_and_unset(
    contextkit: CommandLine, home: Path, key: str, value: str, line: str
) -> None:
    """It is written to the user's file alone, and the next command has it."""
    file = home / "config.toml"
    assert f"in {file}" in contextkit("config", "set", key, value).stdout

    assert line in file.read_text().splitlines()
    assert contextkit.json("config", "show")["settings"][key]["layer"] == "user"
    assert contextkit("config", "unset", key).stdout == f"removed {key} from {file}\n"
    assert contextkit("config", "unset", key).stdout == f"{key} was not set in {file}\n"
    assert line not in file.read_text().splitlines()
    assert not (contextkit.folder / "contextkit.toml").exists()


@pytest.mark.parametrize(
    ("key", "value", "code", "words"),
    [
        ("assemble.max_tokens", "0", 3, "expected a whole number of at least 1, got '0'"),
        ("assemble.max_token", "9", 3, "did you mean assemble.max_tokens?"),
        ("sources.cod.enabled", "no", 2, "Did you mean 'code'?"),
        ("sources.code.max_file_bytes", "many", 3, "must be a whole number"),
        ("sources.code.max_file_byte", "9", 3, "did you mean max_file_bytes?"),
        ("assemble.sources", "code,nope", 3, "assemble.sources: Invalid source 'nope'"),
        ("assemble.exclude_sources", "nope", 3, "Invalid source 'nope'"),
        ("hooks.start_sources", "comits", 3, "Did you mean 'commits'?"),
        ("assemble.tokens", "nope", 3, "assemble.tokens: there is no tokenizer 'nope'"),
        ("colour", "red", 3, "unknown setting; known: assemble, "),
        ("assemble", "500", 3, "assemble: it is a section; expected assemble.SETTING, one of max"),
        ("max_tokens", "500", 3, "max_tokens: unknown setting; did you mean assemble.max_tokens?"),
        ("limit", "5", 3, "limit: unknown setting; did you mean assemble.limit?"),
    ],
)
def test_a_wrong_setting_is_not_written(
    contextkit: CommandLine, home: Path, key: str, value: str, code: int, words: str
) -> None:
    """One line says what would be right, and the file stays as it is."""
    file = home / "config.toml"
    before = file.read_text()

    assert words in contextkit.line(code, "config", "set", key, value)
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("key", "code", "words"),
    [
        ("assemble.max_token", 3, "unknown setting; did you mean assemble.max_tokens?"),
        ("sources.cod.enabled", 2, "Did you mean 'code'?"),
        ("sources.code.max_file_byte", 3, "did you mean max_file_bytes?"),
        ("strategies.mine.recent", 3, "did you mean strategies.mine.recency?"),
        ("colour", 3, "unknown setting"),
    ],
)
def test_an_unknown_setting_is_not_unset(
    contextkit: CommandLine, key: str, code: int, words: str
) -> None:
    """One line names the nearest, as for `set`."""
    assert words in contextkit.line(code, "config", "unset", key)


def test_a_setting_of_a_strategy_may_be_unset(contextkit: CommandLine) -> None:
    """It is known although no strategy has it."""
    assert "was not set in" in contextkit("config", "unset", "strategies.mine.recency").stdout
