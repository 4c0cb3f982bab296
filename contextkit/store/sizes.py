"""What the files that say which records there are were when their shard was closed.

Where one of them has changed since, as by a copy that broke off or a disk that failed, the engine
may open the shard without complaint, and without some of its records.

What a write may take on the disk: in the engine's log and in its shard.
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


def keep_sizes(shard: Path) -> None:
    """Note sizes and checksums; from now on only `without_sizes` may write to the shard.

    Where the disk has no room for it, nothing is noted.
    """
    noted = {str(file.relative_to(shard)): _seen(file) for file in _files(shard)}
    with contextlib.suppress(OSError):
        write_private(_note(shard), json.dumps(noted))


@frozen
class Changes:
    """What is no more as it was noted, each in words, or None.

    Attributes:
        shorter: a file has less in it, and the engine would lose what is missing.
        other: a file has other bytes in it.
    """

    shorter: str | None = None
    other: str | None = None


def changes_since(shard: Path) -> Changes:
    """Compare the files with what was noted; where nothing was, there are no changes."""
    other = None
    try:
        noted = dict(json.loads(_note(shard).read_bytes()))
        for name, (size, checksum) in noted.items():
            left = _seen(shard / name)
            if left[0] < size:
                return Changes(f"{name} has {left[0]:,} of the {size:,} bytes that it had")
            # A point's version tells in which order it was written, which matters no more.
            if left != (size, checksum) and not name.endswith(".versions"):
                other = f"{name} is not what was written"
    except (OSError, ValueError, TypeError):
        pass
    return Changes(other=other)


def forget_sizes(shard: Path) -> None:
    """Forget what was noted, as the shard is written to."""
    with contextlib.suppress(OSError):
        _note(shard).unlink()


@contextlib.contextmanager
def without_sizes(shard: Path) -> Iterator[None]:
    """Forget what was noted before the engine opens the shard; where that fails, note it again."""
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


_COPIES = 3
_BYTES_PER_POINT = 6144
_BYTES_PER_NUMBER = 4


def records_bytes(records: Sequence[Record]) -> int:
    """Bytes of the records without their dense vectors."""
    return sum(
        _BYTES_PER_POINT + _COPIES * (_bytes(record.searched_text) + _bytes(repr(record.fields)))
        for record in records
    )


def vectors_bytes(batch: StoredBatch) -> int:
    """Bytes of a batch's dense vectors."""
    return _COPIES * _BYTES_PER_NUMBER * (batch.dimensions or 0) * len(batch.points)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)
