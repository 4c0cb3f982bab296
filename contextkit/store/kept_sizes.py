"""How large the files that say which records there are were when their shard was closed.

Where one of them has become shorter since, as by a copy that broke off or a disk that failed,
the engine opens the shard without complaint, and without the records that the file had.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from contextkit.private_files import write_private

__all__ = ["keep_sizes", "lost_since", "without_sizes"]


def keep_sizes(shard: Path) -> None:
    """Note the sizes; nobody may write to the shard from now on but `without_sizes`.

    Where the disk has no room for it, nothing is noted.
    """
    sizes = {str(file.relative_to(shard)): file.stat().st_size for file in _files(shard)}
    with contextlib.suppress(OSError):
        write_private(_note(shard), json.dumps(sizes))


def lost_since(shard: Path) -> str | None:
    """What is shorter than it was, in words; None where nothing is, or nothing was noted."""
    try:
        sizes = dict(json.loads(_note(shard).read_bytes()))
        for name, size in sizes.items():
            file = shard / name
            left = file.stat().st_size if file.is_file() else 0
            if left < size:
                return f"{name} has {left:,} of the {size:,} bytes that it had"
    except (OSError, ValueError, TypeError):
        return None
    return None


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


def _files(shard: Path) -> Iterator[Path]:
    return shard.glob("segments/*/*id_tracker.*")


def _note(shard: Path) -> Path:
    return shard / "sizes.json"
