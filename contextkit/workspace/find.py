"""Find the workspace, the folder that a question is about, and its git repository.

The repository is read from git's files, without running git.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from attrs import frozen

from contextkit.errors import WorkspaceError
from contextkit.files import MAX_TOML_BYTES, parse_toml
from contextkit.workspace.git_folders import is_bare

PROJECT_FILE = "contextkit.toml"
_OWN_TABLE = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*contextkit[ \t]*[.\]]", re.MULTILINE)


@frozen
class Workspace:
    """A workspace.

    Attributes:
        root: its root folder, resolved.
        config_file: the file with its settings, or None.
    """

    root: Path
    config_file: Path | None = None


def find_workspace(start: Path) -> Workspace:
    """The workspace that a folder is in.

    The nearest folder, from `start` upwards, with a `contextkit.toml`, with a
    `pyproject.toml` that has a `[tool.contextkit]` table, or with a `.git`; else the nearest
    that is a bare repository, else `start` itself. A bare repository below a workspace belongs
    to that workspace: it may have come with a clone, with settings of its own.

    Raises `WorkspaceError` where `start` is not a folder that can be read, and where a
    `contextkit.toml` is a link that leads out of its folder.
    """
    bare = None
    try:
        folder = start.expanduser().resolve(strict=True)
        if not folder.is_dir():
            raise WorkspaceError(f"{folder} is not a folder; name the workspace's root folder")
        for candidate in (folder, *folder.parents):
            config_file = _config_file(candidate)
            if config_file is not None or (candidate / ".git").exists():
                return Workspace(candidate, config_file)
            if bare is None and is_bare(candidate):
                bare = candidate
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkspaceError(f"cannot read the workspace at {start}: {error}") from error
    return Workspace(bare or folder)


def _config_file(folder: Path) -> Path | None:
    own = folder / PROJECT_FILE
    if own.is_file():
        if _leads_out(own):
            # Its content would be read as settings, and shown where it is wrong.
            raise WorkspaceError(
                f"{own} is a symbolic link that leads out of its folder: "
                f"put the settings into a file there"
            )
        return own
    shared = folder / "pyproject.toml"
    if shared.is_file() and not _leads_out(shared) and _has_table(shared):
        return shared
    return None


def _leads_out(file: Path) -> bool:
    return file.is_symlink() and not file.resolve().is_relative_to(file.parent)


def _has_table(pyproject: Path) -> bool:
    try:
        with pyproject.open("rb") as stream:
            content = stream.read(MAX_TOML_BYTES + 1)
    except OSError:
        return False
    text = content[:MAX_TOML_BYTES].decode("utf-8", "replace")
    if len(content) > MAX_TOML_BYTES:
        # Whoever reads its settings says that it is too large.
        return _OWN_TABLE.search(text) is not None
    try:
        tool = parse_toml(text).get("tool", {})
    except (ValueError, RecursionError):
        # Somebody else's file, unless its settings would be passed over in silence.
        return _OWN_TABLE.search(text) is not None
    return isinstance(tool, dict) and "contextkit" in tool


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
