"""Where git's own folders are, told without running git."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen


@frozen
class GitFolders:
    """What lies around a folder.

    Attributes:
        work_tree: the nearest folder upwards that has a `.git`, or None.
        bare: the nearest folder upwards, below `work_tree`, that is a repository itself, or None.
    """

    work_tree: Path | None = None
    bare: Path | None = None


def find_git_folders(folder: Path) -> GitFolders:
    """Look for repositories in a folder and in those above it.

    A bare repository can be committed to another one, with settings that name programs: one
    inside a work tree is therefore told apart from one that stands by itself.
    """
    bare = None
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / ".git"):
            return GitFolders(candidate, bare)
        if bare is None and is_bare(candidate):
            bare = candidate
    return GitFolders(None, bare)


def is_bare(folder: Path) -> bool:
    """Whether git would take the folder itself for a repository."""
    if not os.path.lexists(folder / "HEAD"):
        return False
    own = all((folder / part).is_dir() for part in ("objects", "refs"))
    # Both may be in another folder, which a file names.
    return own or os.path.lexists(folder / "commondir")
