"""What `contextkit.testing` gives for an author's own tests: kits, tools, the command line."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import pytest
import structlog

from contextkit import ContextItem, ContextRequest, InvalidRequestError, Record, Tool, hookimpl
from contextkit.errors import ConfigError, DuplicateSourceError
from contextkit.testing import (
    ToolCaller,
    command_line,
    file_permissions_apply,
    open_kit,
    printed_json,
    write_distribution,
)
from contextkit.testing.surroundings import CheckoutError, own_home, plugins_installed

PYPROJECT = """\
[project]
name = "my-tide"
version = "3.2"
[project.entry-points.contextkit]
tide = "contextkit_test_tide"
moon = "contextkit_test_tide:Moon"
"""
PLUGIN = """\
from contextkit import ContextItem, hookimpl


@hookimpl
def contextkit_query():
    return [ContextItem("tide", "High water at noon", 1.0, id="noon")]


class Moon:
    pass
"""


class Tide:
    """A source with a tool."""

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """What the store finds."""
        hits = await request.records.search(request.query, limit=request.limit)
        return [ContextItem("tide", hit.record.text, hit.relevance) for hit in hits]

    @hookimpl
    def contextkit_tools(self) -> list[Tool]:
        """How many there are of a word."""

        def count_tides(kit: Any, word: Annotated[str, "which"] = "") -> dict[str, int]:
            if word == "ebb":
                raise ValueError("there is no ebb here")
            return {"tides": sum(word in each.text for each in kit.records("tide").scan())}

        return [Tool(name="count_tides", description="How many.", run=count_tides)]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin's folder, whose module can be imported, and which nobody has installed."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "contextkit_test_tide.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "contextkit_test_tide", raising=False)
    return folder


# -- kits -------------------------------------------------------------------------------------


def test_a_kit_has_its_plugins_and_no_others(tmp_path: Path) -> None:
    """What it stores is found; the next one begins with nothing."""
    for _ in range(2):
        with open_kit(tmp_path / "new", {"tide": Tide()}) as kit:
            assert kit.registry.sources == ["tide"]
            assert kit.records("tide").count() == 0
            kit.records("tide").put([Record(id="a", text="High water at noon")])
            assert "High water at noon" in kit.assemble_context_sync("high water").markdown


def test_a_kit_reads_what_it_is_given_and_the_workspaces_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the environment's settings nor those of a folder above count."""
    monkeypatch.setenv("CONTEXTKIT_ASSEMBLE_MAX_TOKENS", "77")
    (tmp_path / "contextkit.toml").write_text('project = "above"\n')
    workspace = tmp_path / "below"
    with open_kit(workspace, {}, settings={"embedding.model": "none"}) as kit:
        assert (kit.workspace.root, kit.project) == (workspace, str(workspace))
        config = kit.config
    assert config.embedding.model == "none"
    assert config.assemble.max_tokens != 77
    assert (config.assemble.source_timeout, config.assemble.deadline) == (30.0, 30.0)
    (workspace / "contextkit.toml").write_text('project = "p"\n[assemble]\ndeadline = 3\n')
    with open_kit(workspace, {}) as kit:
        assert (kit.project, kit.config.assemble.deadline) == ("name:p", 3.0)


def test_what_a_kit_cannot_be_is_said(tmp_path: Path) -> None:
    """As `ContextKit.open` and `register` do; the environment is put back all the same."""
    before = dict(os.environ)
    with (
        pytest.raises(ConfigError, match=r"assemble\.deadline"),
        open_kit(tmp_path, {}, settings={"assemble.deadline": -1}),
    ):
        pass
    with open_kit(tmp_path, {"tide": Tide()}) as kit, pytest.raises(DuplicateSourceError):
        kit.register(Tide(), "tide")
    assert dict(os.environ) == before


async def test_a_tool_is_called_as_a_host_calls_it(tmp_path: Path) -> None:
    """By its name, its arguments checked, its errors raised."""
    with open_kit(tmp_path, {"tide": Tide()}, settings={"embedding.model": "none"}) as kit:
        kit.records("tide").put([Record(id="a", text="spring tide"), Record(id="b", text="neap")])
        call = ToolCaller(kit)
        assert (await call("count_tides")).data == {"tides": 2}
        answer = await call("count_tides", word="spring")
        assert (answer.data, json.loads(answer.text)) == ({"tides": 1}, {"tides": 1})
        with pytest.raises(InvalidRequestError, match="word"):
            await call("count_tides", word=7)
        with pytest.raises(Exception, match="there is no ebb here"):
            await call("count_tides", word="ebb")
        with pytest.raises(LookupError, match="count_tide"):
            await call("count_tide")


# -- the command line -------------------------------------------------------------------------


def test_the_command_line_has_the_plugin_as_its_pyproject_says(
    tmp_path: Path, checkout: Path
) -> None:
    """All of its entry points, with its distribution's name and version, as long as it is open."""
    with command_line(tmp_path / "workspace", checkout) as run:
        assert run.workspace == tmp_path / "workspace"
        listed = {row["name"]: row for row in printed_json(run("sources", "--json"))}
        assert (listed["tide"]["state"], listed["tide"]["distribution"]) == ("on", "my-tide")
        assert {"tide", "moon"} <= listed.keys()
        assert importlib.metadata.version("my-tide") == "3.2"
        assembled = run("assemble", "-", "--sources", "tide", given="when is it?")
        assert "High water at noon" in assembled.stdout
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("my-tide")


def test_variables_of_all_runs_and_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the process are no settings, and are as they were at the end."""
    monkeypatch.setenv("CONTEXTKIT_PROJECT", "mine")
    monkeypatch.setenv("CONTEXTKIT_NONSENSE", "1")
    before = dict(os.environ)

    def project(**variables: str) -> str:
        shown = printed_json(run("config", "show", "--json", **variables))
        return str(shown["settings"]["project"]["value"])

    with command_line(tmp_path, CONTEXTKIT_PROJECT="demo", TIDE="high", HOME="/h") as run:
        assert (os.environ["TIDE"], os.environ["HOME"]) == ("high", "/h")
        assert project() == "demo"
        assert project(CONTEXTKIT_PROJECT="other") == "other"
        assert project() == "demo"
        assert "CONTEXTKIT_NONSENSE" not in os.environ
        monkeypatch.setenv("CONTEXTKIT_MORE", "1")
    assert dict(os.environ) == before


def test_logging_is_as_it_was(tmp_path: Path) -> None:
    """A command configures it for its process, which here goes on."""
    structlog.configure(cache_logger_on_first_use=False)
    before = structlog.get_config()
    with command_line(tmp_path) as run:
        run("sources", "--debug")
        structlog.configure(processors=[])
    assert structlog.get_config() == before


def test_a_command_that_failed_has_printed_no_json(tmp_path: Path) -> None:
    """The error is what it said."""
    with command_line(tmp_path) as run, pytest.raises(AssertionError, match="contextkit: "):
        printed_json(run("assemble", "x", "--max-tokens", "-1", "--json"))


@pytest.mark.parametrize(
    "text",
    [
        None,
        "[project",
        "[tool.ruff]\n",
        "[project]\nname = 'x'\n",
        "[project]\nname = 'x'\nentry-points = 5\n",
        "[project]\nname = 'x'\n[project.entry-points]\ncontextkit = 'x'\n",
        "[project.entry-points.contextkit]\nx = 'x'\n",
        "[[project]]\nname = 'x'\n",
    ],
)
def test_a_folder_that_is_no_plugins_is_named(tmp_path: Path, text: str | None) -> None:
    """In one line, with what would be right; nothing is left on the path."""
    path = list(sys.path)
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    said = pytest.raises(
        CheckoutError, match=r"entry-points\.contextkit\]: name the plugin's folder$"
    )
    with said, plugins_installed(tmp_path):
        pass
    assert sys.path == path


@pytest.mark.parametrize("inherited", [None, "/nowhere"])
def test_processes_that_are_started_see_the_plugin_too(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, inherited: str | None
) -> None:
    """What they imported from before, they still do; at the end it is as it was."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if inherited is not None:
        monkeypatch.setenv("PYTHONPATH", inherited)
    before = list(sys.path)
    code = "import importlib.metadata, sys; print(importlib.metadata.version('my-tide'), sys.path)"
    with plugins_installed(checkout):
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    version, _, path = ran.stdout.decode().partition(" ")
    assert version == "3.2"
    assert inherited is None or inherited in path
    assert (os.environ.get("PYTHONPATH"), sys.path) == (inherited, before)


def test_a_distribution_is_what_an_installer_leaves(tmp_path: Path) -> None:
    """Python finds its name, version and entry points; nothing else is in the folder."""
    site = tmp_path / "site"
    write_distribution(site, "their-tide", {"tide": "their_tide", "low": "their_tide:Low"})
    assert [each.name for each in site.iterdir()] == ["their_tide-1.0.dist-info"]
    (found,) = importlib.metadata.distributions(path=[str(site)])
    assert (found.name, found.version) == ("their-tide", "1.0")
    assert {(point.group, point.name, point.value) for point in found.entry_points} == {
        ("contextkit", "tide", "their_tide"),
        ("contextkit", "low", "their_tide:Low"),
    }


# -- homes ------------------------------------------------------------------------------------


def test_a_home_is_gone_at_the_end() -> None:
    """Also within another one, whose variables it gives back, and after an error."""
    with own_home({"CONTEXTKIT_PROJECT": "outer"}) as outer:
        with contextlib.suppress(ZeroDivisionError), own_home() as inner:
            assert os.environ["CONTEXTKIT_HOME"] == str(inner)
            assert "CONTEXTKIT_PROJECT" not in os.environ
            _ = 1 / 0
        assert not inner.exists()
        assert os.environ["CONTEXTKIT_HOME"] == str(outer)
        assert os.environ["CONTEXTKIT_PROJECT"] == "outer"


def test_file_permissions_apply_in_this_thread_alone(tmp_path: Path) -> None:
    """What `chmod` forbids is forbidden, also for root; another thread goes on as before."""
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0)
    root = os.geteuid() == 0
    with ThreadPoolExecutor(1) as other:
        assert other.submit(_can_read, secret).result() == root
        with contextlib.suppress(ZeroDivisionError), file_permissions_apply():
            assert not _can_read(secret)
            assert other.submit(_can_read, secret).result() == root
            _ = 1 / 0
    assert _can_read(secret) == root


def _can_read(file: Path) -> bool:
    try:
        return file.read_text() == "x"
    except PermissionError:
        return False
