"""List a workspace's documents, and reasons for skipping others."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit.errors import WorkspaceError
from contextkit.indexing import FileListing, Folder, Status, compile_globs, git_files
from contextkit_documents.file_kinds import FileKind, kind_of, skipped_by_name

_MAX_CONFIGURATION_BYTES = 100_000
"""Most bytes of a JSON or YAML configuration.

Larger files hold data, not settings.
"""

_OF_DATA = frozenset({"json", "yaml"})


@define
class DocumentListing(FileListing):
    """A listing of the workspace's documents.

    Attributes:
        kinds: path -> the document's kind by its name, at least for each of `files`.
    """

    kinds: dict[str, FileKind] = field(factory=dict)


def list_documents(root: Path, settings: Mapping[str, Any]) -> DocumentListing:
    """List the documents of a workspace.

    In a git work tree, these are tracked files, and untracked ones that are not ignored. Elsewhere,
    they are all files outside hidden folders. Links are not followed.

    Raises `WorkspaceError` when it is not a folder.
    """
    if not root.is_dir():
        raise WorkspaceError(f"the workspace {root} is not a folder")
    listing = DocumentListing(root, settings["max_file_bytes"])
    include = compile_globs(settings["include"]) if settings["include"] else None
    exclude = compile_globs(settings["exclude"]) if settings["exclude"] else None
    for location in sorted(_locations(listing.folder, listing.notes)):
        # Bytes that are not UTF-8 are replaced.
        path = location
        if not location.isascii():
            path = os.fsencode(location).decode("utf-8", "replace")
        what = kind_of(path)
        if what is None or (include and not include.match_file(path)):
            continue
        if exclude and exclude.match_file(path):
            continue
        reason = skipped_by_name(path)
        if reason is None and path != location:
            reason = "its name is not UTF-8"
        if reason is None:
            _add(listing, path, what)
        else:
            listing.skipped.append((path, reason))
    return listing


def _add(listing: DocumentListing, path: str, what: FileKind) -> None:
    status = listing.look_up(path)
    reason = _as_data(status, listing.max_file_bytes) if what.language in _OF_DATA else None
    if what.kind == "configuration" and reason:
        listing.skipped.append((path, reason))
    else:
        listing.kinds[path] = what
        listing.add(path, status=status)


def _as_data(status: Status, max_file_bytes: int) -> str | None:
    """Return why a file is too large for configuration.

    The file is within the general size limit.
    """
    if not (isinstance(status, os.stat_result) and stat.S_ISREG(status.st_mode)):
        return None
    if not _MAX_CONFIGURATION_BYTES < status.st_size <= max_file_bytes:
        return None
    return f"{status.st_size:,} bytes: data rather than configuration"


def _locations(folder: Folder, notes: list[str]) -> Sequence[str]:
    """Return all paths, as the file system has them."""
    listed = git_files(folder.root)
    if listed.is_repository:
        return []
    if listed.paths is not None:
        return listed.paths
    if listed.problem:
        notes.append(f"git: {listed.problem}; walked without it")

    def enters(path: str) -> bool:
        name = path.rstrip("/").rpartition("/")[2]
        return not name.startswith(".") and skipped_by_name(f"{path}x") is None

    def unreadable(path: str, error: OSError | ValueError) -> None:
        why = getattr(error, "strerror", None) or error
        notes.append(f"{path or './'}: it cannot be read: {why}")

    return list(folder.walk(enters, unreadable))
