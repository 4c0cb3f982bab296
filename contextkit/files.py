"""Private files and folders, atomic writes, and safe TOML reading.

Private means the modes 0600 and 0700, whatever the umask; on systems without such modes, such as
Windows, nothing is changed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import threading
import time
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SHARED = stat.S_ISVTX | stat.S_ISGID
"""Modes of a folder that many users or a group write to, such as /tmp."""

_HAS_MODES = sys.platform != "win32"

_TRIES = 40
_TRY_SECONDS = 0.025

MAX_TOML_BYTES = 1_000_000
"""The largest settings file; `uv` and `poetry` keep their locks in other files."""

_MOST_PARTS = 64
# Starts only at the beginning of a key, and at no escaped quote, so that each part is read once.
_DEEP_KEY = re.compile(
    r"""(?<![\w.\\"'-])(?:(?:[\w-]++|"(?>(?:[^"\\\n]++|\\.)*)"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    f"{{{_MOST_PARTS}}}"
)


def make_private_folder(folder: Path) -> None:
    """Create a private folder, or narrow an existing one.

    Raises `OSError` if that fails.
    """
    if folder.is_dir():
        narrow(folder)
        return
    if not folder.parent.is_dir():
        make_private_folder(folder.parent)
    # Another process may create it at any moment.
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    folder.mkdir(mode=0o700, exist_ok=True)
    _widen_for_owner(folder, stat.S_IRWXU)


def narrow(path: Path) -> None:
    """Remove other users' rights from a path and its content.

    A folder without such rights is not searched. Links, and files of other users, are not
    changed.
    """
    if not _narrowed(path) or not path.is_dir():
        return
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            _narrowed(Path(folder, name))


def narrow_unless_shared(folder: Path, own: Collection[str]) -> None:
    """Narrow a folder if it has only our files.

    Otherwise narrow our files.

    The files may be beside others, in a folder that other users need.

    Args:
        folder: the folder; it may be missing.
        own: the names of our files and folders.
    """
    folder = Path(os.path.realpath(folder))
    if not _HAS_MODES or not is_wide(folder):
        return
    with contextlib.suppress(OSError):
        names = os.listdir(folder)  # noqa: PTH208 - names, not paths
        if set(names) <= set(own) and not folder.stat().st_mode & _SHARED:
            narrow(folder)
            return
        for name in set(names).intersection(own):
            narrow(folder / name)


def is_wide(path: Path) -> bool:
    """Whether other users have rights to a path.

    Links have no rights.
    """
    try:
        found = path.lstat()
    except OSError:
        return False
    return _HAS_MODES and not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & _OTHERS)


def open_private(file: Path, flags: int) -> int:
    """Open a file; create it with the mode 0600."""
    number = os.open(file, flags | getattr(os, "O_BINARY", 0), 0o600)
    if flags & os.O_CREAT:
        _widen_for_owner(number, stat.S_IRUSR | stat.S_IWUSR)
    return number


def write_private(file: Path, text: str) -> None:
    """Write a text file, creating it with the mode 0600."""
    number = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with open(number, "w", encoding="utf-8", newline="\n") as stream:  # noqa: PTH123 - a number
        stream.write(text)


def _narrowed(path: Path) -> bool:
    """Remove other users' rights; return whether there were any."""
    if sys.platform == "win32":
        return False
    try:
        found = path.lstat()
        ours = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
        if not ours or not found.st_mode & _OTHERS:
            return False
        path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
    except OSError:
        return False
    return True


def _widen_for_owner(made: Path | int, rights: int) -> None:
    """Restore the owner's rights that the umask removed."""
    if not _HAS_MODES:
        return
    mode = stat.S_IMODE(os.stat(made).st_mode)  # noqa: PTH116 - it may be a number
    if mode & rights != rights:
        # Only the owner may change the mode; another user's file stays as it is.
        with contextlib.suppress(PermissionError):
            os.chmod(made, mode | rights)  # noqa: PTH101 - it may be a number


def read_toml(file: Path) -> bytes:
    """Read a settings file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is larger than `MAX_TOML_BYTES`.
    """
    with file.open("rb") as stream:
        content = stream.read(MAX_TOML_BYTES + 1)
    if len(content) > MAX_TOML_BYTES:
        raise ValueError(f"larger than {MAX_TOML_BYTES:,} bytes")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML, refusing keys that would take too long.

    The parser's time grows with the square of the number of a dotted key's parts, or faster.

    Raises:
        ValueError: it is not TOML, or a key has more than 64 parts.
        RecursionError: it is nested too deeply.
    """
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key has more than {_MOST_PARTS} parts (at line {line})")
    return tomllib.loads(text)


@contextlib.contextmanager
def _temporary_beside(path: Path) -> Iterator[Path]:
    writer = f"{os.getpid()}.{threading.get_ident()}"
    temporary = path.with_name(f".{path.name}.{writer}.tmp")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    """Replace a private file atomically."""
    make_private_folder(path.parent)
    with _temporary_beside(path) as temporary:
        write_private(temporary, text)
        replace_file(temporary, path)


def replace_file(new: Path, path: Path) -> None:
    """Replace a file, on Windows as soon as no other process has it open.

    Raises `OSError` if that fails.
    """
    for left in reversed(range(_TRIES if sys.platform == "win32" else 1)):
        try:
            new.replace(path)
            return
        except PermissionError:
            if not left:
                raise
            time.sleep(_TRY_SECONDS)
