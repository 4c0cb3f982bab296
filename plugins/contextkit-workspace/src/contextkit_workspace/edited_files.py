"""The files of a workspace, and which of them were edited lately."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice

from contextkit.indexing import Folder, git_files

_MOST_FILES = 50_000
_PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages", "target", "venv"})
_WRITTEN_AT_ONCE = 50
_MINUTE = 60
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def workspace_files(root: Folder) -> list[str]:
    """The files below a folder, sorted: git's, or without it those outside hidden folders.

    As the file system has their names; `as_text` gives what can be shown.
    """
    listed = git_files(root.root).paths
    if listed is None:
        listed = list(islice(root.walk(_enters), _MOST_FILES))
    return sorted(listed)


def edit_times(root: Folder, paths: Sequence[str]) -> dict[str, float]:
    """When the content of each file was last written, seconds since the epoch.

    What is no regular file, has a link for a folder, or is not there, is left out. A file may
    say that it was written at any time; one that no calendar has is the nearest that it has.
    """
    times = {}
    for path in paths:
        status = root.look_up(path)
        if isinstance(status, os.stat_result) and stat.S_ISREG(status.st_mode):
            times[as_text(path)] = min(max(status.st_mtime, 0.0), _LATEST)
    return times


def as_text(path: str) -> str:
    """A path with what is not UTF-8 replaced."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")


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


def _enters(path: str) -> bool:
    name = path.rstrip("/").rpartition("/")[2]
    return not name.startswith(".") and name not in _PASSED_OVER
