"""Which documents of a workspace are indexed, and which are passed over and why."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attrs import define, field

from contextkit.errors import WorkspaceError
from contextkit.file_index import FileListing, Status, look_up
from contextkit.workspace import walk_files
from contextkit.workspace.git_program import run_git
from contextkit_documents.file_kinds import FileKind, kind_of, skipped_by_name
from contextkit_documents.settings import Settings, compile_globs

__all__ = ["DocumentListing", "list_documents"]

_MAX_CONFIGURATION_BYTES = 100_000
"""A larger file of JSON or YAML holds data, not settings."""

_LONGEST_SHOWN = 200
_NOT_IGNORED = 1
"""What `git check-ignore` ends with in a work tree; outside it ends with more."""


@define
class DocumentListing(FileListing):
    """A look over the workspace.

    Attributes:
        kinds: path -> what the document is by its name, for each of `files` at the least.
    """

    kinds: dict[str, FileKind] = field(factory=dict)


def list_documents(root: Path, settings: Settings) -> DocumentListing:
    """The documents of a workspace.

    In a git work tree: of what git tracks, and of what is untracked and not ignored.
    Elsewhere every file outside hidden folders. Links are not followed.

    Raises `WorkspaceError` when it is not a folder.
    """
    if not root.is_dir():
        raise WorkspaceError(f"the workspace {root} is not a folder")
    listing = DocumentListing(settings.max_file_bytes)
    include = compile_globs(settings.include) if settings.include else None
    exclude = compile_globs(settings.exclude) if settings.exclude else None
    for path in sorted(set(_paths(root, listing.notes))):
        what = kind_of(path)
        if what is None or (include and not include.match_file(path)):
            continue
        if exclude and exclude.match_file(path):
            continue
        reason = skipped_by_name(path)
        if reason is None:
            _add(listing, path, f"{root}{os.sep}{path}", what)
        else:
            listing.skipped.append((path, reason))
    return listing


def _add(listing: DocumentListing, path: str, location: str, what: FileKind) -> None:
    status = look_up(location)
    if what.kind == "configuration" and (reason := _as_data(status, listing.max_file_bytes)):
        listing.skipped.append((path, reason))
    elif isinstance(status, FileNotFoundError) and "\ufffd" in path:
        # The file's real name is another: bytes that are not UTF-8 are replaced in git's answer.
        listing.skipped.append((path, "its name is not UTF-8"))
    else:
        listing.kinds[path] = what
        listing.add(path, location, status)


def _as_data(status: Status, max_file_bytes: int) -> str | None:
    """Why a file that is small enough is too large for configuration, or None."""
    if not (isinstance(status, os.stat_result) and stat.S_ISREG(status.st_mode)):
        return None
    if not _MAX_CONFIGURATION_BYTES < status.st_size <= max_file_bytes:
        return None
    return f"{status.st_size:,} bytes: data rather than configuration"


def _paths(root: Path, notes: list[str]) -> Iterator[str]:
    listed = _git_paths(root, notes)
    return _walked(root, notes) if listed is None else iter(listed)


def _git_paths(root: Path, notes: list[str]) -> list[str] | None:
    """What git lists below a folder; None where the folder is no part of a work tree."""
    try:
        ignored = run_git(root, "check-ignore", "-q", ".").returncode
        if ignored == 0:
            return None
        if ignored != _NOT_IGNORED and not _is_inside(root):
            return None
        ran = run_git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except FileNotFoundError:
        return None
    except (OSError, subprocess.TimeoutExpired) as error:
        notes.append(f"git: {error}; walked without it")
        return None
    if ran.returncode:
        notes.append(f"git: {ran.stderr.strip().partition(chr(10))[0]}; walked without it")
        return None
    return [path for path in ran.stdout.split("\0") if path and not path.endswith("/")]


def _is_inside(root: Path) -> bool:
    return run_git(root, "rev-parse", "--is-inside-work-tree").stdout.strip() == "true"


def _walked(root: Path, notes: list[str]) -> Iterator[str]:
    def unreadable(folder: str, error: OSError) -> None:
        notes.append(f"{_shortened(_as_text(folder))}: it cannot be read: {error.strerror}")

    # Bytes that are not UTF-8 come out as git's do.
    yield from map(_as_text, walk_files(root, _is_entered, unreadable))


def _is_entered(folder: str) -> bool:
    hidden = folder.rpartition("/")[2].startswith(".")
    return not hidden and skipped_by_name(f"{folder}/x") is None


def _as_text(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _shortened(path: str) -> str:
    return path if len(path) <= _LONGEST_SHOWN else f"{path[:_LONGEST_SHOWN]}…"
