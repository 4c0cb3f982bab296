"""Files with holes: the engine writes little into large files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from contextkit.store.read_ahead import room_of

_CHUNK_BYTES = 1024 * 1024
_ZEROES = bytes(_CHUNK_BYTES)


def copy_with_holes(file: Path, target: Path) -> None:
    """Copy a file; pieces without data become holes."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with file.open("rb") as source, target.open("wb") as copied:
        while chunk := source.read(_CHUNK_BYTES):
            if chunk == _ZEROES[: len(chunk)]:
                copied.seek(len(chunk), os.SEEK_CUR)
            else:
                copied.write(chunk)
        copied.truncate()


def is_in_memory(path: Path) -> bool:
    """Whether a file is on a disk in memory, which has major device number 0."""
    major = getattr(os, "major", None)
    return major is not None and major(path.stat().st_dev) == 0


def room_of_holes(path: Path) -> int:
    """The bytes that a file would take in addition without its holes."""
    return max(0, path.stat().st_size - room_of(path))


def dig_holes(file: Path) -> None:
    """Give back the room of a file's pieces without data."""
    dug = file.with_name(f"{file.name}.tmp")
    copy_with_holes(file, dug)
    shutil.copymode(file, dug)
    dug.replace(file)


def size_on_disk(files: Iterable[Path]) -> int:
    """Bytes that files take on the disk, without their holes."""
    return sum(map(room_of, files))
