"""Private files and folders (modes 0600 and 0700), and safe reading of TOML files.

On systems without such modes, as Windows, the modes stay as they are. A TOML file is read in time
that grows with its size, whoever wrote it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import threading
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SHARED = stat.S_ISVTX | stat.S_ISGID
"""The modes of a folder that many users write to, such as /tmp, or that a group shares."""

_HAS_MODES = hasattr(os, "geteuid")


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing; narrow one that is there.

    Raises `OSError` where it cannot be made.
    """
    if folder.is_dir():
        narrow(folder)
        return
    if not folder.parent.is_dir():
        make_private_folder(folder.parent)
    if folder.exists():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    # Another process may be making it, too.
    folder.mkdir(mode=0o700, exist_ok=True)
    _widen_for_owner(folder, stat.S_IRWXU)


def narrow(path: Path) -> None:
    """Take other users' rights from a file or a folder, and then from all that is in it.

    A folder that others have no rights to is taken as done. Links, and what belongs to another
    user, stay as they are.
    """
    if not _HAS_MODES or not _narrowed(path) or not path.is_dir():
        return
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            _narrowed(Path(folder, name))


def narrow_unless_shared(folder: Path, own: Collection[str]) -> None:
    """Narrow a folder that has nothing but our own files in it; else those files alone.

    A user may keep the files beside others, and in a folder that others need.

    Args:
        folder: the folder; it need not be there.
        own: what we call the files and folders in it.
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
    """Whether other users have rights to a file or a folder; links have none of their own."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return _HAS_MODES and not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & _OTHERS)


def open_private(file: Path, flags: int) -> int:
    """Open a file as `os.open` does; one that is made has the mode 0600."""
    number = os.open(file, flags, 0o600)
    if flags & os.O_CREAT:
        _widen_for_owner(number, stat.S_IRUSR | stat.S_IWUSR)
    return number


def write_private(file: Path, text: str) -> None:
    """Write a text file; one that is made has the mode 0600."""
    number = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with open(number, "w", encoding="utf-8", newline="\n") as stream:  # noqa: PTH123 - a number
        stream.write(text)


def _narrowed(path: Path) -> bool:
    """Take others' rights away; tell whether there were any."""
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
    """Give a new file's owner the rights that the umask has taken."""
    if not _HAS_MODES:
        return
    mode = stat.S_IMODE(os.stat(made).st_mode)  # noqa: PTH116 - it may be a number
    if mode & rights != rights:
        # Another user's file would not let us; it is theirs to give.
        with contextlib.suppress(PermissionError):
            os.chmod(made, mode | rights)  # noqa: PTH101 - it may be a number


MAX_TOML_BYTES = 1_000_000
"""The largest file of settings; `uv` and `poetry` keep their locks in files of their own."""

_MOST_PARTS = 64
# From the beginning of a key only: a run of letters is looked at once.
_DEEP_KEY = re.compile(
    r"(?<![\w.\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){%d}" % _MOST_PARTS  # noqa: UP031 - braces
)


def read_toml(file: Path) -> bytes:
    """Read a file of settings.

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
    """Parse TOML.

    The parser takes the square of a dotted key's parts, and more.

    Raises:
        ValueError: it is no TOML, or has a key of more than 64 parts.
        RecursionError: it is nested too deep.
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
    """Write a file that only its user can read; readers see the old or the new text, never half."""
    make_private_folder(path.parent)
    with _temporary_beside(path) as temporary:
        write_private(temporary, text)
        temporary.replace(path)
