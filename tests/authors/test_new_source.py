"""`contextkit new-source`: a distribution that works at once, and never in another's place."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from contextkit.cli.new_source_files import NewSource, NewSourceError
from contextkit.cli.root import cli

if TYPE_CHECKING:
    from tests.authors.conftest import Beside

pytestmark = pytest.mark.one_python


ROOT = Path(__file__).parents[2]
LONG = "a-rather_long-name-of-a-source-that-somebody-wants"
FILES = [
    "README.md",
    "pyproject.toml",
    "src/contextkit_weather/__init__.py",
    "src/contextkit_weather/py.typed",
    "tests/test_conformance.py",
    "tests/test_source.py",
]


@pytest.fixture(scope="module")
def installed(beside: Beside) -> Beside:
    """`contextkit new-source weather && pip install ./contextkit-weather`."""
    beside.run("-m", "contextkit.cli", "new-source", "weather", folder=beside.root)
    beside.install(beside.root / "contextkit-weather")
    return beside


def test_its_tests_pass_at_once(installed: Beside) -> None:
    """Its own and the conformance suite, with nothing changed."""
    assert "31 passed" in installed.test(installed.root / "contextkit-weather")


def test_it_is_a_source_like_any_other(installed: Beside) -> None:
    """It is listed with its distribution, and what it finds is in the context."""
    listed = installed.run("-m", "contextkit.cli", "sources", "--json")
    sources = {source["name"]: source for source in json.loads(listed.stdout)}
    weather = sources["weather"]
    assert (weather["state"], weather["distribution"]) == ("on", "contextkit-weather")
    (installed.workspace / "weather.md").write_text("Rain until noon.\n\nThen sun.\n")
    ran = installed.run("-m", "contextkit.cli", "assemble", "will there be rain?")
    assert "## Weather\n\nRain until noon." in ran.stdout


def test_a_source_of_records_works_at_once(beside: Beside) -> None:
    """`new-source --records`: its tests pass, and its commands and tools are there."""
    command = ("-m", "contextkit.cli")
    beside.run(*command, "new-source", "--records", "recipes", folder=beside.root)
    beside.install(beside.root / "contextkit-recipes")
    assert "32 passed" in beside.test(beside.root / "contextkit-recipes")
    added = beside.run(*command, "recipes", "add", "Porridge: oats and milk", "-t", "breakfast")
    assert added.stdout.startswith("Added recipe_")
    ran = beside.run(*command, "assemble", "what goes into porridge?")
    assert "## Recipes\n\nPorridge: oats and milk" in ran.stdout


def test_its_name_is_taken_now(installed: Beside, tmp_path: Path) -> None:
    """A second one of the same name is refused, also elsewhere."""
    ran = subprocess.run(
        [sys.executable, "-m", "contextkit.cli", "new-source", "weather"],
        cwd=tmp_path,
        env=installed.variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "there is a plugin 'weather' already: choose another name" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_they_are_clean(tmp_path: Path) -> None:
    """Ruff and mypy --strict have nothing to say, whatever the name, by their settings and ours."""
    written: dict[str, list[Path]] = {}
    for records in (False, True):
        for name in ("weather", LONG, "x", "books", "dishes", "none"):
            source = NewSource(name, records)
            (tmp_path / str(records)).mkdir(exist_ok=True)
            source.write(tmp_path / str(records))
            written.setdefault(name, []).append(tmp_path / str(records) / source.distribution)

    def clean(*command: str, folder: Path = tmp_path) -> None:
        environment = {**os.environ, "MYPYPATH": str(folder / "src")}
        whole = [sys.executable, "-m", *command]
        ran = subprocess.run(
            whole, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout

    clean("ruff", "check", "--no-cache", ".")
    clean("ruff", "format", "--no-cache", "--check", ".")
    short = [str(folder / "src") for name in written if name != LONG for folder in written[name]]
    rules = ("--select", "E,F,I,B,UP,D,PL", "--ignore", "PLC0415")
    clean("ruff", "check", "--no-cache", "--config", str(ROOT / "pyproject.toml"), *rules, *short)
    for folder in written["weather"]:
        cache = ("--cache-dir", str(tmp_path / "cache"))
        clean("mypy", "--strict", *cache, "src", "tests", folder=folder)


# -- on the command line ----------------------------------------------------------------------


@pytest.fixture
def contextkit(tmp_path: Path) -> Callable[..., Result]:
    """The command line in an empty folder."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["-C", str(tmp_path), *arguments])

    return run


def said(result: Result) -> str:
    """The one line of a command that failed."""
    assert result.exit_code == 2, result.stdout
    (line,) = result.stderr.splitlines()
    return line.removeprefix("contextkit: ")


def test_the_files_are_listed(contextkit: Callable[..., Result], tmp_path: Path) -> None:
    """For a person with what to do next, for a program as JSON."""
    shown = contextkit("new-source", "weather", "--into", str(tmp_path))
    folder = tmp_path / "contextkit-weather"
    assert shown.stdout.splitlines()[: len(FILES)] == [str(folder / file) for file in FILES]
    assert f'pip install -e "{folder}[test]"' in shown.stdout
    result = contextkit("new-source", "tides", "--into", str(tmp_path), "--json")
    data: dict[str, Any] = json.loads(result.stdout)
    assert data["folder"] == str(tmp_path / "contextkit-tides")
    assert [Path(file).is_file() for file in data["files"]] == [True] * len(FILES)


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("recipes", "recipe"),
        ("status", "status"),
        ("addresses", "address"),
        ("address", "address"),
        ("daily-news", "daily_news"),
        ("a", "a"),
    ],
)
def test_records_are_called_by_the_singular(tmp_path: Path, name: str, noun: str) -> None:
    """In tools and sentences, without an article that may not fit; other words stay."""
    NewSource(name, records=True).write(tmp_path)
    read_me = (tmp_path / f"contextkit-{name}" / "README.md").read_text(encoding="utf-8")
    assert f"`add_{noun}`" in read_me
    assert f"declares the parts of each {noun}." in read_me


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("My Weather", "not a source's name: lower-case .*; 'my-weather' would do"),
        ("wetter.de", "not a source's name: .*; 'wetter-de' would do"),
        ("", "'' is not a source's name"),
        ("1st", "'1st' is not a source's name"),
        ("wéather", "is not a source's name"),
        ("../weather", "is not a source's name"),
        ("a" * 51, "50 characters at most"),
        ("weather-", "use single - or _"),
        ("my--weather", "use single - or _"),
        ("my_-weather", "use single - or _"),
        ("contextkit-weather", "begins with contextkit- already: use 'weather'"),
        ("memories", "there is a plugin 'memories' already"),
        ("core", "contextkit-core is installed already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    contextkit: Callable[..., Result], tmp_path: Path, name: str, message: str
) -> None:
    """In one line that says what would do; nothing is written."""
    assert re.search(message, said(contextkit("new-source", "--into", str(tmp_path), "--", name)))
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_differs_in_its_dashes_alone_is_taken() -> None:
    """Settings and distributions do not tell - from _."""
    with pytest.raises(NewSourceError, match="there is a plugin 'my_tides' already"):
        NewSource("my-tides").check_name(["my_tides"])


def test_nothing_is_overwritten(contextkit: Callable[..., Result], tmp_path: Path) -> None:
    """Neither a folder nor a file, nor a link to nowhere."""
    kept = tmp_path / "contextkit-weather"
    kept.mkdir()
    (kept / "mine.txt").write_text("mine")
    (tmp_path / "contextkit-tides").write_text("mine")
    (tmp_path / "contextkit-snow").symlink_to(tmp_path / "nowhere")
    for name in ("weather", "tides", "snow"):
        line = said(contextkit("new-source", name, "--into", str(tmp_path)))
        assert line == f"{tmp_path / f'contextkit-{name}'} already exists: nothing is overwritten"
    assert [path.name for path in kept.iterdir()] == ["mine.txt"]
    assert len(list(tmp_path.iterdir())) == 3


def test_the_folder_must_be_there(contextkit: Callable[..., Result], tmp_path: Path) -> None:
    """A slip in the path makes no folders."""
    line = said(contextkit("new-source", "weather", "--into", str(tmp_path / "scr")))
    assert line == f"{tmp_path / 'scr'} is not a folder: make it first"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no folder like it")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The system's reason is in the line, and nothing is left."""
    with pytest.raises(NewSourceError, match=r"cannot write /proc/contextkit-weather: "):
        NewSource("weather").write(Path("/proc"))
