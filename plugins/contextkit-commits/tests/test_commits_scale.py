"""Long histories."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from contextkit import Records

COMMITS = 20_000
"""So many are read."""

INDEXED = 4_000
"""So many are stored: more take longer, and no other way."""

READ_ALL = """
import resource, sys
from contextkit.workspace.git import Git
from contextkit_commits.history import CommitReader, reachable
from contextkit_commits.repository import find_repository

def peak():
    scale = 1024 if sys.platform == "darwin" else 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 // scale

repository = find_repository(Git(sys.argv[1]))
shas = reachable(repository, 0).shas
before = peak()
number = sum(1 for _ in CommitReader(repository).read(shas))
print(number, peak() - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
def test_reading_a_long_history_takes_no_memory(long_history: Callable[[int], Any]) -> None:
    """Ten megabytes of messages pass through the process, a few of them at a time."""
    repo = long_history(COMMITS)
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(repo.path)],
        capture_output=True,
        text=True,
        check=True,
    )
    number, grown = map(int, done.stdout.split())
    assert number == COMMITS
    assert grown < 16


def test_a_long_history_is_indexed_whole(
    long_history: Callable[[int], Any], index: Callable[..., Any], records: Records
) -> None:
    """All its commits are stored; then what is new alone."""
    repo = long_history(INDEXED)
    assert index(repo).added == INDEXED
    assert records.count() == INDEXED

    repo.git("checkout", "-qf", "main")
    repo.commit("One more")
    report = index(repo)
    assert (report.added, report.unchanged) == (1, INDEXED)
