"""Find git's folders without running git."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen


@frozen
class GitFolders:
    """The repositories that a folder belongs to.

    Attributes:
        work_tree: the nearest folder upwards that has a `.git`, or None.
        bare: the nearest bare repository upwards, below `work_tree`, or None.
    """

    work_tree: Path | None = None
    bare: Path | None = None


def find_git_folders(folder: Path) -> GitFolders:
    """Look for repositories in a folder and its parents.

    A bare repository, with settings that name programs, can be committed to another one. So a
    bare repository inside a work tree is distinguished from one by itself.
    """
    bare = None
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / ".git"):
            return GitFolders(candidate, bare)
        if bare is None and is_bare(candidate):
            bare = candidate
    return GitFolders(None, bare)


def is_bare(folder: Path) -> bool:
    """Whether git would treat the folder itself as a repository."""
    if not os.path.lexists(folder / "HEAD"):
        return False
    own = all((folder / part).is_dir() for part in ("objects", "refs"))
    # A file may say that both are in another folder.
    return own or os.path.lexists(folder / "commondir")
