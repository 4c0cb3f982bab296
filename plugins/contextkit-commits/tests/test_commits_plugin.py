"""The plugin as the core sees it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import contextkit_commits


def test_the_source_says_what_it_is(hooks: Any) -> None:
    """Title, place, embedder and the fields that its filters use."""
    info = hooks.contextkit_source()
    assert (info.title, info.priority, info.embedder) == ("Commits", 50, "default")
    assert info.scale == "calibrated"
    assert "author" in info.indexed_fields


def test_the_weight_is_the_seeds(hooks: Any) -> None:
    """Commits weigh twice as much as memories."""
    assert hooks.contextkit_source().weight == 2.0


def test_the_entry_point_names_the_package() -> None:
    """The distribution offers the source under the name `commits`."""
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    entries = tomllib.loads(pyproject.read_text())["project"]["entry-points"]["contextkit"]
    assert entries == {"commits": "contextkit_commits"}
    assert EntryPoint("commits", entries["commits"], "contextkit").load() is contextkit_commits


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        ({}, []),
        ({"max_commits": 0, "git_timeout": 2.5}, []),
        ({"max_commits": 10**9, "git_timeout": 5}, []),
        ({"max_commits": -1}, ["max_commits"]),
        ({"max_commits": "many"}, ["max_commits"]),
        ({"max_commits": True}, ["max_commits"]),
        ({"max_commits": 2.5}, ["max_commits"]),
        ({"git_timeout": 0}, ["git_timeout"]),
        ({"git_timeout": 86_400.5}, ["git_timeout"]),
        ({"git_timeout": 10**400}, ["git_timeout"]),
        ({"git_timeout": False}, ["git_timeout"]),
        ({"git_timeout": float("nan")}, ["git_timeout"]),
        ({"git_timeout": "1"}, ["git_timeout"]),
        ({"branch": "main", "depth": 3}, ["branch", "depth"]),
    ],
)
def test_settings_are_checked(hooks: Any, settings: dict[str, Any], problems: list[str]) -> None:
    """Every wrong setting is told by its name and what would be right."""
    told = list(hooks.contextkit_source().setting_problems("commits", settings))
    assert [problem.partition(": ")[0] for problem in told] == problems
    assert all("must be" in problem or "no such setting" in problem for problem in told)


def test_importing_the_plugin_loads_nothing_heavy() -> None:
    """Whoever only loads plugins waits for none of what this one works with."""
    heavy = ["asyncio", "numpy", "qdrant_edge", "structlog", "subprocess", "contextkit.store"]
    code = (
        "import sys, contextkit_commits; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
