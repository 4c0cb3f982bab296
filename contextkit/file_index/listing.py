"""The files that a source wants to index, and what the file system says of each."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from attrs import define, field

from contextkit.file_index.key_files import KEY_FILE_REASON, is_key_file

__all__ = ["FileListing", "Stamp", "Status", "WorkspaceFile", "look_up", "read_file"]

Status = os.stat_result | OSError | ValueError
"""What the file system says of a path itself, not of what a link points to, or why not."""

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
        path: its path in the workspace, with `/`, as valid text.
        location: where it is.
        stamp: its stamp when the workspace was listed.
    """

    path: str
    location: str
    stamp: Stamp


@define
class FileListing:
    """What a source found in the workspace.

    Attributes:
        max_file_bytes: a larger file is passed over.
        files: what is indexed, in the order in which it shall be; no path twice.
        skipped: (path, reason) of what is passed over.
        notes: what a person should know.
    """

    max_file_bytes: int = 1_000_000
    files: list[WorkspaceFile] = field(factory=list)
    skipped: list[tuple[str, str]] = field(factory=list)
    notes: list[str] = field(factory=list)

    def add(self, path: str, location: str, status: Status | None = None) -> None:
        """Take a file in; what is no regular file, too large or unreadable goes to `skipped`.

        So does a key file (`is_key_file`), whatever the settings say.

        A file that is not there is left out in silence: it went away a moment ago, or git lists
        it still.

        Args:
            path: its path in the workspace, with `/`, as valid text.
            location: where it is.
            status: what `look_up` said of it, where it was looked up already.
        """
        if is_key_file(path):
            self.skipped.append((path, KEY_FILE_REASON))
            return
        if status is None:
            status = look_up(location)
        if isinstance(status, os.stat_result):
            reason = _unfit(status, self.max_file_bytes)
            if reason is None:
                self.files.append(WorkspaceFile(path, location, Stamp.of(status)))
            else:
                self.skipped.append((path, reason))
        elif not isinstance(status, (FileNotFoundError, NotADirectoryError)):
            self.skipped.append((path, unreadable(status)))


def look_up(location: str) -> Status:
    """Look a path up."""
    try:
        return os.lstat(location)
    except (OSError, ValueError) as error:
        return error


def unreadable(error: OSError | ValueError) -> str:
    """Why a file is passed over that the file system does not give out."""
    return f"it cannot be read: {getattr(error, 'strerror', None) or error}"


def _unfit(status: os.stat_result, max_file_bytes: int) -> str | None:
    """Why this is no file to index, or None."""
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_size > max_file_bytes:
        return f"{status.st_size:,} bytes, over max_file_bytes ({max_file_bytes:,})"
    return None


def read_file(file: WorkspaceFile, max_file_bytes: int) -> tuple[bytes, Stamp]:
    """A file's content, and its stamp from before it was read.

    Raises `OSError`: when it went away, cannot be read, is no regular file any more, or has
    grown over `max_file_bytes`.
    """
    descriptor = os.open(file.location, _OPEN_FLAGS)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no regular file any more")
        content = opened.read(max_file_bytes + 1)
    if len(content) > max_file_bytes:
        raise OSError("it grew over max_file_bytes while it was read")
    return content, Stamp.of(status)
