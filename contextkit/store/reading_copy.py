"""A private copy of a read-only store.

The engine writes even while reading.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from attrs import frozen

from contextkit.errors import StoreError, StoreFullError, StoreReadOnlyError
from contextkit.logs import get_logger
from contextkit.store.shard_folder import OPEN_BYTES, ShardFolder
from contextkit.store.sparse_files import copy_with_holes, size_on_disk

_log = get_logger(__name__)


@frozen
class ReadingCopy:
    """A private copy in the system's folder for temporary files.

    It is removed as soon as its shard is open: the engine keeps using its open files, and nothing
    is left behind however the process ends.

    Attributes:
        folder: the copy; its errors name the original store.
    """

    folder: ShardFolder

    @classmethod
    def of(cls, store: Path) -> ReadingCopy:
        """Copy a store that no process is writing to.

        Raises:
            StoreError: there is no store, or it cannot be read.
            StoreFullError: there is no room for the copy.
        """
        copy = cls(ShardFolder(Path(tempfile.mkdtemp(prefix="contextkit-")), store))
        try:
            files = list(_files(store))
            if not files:
                raise StoreError(
                    f"there is no store at {store}, and none can be made there: check store.path "
                    f"and your right to write to that folder"
                )
            copy._require_room(files)
            for file in files:
                copy_with_holes(file, copy.folder.path / file.relative_to(store))
        except OSError as error:
            copy.remove()
            raise StoreError(
                f"the store at {store} is read-only and cannot be copied to be read: {error}"
            ) from error
        except BaseException:
            copy.remove()
            raise
        _log.info("read_only_store_copied", store=str(store), copy=str(copy.folder.path))
        return copy

    def refuse_write(self) -> NoReturn:
        """Raise `StoreReadOnlyError`: a write to the copy would be lost."""
        raise StoreReadOnlyError(
            f"the store at {self.folder.named} is read-only: its records can be searched and "
            f"exported; to write, get the right to write to that folder, or set store.path"
        )

    def remove(self) -> None:
        """Delete the files; open ones stay readable."""
        shutil.rmtree(self.folder.path, ignore_errors=True)

    def _require_room(self, files: list[Path]) -> None:
        size = size_on_disk(files)
        free = shutil.disk_usage(self.folder.path).free
        if free < size + OPEN_BYTES:
            raise StoreFullError(
                f"the store at {self.folder.named} cannot be written to, and to read it a copy "
                f"needs {-(-(size + OPEN_BYTES) // 2**20)} MiB in {tempfile.gettempdir()}, which "
                f"has {free // 2**20}: free some disk space, or set TMPDIR"
            )


def _files(store: Path) -> Iterator[Path]:
    """The files of the shards.

    Raises `OSError` if a folder is unreadable.
    """

    def fail(error: OSError) -> NoReturn:
        raise error

    for shard in sorted(store.iterdir()):
        if shard.is_dir() and shard.name.startswith("shard"):
            for folder, _, names in os.walk(shard, onerror=fail):
                yield from (Path(folder, name) for name in names)
