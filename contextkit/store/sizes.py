"""Sizes: what a shard had, and what a write needs.

If a file that lists the records has changed since the shard was closed, as after an interrupted
copy or a failing disk, the engine may open the shard without an error and without some of its
records.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from contextkit.files import write_private
from contextkit.models.record import Record
from contextkit.store.base import StoredBatch

_COPIES = 3
_BYTES_PER_POINT = 6144
_BYTES_PER_NUMBER = 4


def keep_sizes(shard: Path) -> None:
    """Note sizes and checksums.

    Only `without_sizes` may write to the shard afterwards.

    Without room on the disk, nothing is noted.
    """
    noted = {str(file.relative_to(shard)): _seen(file) for file in _files(shard)}
    with contextlib.suppress(OSError):
        write_private(_note(shard), json.dumps(noted))


@frozen
class Changes:
    """Differences from the notes, each described or None.

    Attributes:
        shorter: a file is shorter, and the engine would lose the missing part.
        other: a file has other content.
    """

    shorter: str | None = None
    other: str | None = None


def changes_since(shard: Path) -> Changes:
    """Compare the files with the notes.

    Without notes there are no changes.
    """
    other = None
    try:
        noted = dict(json.loads(_note(shard).read_bytes()))
        for name, (size, checksum) in noted.items():
            left = _seen(shard / name)
            if left[0] < size:
                return Changes(f"{name} has {left[0]:,} of its {size:,} bytes")
            # A point's version gives the order of writes, which no longer matters.
            if left != (size, checksum) and not name.endswith(".versions"):
                other = f"{name} differs from what was written"
    except (OSError, ValueError, TypeError):
        pass
    return Changes(other=other)


def forget_sizes(shard: Path) -> None:
    """Delete the notes before the shard is written to."""
    with contextlib.suppress(OSError):
        _note(shard).unlink()


@contextlib.contextmanager
def without_sizes(shard: Path) -> Iterator[None]:
    """Delete the notes before opening the shard.

    Restore them if that fails.
    """
    note, noted = _note(shard), None
    with contextlib.suppress(OSError):
        noted = note.read_bytes()
        note.unlink()
    try:
        yield
    except BaseException:
        if noted is not None:
            with contextlib.suppress(OSError):
                note.write_bytes(noted)
        raise


def _seen(file: Path) -> tuple[int, int]:
    content = file.read_bytes() if file.is_file() else b""
    return len(content), zlib.crc32(content)


def _files(shard: Path) -> Iterator[Path]:
    return shard.glob("segments/*/*id_tracker.*")


def _note(shard: Path) -> Path:
    return shard / "sizes.json"


def records_bytes(records: Sequence[Record]) -> int:
    """Estimate the bytes of records without their dense vectors."""
    return sum(
        _BYTES_PER_POINT + _COPIES * (_bytes(record.searched_text) + _bytes(repr(record.fields)))
        for record in records
    )


def vectors_bytes(batch: StoredBatch) -> int:
    """Estimate the bytes of a batch's dense vectors."""
    return _COPIES * _BYTES_PER_NUMBER * (batch.dimensions or 0) * len(batch.points)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)
