"""List the files to index, and reasons for skipping others."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from contextkit.errors import WorkspaceError
from contextkit.indexing import FileListing, Folder, git_files
from contextkit_code.git_attributes import marked_by_git
from contextkit_code.passed_over import Selection, made_folder, made_folders
from contextkit_code.plain_files import plain_files

NOTEBOOK = ".ipynb"
"""Suffix of a notebook's file."""

_OUTPUT = 10
"""How many times as large as other files a notebook may be: it is mostly pictures."""


def list_files(
    root: Path, settings: Mapping[str, Any], elsewhere: Collection[str] = frozenset()
) -> FileListing:
    """Walk the workspace.

    Args:
        root: its folder.
        settings: the source's own, `[sources.code]`.
        elsewhere: files that other sources own; they are indexed only if a setting names them.

    Raises `WorkspaceError` when it is not a folder.
    """
    if not root.is_dir():
        raise WorkspaceError(f"the workspace {root} is not a folder")
    listing = FileListing(root, settings["max_file_bytes"], larger={NOTEBOOK: _OUTPUT})
    selection = Selection(settings["include"], settings["exclude"])
    skipped: dict[str, str] = {}
    found = _all_paths(listing.folder, selection, skipped, listing.notes)
    made, marked = made_folders(found), marked_by_git(listing.folder)
    taken: set[str] = set()
    for raw in sorted(found):
        path = _as_text(raw)
        wanted = selection.wants(path)
        if wanted is False or (path in elsewhere and not wanted):
            continue
        passed = None if wanted else made_folder(path, made) or selection.passed_over(path)
        if passed is not None:
            skipped.setdefault(*passed)
        elif not wanted and (why := marked(path)):
            skipped[path] = why
        elif path in taken:
            listing.skipped.append((path, "another file's path reads the same"))
        else:
            taken.add(path)
            listing.add(path, raw)
    listing.skipped.extend(skipped.items())
    listing.skipped.sort()
    return listing


def _all_paths(
    folder: Folder, selection: Selection, skipped: dict[str, str], notes: list[str]
) -> Sequence[str]:
    """Return each path as the file system has it."""
    listed = git_files(folder.root)
    if listed.is_repository:
        notes.append(f"{folder.root} is a bare git repository: there is no code to index")
        return []
    if listed.paths is not None:
        return listed.paths
    if listed.problem:
        notes.append(f"git: {listed.problem}; walked without it")

    def enters(path: str) -> bool:
        prune = selection.prunes(_as_text(path))
        if prune:
            skipped.update([prune])
        return prune is None

    def unreadable(path: str, why: str) -> None:
        skipped[_as_text(path)] = f"it cannot be read: {why}"

    return list(plain_files(folder, enters, unreadable))


def _as_text(path: str) -> str:
    if path.isascii():
        return path
    return os.fsencode(path).decode("utf-8", "backslashreplace")
