"""List a work tree's files, with nested repositories, and their status."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from pathlib import Path

from attrs import field, frozen

from contextkit.workspace.folder import Folder
from contextkit.workspace.git import Git, GitError, GitFailedError, GitMissingError
from contextkit.workspace.git_folders import find_git_folders
from contextkit.workspace.tool_folders import without_tool_folders

_SECONDS = 60.0
_IGNORED, _NOT_IGNORED = 0, 1
"""Exit codes of `git check-ignore` in a work tree; outside it is greater."""
_SUBMODULE = "160000"
_TAB = "\t"
_UNTRACKED = "? "
_LINKED_WORK_TREE = b"/worktrees/"


@frozen
class WorkTreeFiles:
    """The files of a folder, according to git.

    Attributes:
        paths: the tracked files and the untracked ones that are not ignored, relative to the
            folder, as the file system has them (`os.fsdecode`), without duplicates; some may have
            been deleted. Untracked files in folders that a tool fills count as ignored. None if
            the folder belongs to no work tree, is ignored, or git fails.
        is_repository: whether the folder is a repository itself, bare or a `.git` folder.
        problem: git's error message, or None.
    """

    paths: Sequence[str] | None = None
    is_repository: bool = False
    problem: str | None = None


@frozen
class _Listed:
    """What is known of folders within a block.

    Attributes:
        files: folder -> its files.
        statuses: folder -> its status, of those that are looked at ahead.
    """

    files: dict[Path, Future[WorkTreeFiles]] = field(factory=dict)
    statuses: dict[Path, Future[str]] = field(factory=dict)


_listed_here: ContextVar[_Listed | None] = ContextVar("contextkit_listed", default=None)
_taking = threading.Lock()


@contextlib.contextmanager
def listed_once(root: Path | None = None, *, with_status: bool = False) -> Iterator[None]:
    """List each folder's files only once within the block.

    It is for a command, whose sources all see the files as they were when it started.

    Args:
        root: a folder that is listed at once, in a thread beside the block.
        with_status: whether its status is asked for likewise.
    """
    if _listed_here.get() is not None:
        yield
        return
    listed = _Listed()
    token = _listed_here.set(listed)
    try:
        if root is not None:
            run, status = copy_context().run, Future[str]() if with_status else None
            if status is not None:
                listed.statuses[root] = status
            threading.Thread(target=run, args=(_look_ahead, root, status), daemon=True).start()
        yield
    finally:
        _listed_here.reset(token)


def _look_ahead(root: Path, status: Future[str] | None) -> None:
    # `git_files` and `git_status_text` raise the errors.
    with contextlib.suppress(Exception):
        git_files(root)
    if status is not None:
        try:
            status.set_result(_status(root))
        except BaseException as error:  # noqa: BLE001 - as above
            status.set_exception(error)


def git_files(root: Path, timeout: float = _SECONDS) -> WorkTreeFiles:
    """List the files of a folder as git sees them.

    Checked-out submodules and other nested repositories are included; linked work trees of
    another repository are not. Symbolic links are not followed.

    Args:
        root: the folder.
        timeout: seconds until a git command is stopped.
    """
    listed = _listed_here.get()
    if listed is None:
        return _found(root, timeout)
    with _taking:
        is_first = root not in listed.files
        future = listed.files.setdefault(root, Future())
    if is_first:
        try:
            future.set_result(_found(root, timeout))
        except BaseException as error:
            future.set_exception(error)
            raise
    return future.result()


def git_status_text(root: Path) -> str:
    """Return what `git status --porcelain=v2 --branch -z` prints for a folder.

    Only paths below the folder are included, relative to the root of its work tree.

    Raises what `Git.run` raises.
    """
    listed = _listed_here.get()
    ahead = None if listed is None else listed.statuses.get(root)
    return _status(root) if ahead is None else ahead.result()


def _status(root: Path) -> str:
    git = Git(root)
    return git.run("status", "--porcelain=v2", "--branch", "-z", "--", git.here).text


def _found(root: Path, timeout: float) -> WorkTreeFiles:
    if find_git_folders(root).bare is not None:
        return WorkTreeFiles(is_repository=True)
    problem = None
    try:
        if _is_wanted(Git(root, timeout)):
            return WorkTreeFiles(list(dict.fromkeys(_listed(Folder(root), "", timeout))))
    except GitMissingError:
        pass
    except GitFailedError as error:
        if not error.complaint.startswith("not a git repository"):
            problem = error.complaint
    except GitError as error:
        problem = str(error)
    return WorkTreeFiles(problem=problem)


def _is_wanted(git: Git) -> bool:
    """Whether a work tree contains and does not ignore a folder."""
    ignored = git.run("check-ignore", "-q", ".", check=False).code
    if ignored in {_IGNORED, _NOT_IGNORED}:
        return ignored == _NOT_IGNORED
    return git.run("rev-parse", "--is-inside-work-tree").output.strip() == b"true"


def _listed(root: Folder, prefix: str, timeout: float) -> list[str]:
    """List the files below `prefix`, with the prefix."""
    git = Git(root.root / prefix, timeout)
    # Tags distinguish tracked from untracked files, whatever their names.
    options = ("-z", "-t", "--stage", "--cached", "--others", "--exclude-standard")
    found: list[str] = []
    nested: list[str] = []
    untracked: list[str] = []
    for entry in os.fsdecode(git.run("ls-files", *options, "--", git.here).output).split("\0"):
        if entry[:2] == _UNTRACKED:
            untracked.append(f"{prefix}{entry[2:]}")
        elif entry:
            path = f"{prefix}{entry[entry.index(_TAB) + 1 :]}"
            (nested if entry[2:8] == _SUBMODULE else found).append(path)
    # A project may lack a rule for its environment of 15,000 files, or for `node_modules`.
    for path in without_tool_folders(untracked):
        (nested if path[-1] == "/" else found).append(path)
    for path in dict.fromkeys(nested):
        inner = path.rstrip("/")
        if _is_repository(root, inner):
            found += _listed(root, f"{inner}/", timeout)
    return found


def _is_repository(root: Folder, path: str) -> bool:
    """Whether it is a repository of its own."""
    marker = f"{path}/.git"
    status = root.look_up(marker)
    if not isinstance(status, os.stat_result):
        return False
    if not stat.S_ISREG(status.st_mode):
        return stat.S_ISDIR(status.st_mode)
    try:
        content, _ = root.read(marker, 4096)
    except (OSError, ValueError):
        return False
    return _LINKED_WORK_TREE not in content
