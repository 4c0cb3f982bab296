"""Read files below a folder without following symbolic links.

Each folder of a path is opened relative to the one before, and refused if it is a link: even a
link back into the folder, and a link that replaced the folder a moment ago. A hard link cannot be
distinguished from the file itself.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import define, field

from contextkit.workspace.tool_folders import is_environment

Status = os.stat_result | OSError | ValueError
"""The status of a path itself, not of a link's target, or the error."""

_BY_DESCRIPTOR = (
    hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
    and {os.open, os.stat} <= os.supports_dir_fd
    and os.scandir in os.supports_fd
)
_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_NO_NAMES = frozenset({"", ".", ".."})
_KEPT_OPEN = 32
"""Depth up to which folders stay open; below it, only the last one does."""


class LinkedFolderError(OSError):
    """A folder in a path is a symbolic link."""

    def __init__(self) -> None:
        super().__init__("its folder is a symbolic link")


@define
class Folder:
    """A folder and everything below it.

    Paths are relative, with `/`.

    The folders of the last path stay open, which makes access in path order fast. `close` closes
    them; the next access opens them again. Not thread-safe.

    Attributes:
        root: its path; links in it are followed.
        by_descriptor: whether folders are opened relative to each other, which all systems except
            Windows support. Otherwise the names of a path are checked before it is used, and a
            link that replaces a folder in between goes unnoticed.
    """

    root: Path = field(converter=Path)
    by_descriptor: bool = field(default=_BY_DESCRIPTOR, kw_only=True)
    _folder: str | None = field(default=None, init=False)
    _place: _Place | None = field(default=None, init=False)
    _names: list[str] = field(factory=list, init=False)
    _descriptors: list[int] = field(factory=list, init=False)

    def look_up(self, path: str) -> Status:
        """Return the status of a path, or the error."""
        try:
            place, name = self._at(path)
            return place.status(name)
        except (OSError, ValueError) as error:
            return error

    def read(self, path: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
        """Return a regular file's content and earlier status.

        Raises `OSError` or `ValueError` if it is missing, unreadable, not a regular file, longer
        than `max_bytes`, or reached through a link.
        """
        place, name = self._at(path)
        descriptor = place.open(name)
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("not a regular file")
            content = opened.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise OSError(f"it has more than {max_bytes:,} bytes")
        return content, status

    def entries(self, path: str = "") -> list[tuple[str, bool]]:
        """Return a folder's names, and which are folders.

        Raises what `read` raises.
        """
        with self._enter(path.rstrip("/")).scan() as found:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)

    def walk(
        self,
        enters: Callable[[str], bool],
        unreadable: Callable[[str, OSError | ValueError], None] = lambda *_: None,
    ) -> Iterator[str]:
        """Yield all paths except folders and those in Python environments, in a stable order.

        Args:
            enters: decides for each folder, by its path with `/` at the end, whether to enter it.
            unreadable: called for each folder that cannot be read.
        """
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                found = self.entries(folder)
            except (OSError, ValueError) as error:
                unreadable(folder, error)
                continue
            if folder and is_environment([name for name, _ in found]):
                continue
            inner = []
            for name, is_folder in found:
                path = f"{folder}{name}"
                if not is_folder:
                    yield path
                elif enters(f"{path}/"):
                    inner.append(f"{path}/")
            pending.extend(reversed(inner))

    def close(self) -> None:
        """Close the open folders."""
        self._leave(0)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def _at(self, path: str) -> tuple[_Place, str]:
        folder, _, name = path.rpartition("/")
        if name in _NO_NAMES:
            raise _refused(path)
        if folder == self._folder and self._place is not None:
            return self._place, name
        return self._enter(folder), name

    def _enter(self, folder: str) -> _Place:
        names = folder.split("/") if folder else []
        if not _NO_NAMES.isdisjoint(names):
            raise _refused(folder)
        self._folder = self._place = None
        if self.by_descriptor:
            place: _Place = _OpenPlace(self._descriptor(names))
            # An open folder cannot be replaced.
            self._folder, self._place = folder, place
            return place
        return _CheckedPlace(_unlinked(self.root, names))

    def _descriptor(self, names: list[str]) -> int:
        if not self._descriptors:
            self._descriptors.append(os.open(self.root, _FOLDER & ~getattr(os, "O_NOFOLLOW", 0)))
        common = 0
        for known, wanted in zip(self._names, names, strict=False):
            if known != wanted:
                break
            common += 1
        if common < len(self._names):
            # Of the deeper folders only the last one is open.
            common = min(common, _KEPT_OPEN - 1)
            self._leave(common + 1)
        for name in names[common:]:
            descriptor = _open_folder(name, self._descriptors[-1])
            if len(self._descriptors) > _KEPT_OPEN:
                os.close(self._descriptors.pop())
            self._descriptors.append(descriptor)
            self._names.append(name)
        return self._descriptors[-1]

    def _leave(self, kept: int) -> None:
        """Close all but the first `kept` folders."""
        self._folder = self._place = None
        while len(self._descriptors) > kept:
            os.close(self._descriptors.pop())
        del self._names[max(0, kept - 1) :]


@define
class _OpenPlace:
    """A folder as a descriptor."""

    descriptor: int

    def status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def open(self, name: str) -> int:
        return os.open(name, _FILE, dir_fd=self.descriptor)

    def scan(self) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
        return os.scandir(self.descriptor)


@define
class _CheckedPlace:
    """A folder as a path, on systems without relative opening."""

    path: str

    def status(self, name: str) -> os.stat_result:
        return os.lstat(self._location(name))

    def open(self, name: str) -> int:
        if stat.S_ISLNK(self.status(name).st_mode):
            raise OSError("it is a symbolic link")
        return os.open(self._location(name), _FILE)

    def scan(self) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
        return os.scandir(self.path)

    def _location(self, name: str) -> str:
        # On Windows both characters lead to another place.
        if os.name == "nt" and not {"\\", ":"}.isdisjoint(name):
            raise _refused(name)
        return f"{self.path}{os.sep}{name}"


_Place = _OpenPlace | _CheckedPlace


def _refused(path: str) -> ValueError:
    return ValueError(f"expected a path below the workspace, got {path!r}")


def _open_folder(name: str, parent: int) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except OSError:
        # Systems report a link with different errors.
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise LinkedFolderError from None
        raise


def _unlinked(root: Path, folders: Sequence[str]) -> str:
    """Return a folder's path, if it has no links.

    A link that replaces a folder afterwards goes unnoticed.
    """
    start = os.path.realpath(root)
    path = str(Path(start, *folders))
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        raise LinkedFolderError
    return path
