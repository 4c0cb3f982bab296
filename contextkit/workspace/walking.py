"""The files below a folder where git does not list them, however deep they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["walk_files"]


def walk_files(
    root: Path,
    enters: Callable[[str], bool],
    unreadable: Callable[[str, OSError], None] = lambda _folder, _error: None,
) -> Iterator[str]:
    """The paths of the files below a folder, with `/`; a folder's own come before its folders'.

    Links to folders are not followed. A folder whose path is longer than the system takes, which a
    program can make, is one that cannot be read. (`os.walk` is recursive before Python 3.12.)

    Args:
        root: the folder.
        enters: asked of each folder's path whether its files are wanted.
        unreadable: told of each folder that cannot be read, by its path, and why.
    """
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(f"{root}{os.sep}{prefix}") as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            unreadable(prefix.rstrip("/"), error)
            continue
        folders = []
        for entry in found:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif not (entry.is_symlink() and os.path.isdir(entry.path)):  # noqa: PTH112
                yield path
        pending.extend(f"{path}/" for path in reversed(folders) if enters(path))
