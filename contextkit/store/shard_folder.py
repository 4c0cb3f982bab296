"""The folder of an embedded store and its files.

```
shard.lock, ticket.lock, holder    sharing between processes (`shard_lock`)
waiting/                           the processes that wait, in order (`waiting`)
revisions/                         tokens of the last writes (`revisions`)
shard/                             the engine's files, and two of contextkit's: meta.json (id,
                                   schema, models) and sizes.json (`sizes`)
shard.new/                         a shard in the making: by the first use, or by reembed
shard.old/                         a shard that was just replaced
```

A shard is created under another name and renamed when it is complete, so that at any moment at
which a process is killed, each folder is either complete or known to be a leftover.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import qdrant_edge as edge
from attrs import Factory, define, field, frozen

from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError, StoreFullError
from contextkit.files import (
    is_wide,
    make_private_folder,
    narrow,
    narrow_unless_shared,
    write_private,
)
from contextkit.store.base import KEYWORD_MODEL
from contextkit.store.engine_errors import damaged, engine_errors, opening_errors
from contextkit.store.identity import VECTOR_PREFIX, StoreIdentity, StorePlace, refuse_other_models
from contextkit.store.lost_records import LostRecords
from contextkit.store.read_ahead import read_ahead_once
from contextkit.store.shard_config import new_shard, set_log_options
from contextkit.store.sizes import changes_since, forget_sizes, keep_sizes, without_sizes
from contextkit.store.sparse_files import (
    dig_holes,
    is_in_memory,
    room_of_holes,
    size_on_disk,
)

SHARD_SCHEMA = 4
"""The schema of shards: points with numbers, and a keyword vector for each source."""

OLDER_SCHEMA = 3
"""The schema that is replaced on opening (`contextkit.store.takeover`)."""

WORTH_OPTIMIZING = 6 * 1024 * 1024
"""Bytes of a shard from which it is optimized: those of some 2,000 records."""

OPEN_BYTES = 16 * 1024 * 1024
"""Room that must be free to open a shard; without it the engine aborts the process."""

SPARE_BYTES = 64 * 1024 * 1024
"""Room that must remain after a write: two of the engine's 32 MiB files, filled."""

STORE_NAMES = (
    "shard",
    "shard.new",
    "shard.old",
    "shard.lock",
    "ticket.lock",
    "holder",
    "waiting",
    "revisions",
)
"""The names in a store's folder."""


class OlderShardError(Exception):
    """A shard with the schema before, and its identity."""

    def __init__(self, identity: StoreIdentity) -> None:
        super().__init__(identity)
        self.identity = identity


@define
class NewShard:
    """A shard in the making.

    Attributes:
        shard: the engine's shard.
        identity: the identity that is saved with it.
    """

    shard: edge.EdgeShard
    identity: StoreIdentity


@frozen
class ShardFolder:
    """The files of one embedded store.

    Every method needs the shard's lock.

    Attributes:
        path: the store's folder.
        named: the folder that errors name, if `path` is a copy of it.
        lost: notes about lost records.
    """

    path: Path
    named: Path = field(default=Factory(lambda self: self.path, takes_self=True))
    lost: LostRecords = field(init=False)

    @lost.default
    def _make_lost(self) -> LostRecords:
        return LostRecords(self.shard)

    @property
    def shard(self) -> Path:
        """The engine's folder."""
        return self.path / "shard"

    @property
    def place(self) -> StorePlace:
        """The store's name and remedy for errors."""
        remedy = "run `contextkit reembed`, or set the model back"
        return StorePlace(f"the store at {self.named}", remedy)

    @property
    def new(self) -> Path:
        """The folder of a shard in the making."""
        return self.path / "shard.new"

    @property
    def _old(self) -> Path:
        return self.path / "shard.old"

    # -- opening --------------------------------------------------------------------------

    def open(self, embedders: Embedders) -> tuple[edge.EdgeShard, StoreIdentity]:
        """Open the shard, creating it if there is none.

        Raises:
            OlderShardError: the shard has the schema before.
            StoreBusyError: a process that does not share the shard has it open.
            StoreDamagedError: the shard exists and does not open.
            StoreFullError: the disk has no room to open it.
            StoreModelMismatchError: another model made a source's vectors.
        """
        try:
            narrow_unless_shared(self.path, STORE_NAMES)
            self.tidy()
            self.require_room(self._holes_filled_by_reading(), OPEN_BYTES, "opening it")
            if not self.shard.exists():
                with self.replacing(StoreIdentity(uuid.uuid4().hex)):
                    pass
        except OSError as error:
            raise StoreError(f"cannot open the store at {self.named}: {error}") from error
        identity = self.identity()
        refuse_other_models(identity, embedders, self.place)
        return self.load(), identity

    def load(self) -> edge.EdgeShard:
        """Open the existing shard."""
        self._refuse_lost_segments()
        changes = changes_since(self.shard)
        if changes.shorter is not None:
            raise damaged(self.named, changes.shorter)
        with contextlib.suppress(OSError):
            read_ahead_once(str(self.shard))
        set_log_options(self.shard)
        with without_sizes(self.shard), opening_errors(self.named):
            shard = edge.EdgeShard.load(str(self.shard))
        if changes.other is not None:
            self.lost.add(changes.other)
        self.lost.check(shard)
        return shard

    def closed(self) -> None:
        """Note the file sizes after closing."""
        with contextlib.suppress(OSError):
            self._dig_holes()
            keep_sizes(self.shard)
        self._narrow_new_files()

    def left(self) -> None:
        """Note the file sizes of an unchanged open shard.

        A thread that outlives this may still write; it calls `written` first.
        """
        with contextlib.suppress(OSError):
            keep_sizes(self.shard)

    def written(self) -> None:
        """Remove the notes of `left`."""
        forget_sizes(self.shard)

    def _narrow_new_files(self) -> None:
        """Make the engine's new files private.

        The engine creates them with the modes that the umask allows; until they are narrowed, the
        folder's own mode protects them.
        """
        for file in self.shard.rglob("*"):
            if is_wide(file):
                narrow(file)

    def _segments(self) -> list[str]:
        with os.scandir(self.shard / "segments") as entries:
            return [entry.path for entry in entries if entry.is_dir() and entry.name[0] != "."]

    def _refuse_lost_segments(self) -> None:
        """Refuse a shard that would lose records on opening.

        The engine treats a segment without `version.info` as unfinished, deletes it and
        continues; a segment without points really is unfinished.
        """
        segments = self._segments() if (self.shard / "segments").is_dir() else []
        if not segments:
            raise damaged(self.named, "its segments are gone")
        for segment in segments:
            names = os.listdir(segment)  # noqa: PTH208 - names, not paths
            points = any(name.endswith("id_tracker.mappings") for name in names)
            if points and "version.info" not in names:
                raise damaged(self.named, f"{Path(segment).name} has no version.info")

    def identity(self) -> StoreIdentity:
        """Read the identity from meta.json.

        Raises:
            OlderShardError: the shard has the schema before.
            StoreDamagedError: meta.json is missing or unreadable.
            StoreError: another version of contextkit made the store.
        """
        meta = self.shard / "meta.json"
        try:
            stored = json.loads(meta.read_bytes())
            made_by = (stored["schema"], stored["keywords"])
            # Only the version that wrote the rest can read it.
            same = made_by == (SHARD_SCHEMA, KEYWORD_MODEL)
            identity = StoreIdentity.from_meta(stored) if same else None
            if made_by == (OLDER_SCHEMA, KEYWORD_MODEL):
                raise OlderShardError(StoreIdentity.from_meta(stored))
        except FileNotFoundError as error:
            raise damaged(self.named, "meta.json is missing") from error
        except OSError as error:
            raise StoreError(f"cannot read {meta}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(self.named, "meta.json is not valid") from error
        if identity is None:
            raise StoreError(
                f"another version of contextkit made the store at {self.named}: run `contextkit "
                f"export` with that version, then `contextkit import` into a new store"
            )
        return identity

    # -- making and replacing -------------------------------------------------------------

    @contextlib.contextmanager
    def replacing(self, identity: StoreIdentity) -> Iterator[NewShard]:
        """Create a shard that replaces the current one on success.

        It is saved with the identity that it has at the end of the block.
        """
        self.require_room(0, SPARE_BYTES, "making it")
        make_private_folder(self.new)
        try:
            with engine_errors(f"making the store at {self.named}"):
                shard = new_shard(self.new)
            new = NewShard(shard, identity)
            try:
                yield new
            finally:
                with engine_errors(f"making the store at {self.named}"):
                    shard.close()
            _write_meta(self.new, new.identity)
        except BaseException:
            shutil.rmtree(self.new, ignore_errors=True)
            raise
        if self.shard.exists():
            self.shard.rename(self._old)
        self.new.rename(self.shard)
        self.tidy()

    def remember(self, identity: StoreIdentity) -> None:
        """Save a new identity for the current shard."""
        try:
            _write_meta(self.shard, identity)
        except OSError as error:
            raise StoreError(f"writing to {self.place.name}: {error}") from error

    def tidy(self) -> None:
        """Finish or undo the work of a killed process."""
        if not self.shard.exists() and self._old.exists():
            # The old shard is only renamed once the new one is complete.
            (self.new if self.new.exists() else self._old).rename(self.shard)
        # A killed optimization leaves its unfinished segments.
        for leftover in (self.new, self._old, self.shard / "temp_segments"):
            if leftover.exists():
                shutil.rmtree(leftover)

    # -- room -----------------------------------------------------------------------------

    def size(self) -> int:
        """The shard's size on disk in bytes, without holes."""
        return size_on_disk(self.shard.rglob("*"))

    def _holes_filled_by_reading(self) -> int:
        """Bytes that reading may add to the files' size.

        The engine reads its indexes and dense vectors into memory when it opens, and a disk in
        memory (tmpfs) allocates a page for every hole that is read.
        """
        return self._holes("payload_index", f"vector_storage-{VECTOR_PREFIX}*")

    def room_to_optimize(self) -> int:
        """Bytes that optimizing adds for a while.

        The engine then reads the files of all vectors, 32 MiB for each source, and their holes.
        """
        return self.size() + self._holes("vector_storage-*")

    def _holes(self, *folders: str) -> int:
        """Bytes of the holes in the shard's files, on a disk in memory."""
        if not is_in_memory(self.path):
            return 0
        found = (self.shard.glob(f"segments/*/{name}/**/*") for name in folders)
        return sum(room_of_holes(file) for files in found for file in files)

    def _dig_holes(self) -> None:
        """Give back what optimizing has added, on a disk in memory."""
        if is_in_memory(self.path):
            for page in self.shard.glob("segments/*/vector_storage-*/store/page_*.dat"):
                dig_holes(page)

    def require_room(self, size: int, spare: int, doing: str) -> None:
        """Raise `StoreFullError` unless `size` bytes fit and `spare` remain.

        The engine maps its files into memory: a write without room would not fail but abort the
        process.
        """
        free = shutil.disk_usage(self.path).free
        if free < size + spare:
            raise StoreFullError(
                f"the disk of the store at {self.named} has {free // 2**20} MiB left, but {doing} "
                f"needs {-(-(size + spare) // 2**20)} MiB: free some disk space; nothing was stored"
            )


def _write_meta(shard: Path, identity: StoreIdentity) -> None:
    meta = {"schema": SHARD_SCHEMA, "keywords": KEYWORD_MODEL, **identity.as_meta()}
    unfinished = shard / "meta.json.tmp"
    write_private(unfinished, json.dumps(meta))
    unfinished.replace(shard / "meta.json")
