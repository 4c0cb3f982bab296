"""List a workspace's files, and those edited by hand."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice

from contextkit.indexing import TOOL_FOLDERS, Folder, git_files

_MOST_FILES = 50_000
_PASSED_OVER = TOOL_FOLDERS | {"target"}
_WRITTEN_AT_ONCE = 50
_MINUTE = 60
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def workspace_files(root: Folder) -> list[str]:
    """Return the files below a folder, sorted.

    They are those of git, or without it those outside hidden folders. Names are as in the file
    system; `as_text` returns a form that can be shown.
    """
    listed = git_files(root.root).paths
    if listed is None:
        listed = list(islice(root.walk(_enters), _MOST_FILES))
    return sorted(listed)


def edit_time(status: os.stat_result) -> float:
    """Return a file's modification time, in seconds since the epoch.

    A file may have any time; one outside the calendar becomes the nearest that is within it.
    """
    return min(max(status.st_mtime, 0.0), _LATEST)


def as_text(path: str) -> str:
    """Return a path with bytes that are not UTF-8 replaced."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")


def edited_by_hand(times: Mapping[str, float]) -> dict[str, float]:
    """Return the files and times without those of generated files.

    A checkout, a clone or a build writes many files at once: over 50 in one minute do not count as
    edits.
    """
    minutes = Counter(int(time // _MINUTE) for time in times.values())
    return {
        path: time
        for path, time in times.items()
        if minutes[int(time // _MINUTE)] <= _WRITTEN_AT_ONCE
    }


def _enters(path: str) -> bool:
    name = path.rstrip("/").rpartition("/")[2]
    return not name.startswith(".") and name not in _PASSED_OVER
