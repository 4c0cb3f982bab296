"""The files of a git work tree, by git's own rules, with its submodules'."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from contextkit.file_index import Status, look_up
from contextkit.workspace.git_program import run_git_for_bytes

__all__ = ["GitError", "WorkTree", "git_files", "work_tree"]


_NOT_IGNORED = 1
"""What `git check-ignore` ends with in a work tree; outside it ends with more."""


class GitError(Exception):
    """Git could not answer; the message is its own.

    Attributes:
        code: what it ended with; None where it did not run.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


@frozen
class WorkTree:
    """What git says of a folder.

    Attributes:
        inside: True when the folder belongs to a work tree and is not ignored there.
        repository: True when the folder is a repository itself, bare or a `.git` folder.
        problem: why git could not tell, in its words, or None.
    """

    inside: bool = False
    repository: bool = False
    problem: str | None = None


def work_tree(folder: Path) -> WorkTree:
    """Ask git about a folder; a folder without git, or without a repository, is a plain one."""
    ignored = _is_ignored(folder)
    if ignored is not None:
        return WorkTree(inside=not ignored)
    try:
        answer = _git(folder, "rev-parse", "--is-inside-work-tree", "--is-inside-git-dir")
    except GitError as error:
        message = str(error)
        plain = "not a git repository" in message or not message
        return WorkTree(problem=None if plain else message)
    inside, repository = (line == b"true" for line in answer.split())
    return WorkTree(inside=inside, repository=repository)


def git_files(folder: Path) -> Iterator[tuple[str, Status]]:
    """The tracked and the untracked, unignored files below a folder of a work tree.

    Each comes with its status, which tells submodules from files and is not cheap to look up
    twice. Paths are relative to the folder and as the file system has them. Checked-out
    submodules and other repositories in it are walked too, linked work trees of one are not.

    Raises `GitError`.
    """
    listing = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for listed in dict.fromkeys(os.fsdecode(listing).split("\0")):
        path = listed.rstrip("/")
        if not path:
            continue
        location = f"{folder}{os.sep}{path}"
        status = look_up(location)
        if not (isinstance(status, os.stat_result) and stat.S_ISDIR(status.st_mode)):
            yield path, status
        elif _is_repository(Path(location)):
            yield from ((f"{path}/{inner}", found) for inner, found in git_files(Path(location)))


def _is_repository(folder: Path) -> bool:
    """True for a checked-out repository that is not a linked work tree of another."""
    marker = folder / ".git"
    try:
        return marker.is_dir() or b"/worktrees/" not in marker.read_bytes()[:4096]
    except OSError:
        return False


def _is_ignored(folder: Path) -> bool | None:
    """Whether git ignores a folder of a work tree; None where it cannot tell."""
    try:
        _git(folder, "check-ignore", "-q", ".")
    except GitError as error:
        return False if error.code == _NOT_IGNORED else None
    return True


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = run_git_for_bytes(folder, *arguments)
    except FileNotFoundError:
        raise GitError("") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(str(error)) from error
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise GitError(message, done.returncode)
    return done.stdout
