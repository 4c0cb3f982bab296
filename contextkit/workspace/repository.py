"""Which repository a work tree belongs to, read from its files without running git."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["repository_of"]

_MOST_BYTES = 8192
_POINTER = b"gitdir: "


def repository_of(root: Path) -> Path | None:
    """The git folder that all work trees of a repository share; None where there is none.

    A stranger can put anything into a folder. So a `.git` that is a link counts for nothing, and
    a `.git` file only where the repository that it names has this folder among its work trees.

    Args:
        root: the root folder of a work tree, resolved.
    """
    marker = root / ".git"
    try:
        if marker.is_symlink():
            return None
        if marker.is_dir():
            return marker
        pointer = _content(marker)
        if not pointer.startswith(_POINTER):
            return None
        private = _resolved(root, pointer.removeprefix(_POINTER))
        shared = _resolved(private, _content(private / "commondir"))
        is_its_own = private.parent == shared / "worktrees"
        points_back = _resolved(private, _content(private / "gitdir")) == marker
    except (OSError, ValueError, RuntimeError):
        return None
    return shared if is_its_own and points_back else None


def _content(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_MOST_BYTES).rstrip(b"\r\n")


def _resolved(base: Path, path: bytes) -> Path:
    return (base / os.fsdecode(path)).resolve(strict=True)
