"""Outdated memories: that it measures, on a history of two commits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextkit.testing.repositories import Git, own_git
from tests.benchmarks.quality.outdated import main

BODY = "\n".join(f"    step_{n}()" for n in range(9))
OLD = {
    "stay.py": f"def stays_here():\n{BODY}\n",
    "move.py": f"def moves_along():\n{BODY}\n",
    "folder/gone.py": "def goes_away():\n    pass\n",
}


@pytest.fixture
def git(tmp_path: Path) -> Iterator[Git]:
    """A repository `repos/small` in which one file is moved and one deleted."""
    folder = tmp_path / "repos" / "small"
    (folder / "folder").mkdir(parents=True)
    with own_git(folder) as git:
        git("init", "-q")
        for path, text in OLD.items():
            (folder / path).write_text(text)
        git("add", "-A")
        git("commit", "-qm", "Old")
        git("tag", "old")
        git("mv", "move.py", "moved.py")
        git("rm", "-q", "folder/gone.py")
        git("commit", "-qm", "New")
        git("tag", "new")
        yield git


def test_each_kind_of_memory_is_measured(git: Git, tmp_path: Path) -> None:
    """Those that mention what is gone are marked, and no others."""
    result = tmp_path / "result.json"
    places = ["--repos", str(git.folder.parent), "--json", str(result)]
    main([*places, "--pairs", "small=old..new", "--each", "0.25"])
    rows = {row.pop("memories"): row for row in json.loads(result.read_text())["rows"]}
    kinds = ["deleted", "moved", "renamed", "kept file", "kept name", "never", "prose"]
    assert list(rows) == [*kinds, "all broken", "all others"]
    assert (rows["all broken"]["in contexts"], rows["all others"]["in contexts"]) == (
        "1.000",
        "0.000",
    )
