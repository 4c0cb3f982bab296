"""Finding the workspace: the folder that a question is about."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

from contextkit.errors import WorkspaceError
from contextkit.workspace.toml_files import MAX_TOML_BYTES, parse_toml

__all__ = ["PROJECT_FILE", "Workspace", "find_workspace"]

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
    `pyproject.toml` that has a `[tool.contextkit]` table, or with a git repository; where
    there is none, `start` itself.

    Raises `WorkspaceError` where `start` is not a folder that can be read.
    """
    try:
        folder = start.expanduser().resolve(strict=True)
        if not folder.is_dir():
            raise WorkspaceError(f"{folder} is not a folder; name the workspace's root folder")
        for candidate in (folder, *folder.parents):
            config_file = _config_file(candidate)
            if config_file is not None or _is_repository(candidate):
                return Workspace(candidate, config_file)
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkspaceError(f"cannot read the workspace at {start}: {error}") from error
    return Workspace(folder)


def _config_file(folder: Path) -> Path | None:
    own = folder / PROJECT_FILE
    if own.is_file():
        return own
    shared = folder / "pyproject.toml"
    return shared if shared.is_file() and _has_table(shared) else None


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


def _is_repository(folder: Path) -> bool:
    if (folder / ".git").exists():
        return True
    bare = all((folder / part).is_dir() for part in ("objects", "refs"))
    return bare and (folder / "HEAD").is_file()
