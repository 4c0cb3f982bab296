"""Look at a workspace's files and git status, and keep both while nothing changes.

Git takes two processes, which is most of the time of an answer. Looking up the times of every
listed file and folder takes much less, and shows every change that git would: files written,
made, deleted or moved change their own times or those of their folder, and commits, branches
and fetches those of git's own files. Of two thousand files even that takes five milliseconds, so
an answer that depends on a few files looks up only those and the folders.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
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

_mark_of = attrgetter("st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


@frozen(eq=False)
class Look:
    """A workspace's files and git status.

    It equals no other, so that what is derived from it can be cached by it.

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
        outside: git's own files, the root and the like, with their marks.
        around: absolute path -> mark of what decides on the listing: the folders of listed
            files, outermost first, and their ignore rules.
        files: listed path, as in `Look.paths` -> its absolute path and mark.
    """

    look: Look
    at: float
    outside: Mapping[str, _Mark]
    around: Mapping[str, _Mark]
    files: Mapping[str, tuple[str, _Mark]]

    def is_current(self, paths: Iterable[str] | None) -> bool:
        """Whether nothing has changed since, but for files other than these; None for all."""
        if not 0 <= time.time() - self.at < _LASTS_SECONDS:
            return False
        looked_up = self.files.values() if paths is None else [self.files[path] for path in paths]
        # A folder that became a link has another mark, and nothing behind it is looked at.
        return all(
            _mark_at(path, look_up) == mark
            for look_up, marks in (
                (os.stat, self.outside.items()),
                (os.lstat, self.around.items()),
                (os.lstat, looked_up),
            )
            for path, mark in marks
        )

    @property
    def is_safe(self) -> bool:
        """Whether a change in the moment of the look cannot have been missed."""
        files = (mark for _, mark in self.files.values())
        marks = (*files, *self.around.values(), *self.outside.values())
        newest = max((mark[-1] for mark in marks if mark is not None), default=0)
        return newest / 1e9 < self.at - _RACE_SECONDS


_kept: dict[Path, _Kept] = {}


def kept_look(
    root: Path, files: Callable[[Look], Iterable[str] | None] = lambda _: None
) -> Look | None:
    """Return the last look at a workspace if nothing has changed since, else None; blocks.

    Args:
        root: the workspace.
        files: returns the files whose changes matter, of the look's paths; None for all.
            Made, moved and deleted files always matter, and ignore rules.
    """
    kept = _kept.get(root)
    return kept.look if kept is not None and kept.is_current(files(kept.look)) else None


async def look_at(root: Path) -> Look:
    """Look at a workspace's files and git status anew."""
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
        outside = {path: _mark_at(path, os.stat) for path in (str(root), *git.watched)}
        folders = {path: folder.look_up(path) for path in sorted(_folders(listed))}
        rules = {path: status for path, status in found.items() if path.endswith(".gitignore")}
        around = {f"{root}/{path}": _mark(status) for path, status in (folders | rules).items()}
        files = {as_text(path): (f"{root}/{path}", _mark(found[path])) for path in listed}
        kept = _Kept(look, began, outside, around, files)
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


def _mark_at(path: str, look_up: Callable[[str], os.stat_result]) -> _Mark:
    try:
        return _mark_of(look_up(path))
    except OSError:
        return None


def _mark(status: object) -> _Mark:
    return _mark_of(status) if isinstance(status, os.stat_result) else None
