"""Which documents of a workspace are indexed, and which are passed over and why."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from attrs import define, field, frozen

from contextkit.errors import WorkspaceError
from contextkit.git_program import run_git
from contextkit_documents.file_kinds import FileKind, kind_of, skipped_by_name
from contextkit_documents.settings import Settings, compile_globs

__all__ = ["Document", "Listing", "Stamp", "list_documents", "read_document"]

_MAX_CONFIGURATION_BYTES = 100_000
"""A larger file of JSON or YAML holds data, not settings."""

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Stamp(NamedTuple):
    """What the file system says of a file's content without reading it.

    Attributes:
        size: bytes.
        mtime: when its content was last modified, nanoseconds.
        ctime: when anything of it was last changed, nanoseconds.
    """

    size: int
    mtime: int
    ctime: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """The stamp of a stat result."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@frozen
class Document:
    """A file to index.

    Attributes:
        path: its path in the workspace, with `/`.
        location: where it is.
        what: what it is by its name.
        stamp: its stamp when the workspace was listed.
    """

    path: str
    location: Path
    what: FileKind
    stamp: Stamp


@define
class Listing:
    """A look over the workspace.

    Attributes:
        documents: what is indexed, by path.
        skipped: (path, reason) of documents that are passed over.
        notes: what a person should know.
    """

    documents: list[Document] = field(factory=list)
    skipped: list[tuple[str, str]] = field(factory=list)
    notes: list[str] = field(factory=list)


def list_documents(root: Path, settings: Settings) -> Listing:
    """The documents of a workspace.

    In a git work tree: of what git tracks, and of what is untracked and not ignored.
    Elsewhere every file outside hidden folders. Links are not followed.

    Raises `WorkspaceError` when it is not a folder.
    """
    if not root.is_dir():
        raise WorkspaceError(f"the workspace {root} is not a folder")
    listing = Listing()
    include = compile_globs(settings.include) if settings.include else None
    exclude = compile_globs(settings.exclude)
    for path in sorted(set(_paths(root, listing.notes))):
        what = kind_of(path)
        if what is None or (include and not include.match_file(path)) or exclude.match_file(path):
            continue
        reason = skipped_by_name(path)
        if reason is None:
            _look_up(listing, root / path, path, what, settings.max_file_bytes)
        else:
            listing.skipped.append((path, reason))
    return listing


def read_document(document: Document, max_bytes: int) -> tuple[bytes, Stamp]:
    """A document's content, and its stamp from before it was read.

    Raises `OSError` when it went away, cannot be read, is no regular file any more, or has
    grown over `max_bytes`.
    """
    descriptor = os.open(document.location, _OPEN_FLAGS)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no regular file any more")
        content = opened.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError("it grew over max_file_bytes while it was read")
    return content, Stamp.of(status)


def _look_up(listing: Listing, location: Path, path: str, what: FileKind, max_bytes: int) -> None:
    try:
        status = location.lstat()
    except FileNotFoundError:
        # Deleted in the work tree and not yet in git; or git's answer is not its real name.
        if "\ufffd" in path:
            listing.skipped.append((path, "its name is not UTF-8"))
        return
    except OSError as error:
        listing.skipped.append((path, f"it cannot be read: {error.strerror or error}"))
        return
    reason = _unfit(status, what, max_bytes)
    if reason is None:
        listing.documents.append(Document(path, location, what, Stamp.of(status)))
    else:
        listing.skipped.append((path, reason))


def _unfit(status: os.stat_result, what: FileKind, max_bytes: int) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_size > max_bytes:
        return f"{status.st_size:,} bytes, over max_file_bytes ({max_bytes:,})"
    if what.kind == "configuration" and status.st_size > _MAX_CONFIGURATION_BYTES:
        return f"{status.st_size:,} bytes: data rather than configuration"
    return None


def _paths(root: Path, notes: list[str]) -> Iterator[str]:
    listed = _git_paths(root, notes)
    return _walked(root, notes) if listed is None else iter(listed)


def _git_paths(root: Path, notes: list[str]) -> list[str] | None:
    """What git lists below a folder; None where the folder is no part of a work tree."""
    try:
        if run_git(root, "rev-parse", "--is-inside-work-tree").stdout.strip() != "true":
            return None
        if run_git(root, "check-ignore", "-q", ".").returncode == 0:
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


def _walked(root: Path, notes: list[str]) -> Iterator[str]:
    def unreadable(error: OSError) -> None:
        notes.append(f"{error.filename}: it cannot be read: {error.strerror}")

    for folder, folders, files in os.walk(root, onerror=unreadable):
        inner = Path(folder).relative_to(root).as_posix()
        prefix = "" if inner == "." else f"{inner}/"
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and skipped_by_name(f"{prefix}{name}/x") is None
        )
        for name in files:
            # Bytes that are not UTF-8 come out as git's do.
            yield os.fsencode(f"{prefix}{name}").decode("utf-8", "replace")
