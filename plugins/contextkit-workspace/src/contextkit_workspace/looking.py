"""Look at a workspace's files and git status, and keep both while nothing changes.

Git takes two processes, which is most of the time of an answer. Looking up the times of every
listed file and folder takes much less, and shows every change that git would: files written,
made, deleted or moved change their own times or those of their folder, and commits, branches
and fetches those of git's own files.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from contextkit.concurrency import in_thread
from contextkit.indexing import Folder
from contextkit_workspace.edited_files import as_text, edit_time, workspace_files
from contextkit_workspace.git_state import GitStatus, git_status

_LASTS_SECONDS = 600.0
"""The user's own ignore rules are outside the workspace, and a change of them is not noticed."""

_RACE_SECONDS = 0.1
"""The clock of a file system may be this much behind."""

_MOST_WORKSPACES = 8

_Mark = tuple[int, ...] | None
"""What changes with a file: its number, size and times; None if it is missing."""


@frozen
class Look:
    """A workspace's files and git status.

    Attributes:
        paths: the files, sorted.
        times: path -> its modification time.
        git: the state from git, or None.
    """

    paths: Sequence[str]
    times: dict[str, float]
    git: GitStatus | None


@frozen
class _Kept:
    """A look, and what would show that it is out of date.

    Attributes:
        look: the look.
        at: when it was taken, in seconds since the epoch.
        inside: each listed path and each of their folders, with its mark.
        outside: git's own files, the root and the like, with their marks.
    """

    look: Look
    at: float
    inside: Mapping[str, _Mark]
    outside: Mapping[str, _Mark]

    def is_current(self, root: Path) -> bool:
        """Whether nothing has changed since."""
        if not 0 <= time.time() - self.at < _LASTS_SECONDS:
            return False
        folder = Folder(root)
        return all(_mark_outside(path) == mark for path, mark in self.outside.items()) and all(
            _mark(folder.look_up(path)) == mark for path, mark in self.inside.items()
        )

    @property
    def is_safe(self) -> bool:
        """Whether a change in the moment of the look cannot have been missed."""
        marks = (*self.inside.values(), *self.outside.values())
        newest = max((mark[-1] for mark in marks if mark is not None), default=0)
        return newest / 1e9 < self.at - _RACE_SECONDS


_kept: dict[Path, _Kept] = {}


async def look_at(root: Path) -> Look:
    """Return a workspace's files and git status, as they are now."""
    kept = _kept.get(root)
    if kept is not None and await in_thread(lambda: kept.is_current(root)):
        return kept.look
    began = time.time()
    async with asyncio.TaskGroup() as group:
        listing = group.create_task(in_thread(lambda: workspace_files(Folder(root))))
        asking = group.create_task(in_thread(lambda: git_status(root)))
    listed, git = listing.result(), asking.result()
    return await in_thread(lambda: _look(root, listed, git, began))


def _look(root: Path, listed: Sequence[str], git: GitStatus | None, began: float) -> Look:
    folder = Folder(root)
    found = {path: folder.look_up(path) for path in listed}
    times = {
        as_text(path): edit_time(status)
        for path, status in found.items()
        if isinstance(status, os.stat_result) and stat.S_ISREG(status.st_mode)
    }
    look = Look(list(map(as_text, listed)), times, git)
    _kept.pop(root, None)
    # The commit of a submodule changes none of the files that are watched.
    if git is not None and not any(map(_is_folder, found.values())):
        found |= {path: folder.look_up(path) for path in _folders(listed)}
        kept = _Kept(
            look,
            began,
            {path: _mark(status) for path, status in found.items()},
            {path: _mark_outside(path) for path in (str(root), *git.watched)},
        )
        if kept.is_safe:
            _keep(root, kept)
    return look


def _keep(root: Path, kept: _Kept) -> None:
    if len(_kept) >= _MOST_WORKSPACES:
        _kept.clear()
    _kept[root] = kept


def _is_folder(status: object) -> bool:
    return isinstance(status, os.stat_result) and stat.S_ISDIR(status.st_mode)


def _folders(paths: Sequence[str]) -> set[str]:
    folders: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    return folders


def _mark_outside(path: str) -> _Mark:
    try:
        return _mark(Path(path).stat())
    except OSError:
        return None


def _mark(status: object) -> _Mark:
    if not isinstance(status, os.stat_result):
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
