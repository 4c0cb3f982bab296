"""`contextkit --help`, `--version`, and what is said to whoever gets the usage wrong."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from contextkit.cli.commands import BUILT_IN
from contextkit.cli.failures import ExitCode
from contextkit.cli.root import cli
from contextkit.plugin.published import PUBLISHED
from contextkit.testing import own_home
from tests.cli.conftest import CommandLine

READ_BY_PROGRAMS = (
    *("assemble", "config show", "doctor", "experience add", "experience list", "experience show"),
    *("experience start", "import", "index", "memories forget", "memories list"),
    *("memories show", "premortem", "reembed", "remember", "sources", "values list"),
    "values refresh",
)


@pytest.fixture(scope="module")
def help_texts(demo: Path) -> dict[str, str]:
    """The help of every command there is, those of plugins included."""
    with own_home():
        contextkit = CommandLine(demo)

        def below(*words: str) -> Iterator[tuple[str, str]]:
            text = contextkit(*words, "--help").stdout
            names = re.findall(r"^  ([a-z][a-z-]*)  ", text, re.MULTILINE)
            if len(words) == 2 or (words and not names):
                yield " ".join(words), text
            for name in names if len(words) < 2 else ():
                yield from below(*words, name)

        return dict(below())


def test_the_help_lists_own_commands_and_those_of_sources(contextkit: CommandLine) -> None:
    """Plugins' commands stand beside contextkit's own, in a list of their own."""
    own, _, added = contextkit("--help").stdout.partition("Commands of the sources that are on:")
    for name in BUILT_IN:
        assert re.search(rf"^  {name} +\w", own, re.MULTILINE)
    assert re.search(r"^  remember +\w", added, re.MULTILINE)
    assert re.search(r"^  experience +\w", added, re.MULTILINE)


def test_every_command_and_source_has_a_hint_for_its_absence(contextkit: CommandLine) -> None:
    """The table of the hints names what each first-party plugin adds, and its distribution."""
    hints = {name: each for each, names in PUBLISHED.items() for name in names}
    sources = [plugin for plugin in contextkit.json("sources") if plugin["source"]]
    for source in sources:
        assert hints[source["name"]] == source["distribution"]
    added = contextkit("--help").stdout.partition("sources that are on:\n")[2]
    commands = re.findall(r"^  ([a-z][a-z-]*)  ", added, re.MULTILINE)
    assert {*hints} == {*commands, *(source["name"] for source in sources)}


def test_the_help_tells_every_exit_code(contextkit: CommandLine) -> None:
    """The codes are documented in one place, and all of them."""
    shown = contextkit("--help").stdout
    for code in ExitCode:
        assert re.search(rf"^ +{code}  \w", shown, re.MULTILINE)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_summary_in_the_list_is_that_of_the_command(name: str) -> None:
    """The list of commands, which imports none of them, has the first line of their help."""
    command = BUILT_IN[name].load()
    assert command.name == name
    first = (command.help or "").splitlines()[0]
    assert first == BUILT_IN[name].short_help
    assert len(first.split()) <= 10


def test_every_command_has_help_with_an_example(help_texts: dict[str, str]) -> None:
    """Whoever asks a command for help sees how it is called."""
    for words, text in help_texts.items():
        assert re.search(r"Examples?:\s+(\$|[\w=/]+ )*.*contextkit ", text), words


def test_every_command_that_a_program_may_read_has_json(help_texts: dict[str, str]) -> None:
    """`--json` is there wherever a result is more than a sentence."""
    for words in READ_BY_PROGRAMS:
        assert "--json" in help_texts[words], words


@pytest.mark.parametrize("arguments", [("memories",), ("config",)])
def test_a_group_without_a_command_shows_its_help_as_a_message(
    contextkit: CommandLine, arguments: tuple[str, ...]
) -> None:
    """Without a command there is no data: the help goes to standard error."""
    result = contextkit(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Usage: contextkit {arguments[0]}")


def test_no_arguments_show_the_help_as_a_message(contextkit: CommandLine) -> None:
    """`contextkit` alone tells what it can do, and that nothing was done."""
    ran = CliRunner().invoke(cli, [])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Usage: contextkit [OPTIONS] COMMAND")
    assert contextkit.line(2) == "Missing command. Try 'contextkit --help'."


def test_an_unknown_command_names_the_nearest(contextkit: CommandLine) -> None:
    """A slip of the finger is told what was meant, for plugins' commands, too."""
    assert "Did you mean 'assemble'?" in contextkit.line(2, "asemble", "budget")
    assert "Did you mean 'remember'?" in contextkit.line(2, "rember", "tabs")
    assert "Did you mean" not in contextkit.line(2, "xyzzy")


def test_a_command_of_a_source_that_is_off_says_so(contextkit: CommandLine) -> None:
    """A missing command is explained by the setting that took it away."""
    said = contextkit.line(2, "--disable", "memories", "remember", "tabs")
    assert "The source 'memories' is off" in said
    assert "--disable memories" in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("assemble",), "Missing argument 'QUERY'. Try 'contextkit assemble --help'."),
        (("assemble", "x", "--debug"), "before the command: contextkit --debug assemble"),
        (("assemble", "x", "--bugdet", "1"), "No such option '--bugdet'"),
        (("-C", "nowhere", "sources"), "Directory 'nowhere' does not exist"),
        (("import", "nowhere.jsonl"), "'nowhere.jsonl' is neither a file nor an importer"),
        (("memories", "lits"), "lits"),
        (("experience", "add", "--file", "x"), "such file or directory. Try 'contextkit exp"),
    ],
)
def test_wrong_usage_is_one_line_with_code_2(
    contextkit: CommandLine, arguments: tuple[str, ...], expected: str
) -> None:
    """What was wrong, and where to read more."""
    assert expected in contextkit.line(2, *arguments)


def test_the_help_works_with_a_broken_configuration(
    contextkit: CommandLine,
) -> None:
    """Own commands are listed; why those of plugins are missing is a message."""
    (contextkit.folder / "contextkit.toml").write_text("[assemble]\nlimit = 0\n")
    result = contextkit("--help")
    assert result.exit_code == 0
    assert "assemble" in result.stdout
    assert "contextkit.toml:2: assemble.limit" in result.stderr


def test_a_deleted_current_folder_costs_no_more_than_one_line(contextkit: CommandLine) -> None:
    """`--help`, `--version` and `-C` work there; other commands say to name a folder."""
    leave = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"'
    command = ["sh", "-c", leave, *contextkit.command()]
    for arguments in (["--help"], ["--version"], ["-C", str(contextkit.folder), "sources"]):
        ran = contextkit.process(*arguments, command=command)
        assert ran.returncode == 0, ran.stderr
        assert b"Traceback" not in ran.stderr
    expected = b"contextkit: the current folder no longer exists; name one with -C\n"
    for name in ("sources", "doctor", "mcp"):
        ran = contextkit.process(name, command=command)
        assert (ran.returncode, ran.stderr) == (1, expected)


def test_the_version_is_the_distributions(contextkit: CommandLine) -> None:
    """`--version` is what pip installed."""
    expected = f"contextkit, version {importlib.metadata.version('contextkit-core')}\n"
    assert contextkit("--version").stdout == expected


def test_the_help_fits_a_narrow_terminal(contextkit: CommandLine) -> None:
    """Nothing fails where there is little room."""
    ran = contextkit.with_variables(COLUMNS="12")("--help")
    assert ran.exit_code == 0
    assert "assemble" in ran.stdout
