"""Look at files of a workspace, of which some may have changed."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from contextkit.indexing import Folder
from contextkit_memories.occurrences import NOT_FOUND, grade

_MAX_BYTES = 1_000_000
_GONE = (FileNotFoundError, NotADirectoryError)


def exists(folder: Folder, path: str) -> bool:
    """Whether there may be a file or folder: False only where there is none."""
    return not isinstance(folder.look_up(path), _GONE)


def grade_in(folder: Folder, path: str, name: str) -> int:
    """Tell how a file contains a name, as `grade` does.

    A file that is missing, unreadable or longer than 1 MB does not contain it.
    """
    status = folder.look_up(path)
    if not isinstance(status, os.stat_result):
        return NOT_FOUND
    stamp = status.st_mtime_ns, status.st_size
    return _grade_at(str(folder.root), path, stamp, name)


@functools.lru_cache(maxsize=4096)
def _grade_at(root: str, path: str, stamp: tuple[int, int], name: str) -> int:  # noqa: ARG001
    # The stamp changes with the file.
    try:
        content, _ = Folder(Path(root)).read(path, _MAX_BYTES)
    except (OSError, ValueError):
        return NOT_FOUND
    return grade(content.decode("utf-8", "replace"), path, name)
