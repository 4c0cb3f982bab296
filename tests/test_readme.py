"""The README and the examples, executed: what they say works, what they list is all there is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import Attribute, fields
from click.testing import CliRunner

from contextkit.cli.failures import exit_code_lines
from contextkit.cli.root import cli
from contextkit.config.sections import SECTIONS, SourceSettings
from contextkit.config.settings import Config
from contextkit.config.strategies import BUILT_IN
from contextkit.models.strategy import Strategy
from tests.running import PACKAGES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUERY = "how is the token budget split?"
BUDGET = '''\
def split_budget(total, weights):
    """Split the token budget over the sources by their weights."""
    whole = sum(weights.values())
    return {name: total * weight // whole for name, weight in weights.items()}
'''


def section(title: str) -> str:
    """The text below a heading, up to the next one of its level; those in fences are none."""
    level = title.split(maxsplit=1)[0]
    below: list[str] | None = None
    fence = ""
    for line in README.splitlines(keepends=True):
        opened = re.match(r"`{3,}", line)
        if opened and (not fence or line.rstrip() == fence):
            fence = "" if fence else opened[0]
        elif not fence and re.match(rf"#{{1,{len(level)}}} ", line):
            if below is not None:
                break
            below = [] if line.rstrip() == title else None
            continue
        if below is not None:
            below.append(line)
    assert below is not None, title
    return "".join(below)


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    found = re.findall(rf"^(`{{3,}}){language}\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)
    return [block for _, block in found]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text, without headings."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0] not in {"key", "command", "exit code", "id"}]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small git repository."""
    scripts = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([scripts, os.environ["PATH"]]))
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "budget.py").write_text(BUDGET)
    (folder / "notes.md").write_text("# Notes\n\nNothing yet.\n")
    commit = "git -c user.name=Ada -c user.email=ada@example.org commit -qm"
    # So long ago that its place in a context is the same on every day to come.
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2024-11-04T09:30:00Z")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2024-11-04T09:30:00Z")
    shell(f"git init -q && git add . && {commit} 'Split the token budget by weight'", folder)
    return folder


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell script that must go well to its end."""
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{script}\n{ran.stdout}\n{ran.stderr}"
    return ran


def test_the_two_commands_are_single_lines() -> None:
    """One sets up and runs the main job, one sets up and passes the tests, some skipped."""
    run, test, _ = blocks(section("## Two commands"), "sh")
    assert run.count("\n") == test.count("\n") == 1
    assert run.rstrip().endswith(f'&& contextkit assemble "{QUERY}"')
    assert test.rstrip().endswith("&& pytest")
    for line in (run, test):
        assert line.startswith("python3 -m venv .venv && . .venv/bin/activate && pip install ")


def test_the_programs_that_tests_need_can_be_installed() -> None:
    """Beside the command that runs the tests: the packages of all of them."""
    *_, install = blocks(section("## Two commands"), "sh")
    assert install == f"sudo apt-get install {' '.join(PACKAGES.values())}\n"


def test_the_tour_can_be_followed(scratch: Path) -> None:
    """Each block of commands works after the one before it, with nothing to complain of."""
    tour = section("## Five minutes").partition("### From Python")[0]
    shown = ""
    for script in blocks(tour, "sh"):
        ran = shell(script, scratch)
        shown += ran.stdout
        assert "internal error" not in ran.stderr
    for expected in ("## Code", "## Commits", "## Memories", "## Experiences", "# Premortem"):
        assert expected in shown
    assert f"off by {scratch / 'contextkit.toml'}:5" in shown
    assert "off by CONTEXTKIT_SOURCES_VALUES_ENABLED" in shown


def test_the_output_of_the_tour_is_real(scratch: Path) -> None:
    """What the README shows of the first command is what it prints, to the letter."""
    tour = section("## Five minutes")
    (shown,) = blocks(tour, "text")
    assert shell(blocks(tour, "sh")[0], scratch).stdout == shown


def test_the_example_of_mcp_settings_starts_the_server() -> None:
    """It is JSON, and names a command that there is."""
    (settings,) = blocks(section("## Your coding agent"), "json")
    server = json.loads(settings)["mcpServers"]["contextkit"]
    ran = subprocess.run(
        [server["command"], *server["args"], "--help"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, "over MCP" in ran.stdout) == (0, True)


def test_the_python_of_the_tour_runs(scratch: Path) -> None:
    """What a host would copy works as it stands."""
    (script,) = blocks(section("### From Python"), "python")
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=scratch, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "split_budget" in ran.stdout
    assert "code ok 1 " in ran.stdout


def test_the_quickstart_runs(scratch: Path) -> None:
    """`examples/quickstart.py` prints a context and a premortem."""
    command = [sys.executable, str(ROOT / "examples" / "quickstart.py"), QUERY]
    ran = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "## Code" in ran.stdout
    assert "nothing relevant was found" in ran.stdout
    broken = {**os.environ, "CONTEXTKIT_ASSEMBLE_LIMIT": "0"}
    failed = subprocess.run(command, cwd=scratch, env=broken, capture_output=True, check=False)
    assert failed.returncode == 1
    assert b"quickstart: assemble.limit" in failed.stderr


def test_the_source_in_twenty_lines_is_the_example() -> None:
    """What is printed in the README is what is in the examples."""
    folder = ROOT / "examples" / "third-party" / "contextkit-weather"
    (printed,) = blocks(section("## A source in twenty lines"), "python")
    module = folder / "src" / "contextkit_weather" / "__init__.py"
    assert printed == module.read_text(encoding="utf-8")
    (entry_point,) = blocks(section("## A source in twenty lines"), "toml")
    assert entry_point in (folder / "pyproject.toml").read_text(encoding="utf-8")


def defaults() -> Iterator[tuple[str, Any]]:
    """Every key of the configuration and its default."""
    yield "project", Config().project
    named = {"sources.NAME": SourceSettings, "strategies.NAME": Strategy}
    for name, kind in {**SECTIONS, **named}.items():
        attributes: tuple[Attribute[Any], ...] = fields(kind)
        known = (a for a in attributes if a.name not in {"own", "name"})
        yield from ((f"{name}.{a.name}", a.default) for a in known)


def as_toml(value: object) -> str:
    """A default as the README writes it."""
    if value is None or value == ():
        return "none"
    text = str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')
    return f"`{text}`"


def test_the_configuration_reference_is_the_configuration() -> None:
    """Every key is there with its default, and no other."""
    documented = [
        (key.strip("`"), default) for key, default, _ in rows(section("## Configuration"))
    ]
    assert sorted(documented) == sorted((key, as_toml(default)) for key, default in defaults())


def test_the_strategies_can_be_followed(scratch: Path) -> None:
    """Its commands work one after the other, and list the strategies that it names."""
    text = section("## Strategies")
    shown = "".join(shell(script, scratch).stdout for script in blocks(text, "sh"))
    assert re.search(r"^\*  review ", shown, re.MULTILINE)
    assert "strategy review: relevance 1, " in shown
    assert all(f"| `{name}` |" in text for name in BUILT_IN)


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    """One place in the code, the same words in the README."""
    documented = [row for row in rows(section("## Commands")) if row[0].isdigit()]
    assert documented == [line.split(maxsplit=1) for line in exit_code_lines()]


def test_the_commands_are_those_that_there_are() -> None:
    """Each is in the table with its subcommands, and no other."""
    documented = {}
    for cell, *_ in rows(section("## Commands")):
        if cell.startswith("`contextkit "):
            name, *below = cell.strip("`").removeprefix("contextkit ").split(maxsplit=1)
            words = re.findall(r"[a-z]+", below[0]) if below else []
            documented[name] = set(words)
    command = re.compile(r"^  ([a-z][a-z-]*)  ", re.MULTILINE)
    runner = CliRunner()
    there = {}
    for name in command.findall(runner.invoke(cli, ["--help"]).stdout):
        shown = runner.invoke(cli, [name, "--help"]).stdout
        there[name] = set(command.findall(shown))
    assert documented == there


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!https?:)([^)]+)\)", README))))
def test_links_lead_somewhere(link: str) -> None:
    """Files that the README speaks of are there, and so are its own headings."""
    if link.startswith("#"):
        headings = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
        assert link[1:] in {heading.lower().replace(" ", "-") for heading in headings}
    else:
        assert (ROOT / link).exists()
