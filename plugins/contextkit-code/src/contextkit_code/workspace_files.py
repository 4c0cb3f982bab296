"""Which files of a workspace are indexed, and which are passed over and why."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from attrs import define, field

from contextkit.errors import WorkspaceError
from contextkit_code.git_files import GitError, Status, git_files, look_up, work_tree
from contextkit_code.passed_over import Selection, vendor_folders
from contextkit_code.plain_files import plain_files
from contextkit_code.settings import Settings

__all__ = ["Listing", "Stamp", "WorkspaceFile", "list_files", "read_file"]

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


# Every run makes one of these for each file: a tuple is made several times as fast as an
# instance of a frozen class.
class Stamp(NamedTuple):
    """What the file system says of a file's content without reading it.

    Attributes:
        size: bytes.
        mtime: when its content was last modified, nanoseconds; programs can set it.
        ctime: when anything of it was last changed, nanoseconds.
    """

    size: int
    mtime: int
    ctime: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """The stamp of a stat result."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class WorkspaceFile(NamedTuple):
    """A file to index.

    Attributes:
        path: its path in the workspace, with `/`, as text: bytes that are not UTF-8 are
            written as `\\xNN`.
        location: where it is.
        stamp: its stamp when the workspace was walked.
    """

    path: str
    location: str
    stamp: Stamp


@define
class Listing:
    """A walk over the workspace.

    Attributes:
        files: what is indexed, in a stable order.
        skipped: (path, reason) of what is passed over.
        notes: what a person should know.
    """

    files: list[WorkspaceFile] = field(factory=list)
    skipped: list[tuple[str, str]] = field(factory=list)
    notes: list[str] = field(factory=list)


def list_files(root: Path, settings: Settings) -> Listing:
    """Walk the workspace.

    Raises `WorkspaceError` when it is not a folder.
    """
    if not root.is_dir():
        raise WorkspaceError(f"the workspace {root} is not a folder")
    listing = Listing()
    selection = Selection(settings)
    skipped: dict[str, str] = {}
    found = _all_paths(root, selection, skipped, listing.notes)
    vendored = vendor_folders(found)
    taken: set[str] = set()
    for raw in sorted(found):
        path = _as_text(raw)
        wanted = selection.wants(path)
        if wanted is False:
            continue
        passed = None if wanted else _passed_over(path, selection, vendored)
        if passed is not None:
            skipped.setdefault(*passed)
        elif path in taken:
            listing.skipped.append((path, "another file's path reads the same"))
        else:
            taken.add(path)
            _add(listing, path, f"{root}{os.sep}{raw}", found[raw], settings.max_file_bytes)
    listing.skipped.extend(skipped.items())
    listing.skipped.sort()
    return listing


def _all_paths(
    root: Path, selection: Selection, skipped: dict[str, str], notes: list[str]
) -> dict[str, Status | None]:
    """Each path, and its status where that was looked up already."""
    tree = work_tree(root)
    if tree.repository:
        notes.append(f"{root} is a git repository without its files: no code to index")
        return {}
    problem = tree.problem
    if tree.inside:
        try:
            return dict(git_files(root))
        except GitError as error:
            problem = str(error)
    if problem:
        notes.append(f"git: {problem}; walked without it")

    def enters(folder: str) -> bool:
        prune = selection.prunes(_as_text(folder))
        if prune:
            skipped.update([prune])
        return prune is None

    def unreadable(folder: str, why: str) -> None:
        skipped[_as_text(folder)] = _cannot(why)

    return dict.fromkeys(plain_files(root, enters, unreadable))


def _as_text(path: str) -> str:
    if path.isascii():
        return path
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _cannot(why: str) -> str:
    return f"it cannot be read: {why}"


def _passed_over(
    path: str, selection: Selection, vendored: tuple[str, ...]
) -> tuple[str, str] | None:
    for folder in vendored:
        if path.startswith(folder):
            return folder, "vendored"
    return selection.passed_over(path)


def _add(listing: Listing, path: str, location: str, known: Status | None, max_bytes: int) -> None:
    status = look_up(location) if known is None else known
    if isinstance(status, os.stat_result):
        reason = _unfit(status, max_bytes)
        if reason is None:
            listing.files.append(WorkspaceFile(path, location, Stamp.of(status)))
        else:
            listing.skipped.append((path, reason))
    elif not isinstance(status, (FileNotFoundError, NotADirectoryError)):
        # One of these was deleted in the work tree, or while we walk: it is not there.
        listing.skipped.append((path, _cannot(str(status))))


def _unfit(status: os.stat_result, max_bytes: int) -> str | None:
    """Why this is no file to index, or None."""
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_size > max_bytes:
        return f"{status.st_size:,} bytes, over max_file_bytes ({max_bytes:,})"
    return None


def read_file(file: WorkspaceFile, max_bytes: int) -> tuple[bytes, Stamp]:
    """A file's content, and its stamp from before it was read.

    Raises `OSError`: when it went away, cannot be read, is no regular file any more, or has
    grown over `max_bytes`.
    """
    descriptor = os.open(file.location, _OPEN_FLAGS)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no regular file any more")
        content = opened.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError("it grew over max_file_bytes while it was read")
    return content, Stamp.of(status)
