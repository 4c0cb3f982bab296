"""The pages, executed: what they say works, what they show is real, their links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from contextkit.config.strategies import BUILT_IN
from tests.running import PACKAGES

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[1]
QUERY = "how is the token budget split?"
BUDGET = '''\
def split_budget(total, weights):
    """Split the token budget over the sources by their weights."""
    whole = sum(weights.values())
    return {name: total * weight // whole for name, weight in weights.items()}
'''
COMMANDS = "contextkit/cli/README.md"
CONFIGURATION = "contextkit/config/README.md"
STRATEGIES = "contextkit/config/strategies.md"
DATA = "contextkit/store/README.md"
PYTHON = "contextkit/kit.md"
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for folder in (".github", "contextkit", "examples", "plugins", "tests")
    for page in [*ROOT.glob(f"{folder}/**/*.md"), *ROOT.glob("*.md")]
    # Contexts as an agent was given them, with the links of what is quoted.
    if "a_session" not in page.parts and ".venv" not in page.parts
)


@cache
def page(path: str = "README.md") -> str:
    """The text of a page."""
    return (ROOT / path).read_text(encoding="utf-8")


def lines_outside_fences(text: str) -> list[tuple[str, bool]]:
    """Each line, and whether it is outside of every fenced block."""
    found = []
    fence = ""
    for line in text.splitlines(keepends=True):
        opened = re.match(r"`{3,}", line)
        outside = not fence and not opened
        if opened and (not fence or line.rstrip() == fence):
            fence = "" if fence else opened[0]
        found.append((line, outside))
    return found


def section(title: str, path: str = "README.md") -> str:
    """The text below a heading, up to the next one of its level."""
    level = title.split(maxsplit=1)[0]
    below: list[str] | None = None
    for line, outside in lines_outside_fences(page(path)):
        if outside and re.match(rf"#{{1,{len(level)}}} ", line):
            if below is not None:
                break
            below = [] if line.rstrip() == title else None
        elif below is not None:
            below.append(line)
    assert below is not None, title
    return "".join(below)


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    found = re.findall(rf"^(`{{3,}}){language}\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)
    return [block for _, block in found]


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
    run, test = blocks(section("## Install"), "sh")
    assert run.count("\n") == test.count("\n") == 1
    assert run.rstrip().endswith(f'&& contextkit assemble "{QUERY}"')
    assert test.rstrip().endswith("&& pytest")
    for line in (run, test):
        assert line.startswith("python3 -m venv .venv && . .venv/bin/activate && pip install ")


def test_the_programs_that_tests_need_can_be_installed() -> None:
    """The page of the tests has a command that installs the packages of all of them."""
    install, *_ = blocks(page("tests/README.md"), "sh")
    assert install == f"sudo apt-get install {' '.join(PACKAGES.values())}\n"


def test_the_tour_can_be_followed(scratch: Path) -> None:
    """Each block of commands works after the one before it, on from page to page."""
    tour = section("## Tour")
    tasks = section("## Common tasks", COMMANDS)
    configuring = page(CONFIGURATION).partition("\n## ")[0]
    upgrading = section("## Upgrading", DATA)
    shown = ""
    for text in (tour, tasks, configuring, upgrading):
        for script in blocks(text, "sh"):
            ran = shell(script, scratch)
            shown += ran.stdout
            assert "internal error" not in ran.stderr
    for expected in ("## Code", "## Commits", "## Memories", "## Experiences", "# Premortem"):
        assert expected in shown
    assert f"off by {scratch / 'contextkit.toml'}:5" in shown
    assert "off by CONTEXTKIT_SOURCES_VALUES_ENABLED" in shown


def test_the_output_of_the_tour_is_real(scratch: Path) -> None:
    """The README shows what the tour's first command prints, to the letter."""
    (shown,) = blocks(section("## What an agent reads"), "text")
    first = blocks(section("## Tour"), "sh")[0].splitlines()[0]
    assert shell(first, scratch).stdout == shown


def test_the_example_of_mcp_settings_starts_the_server() -> None:
    """It is JSON, and names a command that there is."""
    (settings,) = blocks(section("## Your coding agent"), "json")
    server = json.loads(settings)["mcpServers"]["contextkit"]
    ran = subprocess.run(
        [server["command"], *server["args"], "--help"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, "MCP server" in ran.stdout) == (0, True)


@pytest.mark.parametrize("path", ["README.md", PYTHON])
def test_the_python_of_the_pages_runs(scratch: Path, path: str) -> None:
    """A host may copy it as it stands."""
    script = next(block for block in blocks(page(path), "python") if "ContextKit.open" in block)
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


def test_the_strategies_can_be_followed(scratch: Path) -> None:
    """Its commands work one after the other, and list the strategies that it names."""
    text = page(STRATEGIES)
    shown = "".join(shell(script, scratch).stdout for script in blocks(text, "sh"))
    assert re.search(r"^\*  review ", shown, re.MULTILINE)
    assert "strategy review: relevance 1, " in shown
    assert all(f"| `{name}` |" in text for name in BUILT_IN)


def anchors(path: str) -> set[str]:
    """What a link to a heading of a page may end with, as GitHub makes it."""
    headings = [
        line.lstrip("#").strip().lower()
        for line, outside in lines_outside_fences(page(path))
        if outside and re.match(r"#+ ", line)
    ]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES)
def test_links_lead_somewhere(path: str) -> None:
    """Files that a page links to are there, and so are the headings."""
    prose = "".join(line for line, outside in lines_outside_fences(page(path)) if outside)
    for link in set(re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose)):
        name, _, heading = link.partition("#")
        target = (ROOT / path).parent / name if name else ROOT / path
        assert target.exists(), link
        if heading and target.suffix == ".md":
            assert heading in anchors(target.resolve().relative_to(ROOT).as_posix()), link
