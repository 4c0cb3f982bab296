"""Finding the workspace: the folder that a question is about."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from attrs import frozen

from contextkit.errors import WorkspaceError

__all__ = ["PROJECT_FILE", "Workspace", "find_workspace"]

PROJECT_FILE = "contextkit.toml"
_OWN_TABLE = re.compile(r"^\s*\[\s*tool\s*\.\s*contextkit\s*[.\]]", re.MULTILINE)


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
        text = pyproject.read_bytes().decode("utf-8", "replace")
        tool = tomllib.loads(text).get("tool", {})
    except OSError:
        return False
    except (ValueError, RecursionError):
        # Somebody else's file, unless its settings would be passed over in silence.
        return _OWN_TABLE.search(text) is not None
    return isinstance(tool, dict) and "contextkit" in tool


def _is_repository(folder: Path) -> bool:
    if (folder / ".git").exists():
        return True
    bare = all((folder / part).is_dir() for part in ("objects", "refs"))
    return bare and (folder / "HEAD").is_file()
