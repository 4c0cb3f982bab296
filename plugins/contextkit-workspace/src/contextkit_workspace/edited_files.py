"""The files of a workspace, and which of them were edited lately."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from contextkit.workspace import walk_files
from contextkit_workspace.git_state import git_files

__all__ = ["edit_times", "recently_edited", "workspace_files"]

_MOST_FILES = 50_000
_PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages", "target", "venv"})
_WRITTEN_AT_ONCE = 50
_MINUTE = 60
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def workspace_files(root: Path) -> list[str]:
    """The files below a folder, sorted: git's, or without it those outside hidden folders."""
    listed = git_files(root)
    return sorted(_walked(root)) if listed is None else listed


def edit_times(root: Path, paths: Sequence[str]) -> dict[str, float]:
    """When the content of each file was last written, seconds since the epoch.

    What is no regular file, or is not there, is left out. A file may say that it was written
    at any time; one that no calendar has is the nearest that it has.
    """
    times = {}
    folder = str(root)
    for path in paths:
        try:
            status = os.lstat(f"{folder}{os.sep}{path}")
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            times[path] = min(max(status.st_mtime, 0.0), _LATEST)
    return times


def recently_edited(times: Mapping[str, float], since: float) -> dict[str, float]:
    """The files that were edited since a time, but those that a program wrote.

    A checkout, a clone or a build writes many files at once: over 50 in one minute are no
    edits.
    """
    minutes = Counter(int(time // _MINUTE) for time in times.values())
    return {
        path: time
        for path, time in times.items()
        if time >= since and minutes[int(time // _MINUTE)] <= _WRITTEN_AT_ONCE
    }


def _walked(root: Path) -> Iterator[str]:
    for path in islice(walk_files(root, _is_entered), _MOST_FILES):
        yield os.fsencode(path).decode("utf-8", "replace")


def _is_entered(folder: str) -> bool:
    name = folder.rpartition("/")[2]
    return not name.startswith(".") and name not in _PASSED_OVER
