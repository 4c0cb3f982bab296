"""Load a shard's files into the page cache before the engine reads them.

The engine maps the files and touches them page by page, and the system would fetch each page
separately: the engine drops them from the page cache when it opens them and when it closes them.
A cold command has it done in a process of its own, while it imports its modules.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # A command imports this module first.
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_PAGE = "page_"
"""The beginning of the names of files with texts, weights and the like."""

_READ_WHOLE = tuple(
    f"{os.sep}{name}" for name in ("payload_index", "vector_index-", "vector_storage-dense-")
)
"""The folders whose pages the engine reads on opening."""

_TEXTS = f"{os.sep}payload_storage{os.sep}{_PAGE}"
"""The pages of which a question needs one for each record that it finds."""

_MOST_TEXTS = 128 * 1024 * 1024
"""With more bytes of texts, the system fetches each page when it is needed."""

_FLAGS = "flags_a.dat"
"""The name of files of a megabyte that the engine reads with their holes."""

_AHEAD_BYTES = 128 * 1024
"""Linux fetches no more than so much for one request, whatever is asked."""

_CHUNK_BYTES = 1024 * 1024

_begun: set[str] = set()
"""Shards that another process reads ahead for this one."""


def begin_reading_ahead(environment: Mapping[str, str]) -> None:
    """Read the user's store ahead in another process, on Linux.

    A store that is configured elsewhere is read ahead when it is opened.
    """
    if sys.platform != "linux" or not hasattr(os, "fork"):
        return
    home, data = environment.get("CONTEXTKIT_HOME"), environment.get("XDG_DATA_HOME")
    folder = home or f"{data or '~/.local/share'}/contextkit"
    shard = f"{os.path.expanduser(folder)}/store/shard"  # noqa: PTH111 - pathlib costs 5 ms
    if not os.path.isdir(shard):  # noqa: PTH112 - as above
        return
    try:
        other = os.fork()
    except OSError:
        # The system cannot start another process.
        return
    if other:
        _begun.add(shard)
        return
    try:
        # A program that reads the command's output waits until every process has closed it.
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        read_ahead(shard)
    finally:
        os._exit(0)


def read_ahead_once(shard: str) -> None:
    """Read a shard ahead, unless another process has just done it for this one.

    Raises `OSError` if a file cannot be read.
    """
    if shard in _begun:
        _begun.remove(shard)
    else:
        read_ahead(shard)


def read_ahead(shard: str) -> None:
    """Ask the system to fetch what opening a shard and a question read.

    Among 100,000 records, reading a question's results from the disk page by page takes half as
    long as searching for them.

    Raises `OSError` if a file cannot be read.
    """
    files = list(files_below(f"{shard}/segments"))
    texts = sum(room_of(file) for file in files if _TEXTS in file)
    wanted = _READ_WHOLE if texts > _MOST_TEXTS else (*_READ_WHOLE, _TEXTS)
    for file in files:
        name = file.rpartition(os.sep)[2]
        if not name.startswith(_PAGE) or any(part in file for part in wanted):
            fetch(file, with_holes=name == _FLAGS)


def room_of(file: str | Path) -> int:
    """Return the bytes that a file takes on the disk, without its holes."""
    found = os.stat(file)  # noqa: PTH116 - as above
    return 512 * getattr(found, "st_blocks", -(-found.st_size // 512))


def files_below(folder: str) -> Iterator[str]:
    """Yield the files below a folder."""
    # Some hundred files: `pathlib` takes five times as long.
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from files_below(entry.path)
            else:
                yield entry.path


def fetch(file: str, *, with_holes: bool = False) -> None:
    """Load a file into the page cache.

    Args:
        file: its path.
        with_holes: whether its holes are loaded too, on Linux.
    """
    number = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        if sys.platform != "linux":
            while os.read(number, _CHUNK_BYTES):
                pass
            return
        at, end = 0, os.fstat(number).st_size
        while at < end:
            if not with_holes:
                at = os.lseek(number, at, os.SEEK_DATA)
            os.posix_fadvise(number, at, _AHEAD_BYTES, os.POSIX_FADV_WILLNEED)
            at += _AHEAD_BYTES
    except OSError:
        # There is no data behind the last one.
        pass
    finally:
        os.close(number)
