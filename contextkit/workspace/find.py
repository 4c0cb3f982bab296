"""Find the workspace of a folder, and its git repository.

The repository of a work tree is read from its files, without running git.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from attrs import frozen

from contextkit.errors import WorkspaceError
from contextkit.files import MAX_TOML_BYTES, parse_toml
from contextkit.workspace.folder import Folder
from contextkit.workspace.git_folders import is_bare

PROJECT_FILE = "contextkit.toml"
_OWN_TABLE = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*contextkit[ \t]*[.\]]", re.MULTILINE)

_MOST_BYTES = 8192
_POINTER = b"gitdir: "


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
    """Return the workspace that a folder belongs to.

    It is the nearest folder, from `start` upwards, with a `contextkit.toml`, with a
    `pyproject.toml` that has a `[tool.contextkit]` table, or with a `.git`; else the nearest bare
    repository, else `start` itself. A bare repository inside a workspace belongs to that
    workspace: it may have come with a clone, with settings of its own.

    Raises `WorkspaceError` if `start` is not a readable folder, or if a `contextkit.toml` is a
    link that points out of its folder.
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
            # Otherwise any file could be read as settings and quoted in errors.
            raise WorkspaceError(
                f"{own} is a symbolic link that points out of its folder: "
                f"replace it by a file with the settings"
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
    # Parsing takes longer than the rest, and only an escape can spell the name otherwise.
    return (b"contextkit" in content or b"\\" in content) and _names_table(content)


@lru_cache(maxsize=4)
def _names_table(content: bytes) -> bool:
    text = content[:MAX_TOML_BYTES].decode("utf-8", "replace")
    if len(content) > MAX_TOML_BYTES:
        # Loading the settings will report that the file is too large.
        return _OWN_TABLE.search(text) is not None
    try:
        tool = parse_toml(text).get("tool", {})
    except (ValueError, RecursionError):
        # An invalid file only matters here if it has our table.
        return _OWN_TABLE.search(text) is not None
    return isinstance(tool, dict) and "contextkit" in tool


def repository_of(root: Path) -> Path | None:
    """Return a repository's shared git folder, or None.

    A folder may be untrusted. So a `.git` that is a link is ignored, and a `.git` file is followed
    only if the repository that it names lists this folder among its work trees.

    Args:
        root: the root folder of a work tree, resolved.
    """
    marker = root / ".git"
    try:
        if marker.is_symlink():
            return None
        if marker.is_dir():
            return marker
        pointer = _content(root, marker.name)
        if not pointer.startswith(_POINTER):
            return None
        private = _resolved(root, pointer.removeprefix(_POINTER))
        shared = _resolved(private, _content(private, "commondir"))
        is_its_own = private.parent == shared / "worktrees"
        points_back = _resolved(private, _content(private, "gitdir")) == marker
    except (OSError, ValueError, RuntimeError):
        return None
    return shared if is_its_own and points_back else None


def _content(folder: Path, name: str) -> bytes:
    content, _ = Folder(folder).read(name, _MOST_BYTES)
    return content.rstrip(b"\r\n")


def _resolved(base: Path, path: bytes) -> Path:
    return (base / os.fsdecode(path)).resolve(strict=True)
