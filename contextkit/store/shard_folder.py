"""The folder of an embedded store: what is in it, how it is made, mended and replaced.

```
shard.lock, ticket.lock, holder    taking turns (`shard_lock`)
shard/                             the engine's own files, and meta.json: id, schema, models
shard.new/                         a shard that is being made: by the first use, or by reembed
shard.old/                         the shard that a new one has just replaced
```

A shard comes to be under another name and gets its own by a rename, so that whatever moment
a process is killed at, what is there is either whole or known to be a leftover.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import qdrant_edge as edge
from attrs import frozen

from contextkit.embedding import Embedder
from contextkit.errors import StoreError, StoreFullError, StoreModelMismatchError
from contextkit.store.base import DENSE, KEYWORD_MODEL, SCHEMA_VERSION, StoreIdentity
from contextkit.store.edge_queries import shard_config
from contextkit.store.engine_errors import damaged, engine_errors, opening_errors

__all__ = ["OPEN_BYTES", "SPARE_BYTES", "ShardFolder"]

OPEN_BYTES = 16 * 1024 * 1024
"""Room that must be free to open a shard; without any, the engine ends the process."""

SPARE_BYTES = 64 * 1024 * 1024
"""Room that must remain after a write: two of the engine's 32 MiB files, written in full."""


@frozen
class ShardFolder:
    """The files of one embedded store; every method needs the shard's lock.

    Attributes:
        path: the store's folder.
    """

    path: Path

    @property
    def shard(self) -> Path:
        """The engine's folder."""
        return self.path / "shard"

    @property
    def _new(self) -> Path:
        return self.path / "shard.new"

    @property
    def _old(self) -> Path:
        return self.path / "shard.old"

    # -- opening --------------------------------------------------------------------------

    def open(self, embedder: Embedder) -> tuple[edge.EdgeShard, StoreIdentity]:
        """Open the shard for an embedder, making it where there is none.

        Raises:
            StoreBusyError: where a process that keeps no turns has it.
            StoreDamagedError: where it is there and does not open.
            StoreFullError: where the disk has no room even for that.
            StoreModelMismatchError: where another model made its vectors.
        """
        try:
            self.tidy()
            self.require_room(self._holes_filled_by_reading(), OPEN_BYTES, "opening it")
            if not self.shard.exists():
                with self.replacing(StoreIdentity(uuid.uuid4().hex, embedder.name)):
                    pass
        except OSError as error:
            raise StoreError(f"cannot open the store at {self.path}: {error}") from error
        identity = self.identity()
        if identity.model != embedder.name and not embedder.problem:
            raise StoreModelMismatchError(
                f"the store at {self.path} has vectors of '{identity.model}', the configured "
                f"model is '{embedder.name}': run `contextkit reembed`, or set embedding.model back"
            )
        return self.load(), identity

    def load(self) -> edge.EdgeShard:
        """Open the shard that is there."""
        self._refuse_lost_segments()
        with opening_errors(self.path):
            return edge.EdgeShard.load(str(self.shard))

    def _refuse_lost_segments(self) -> None:
        """Refuse a shard that the engine would open with fewer records than it had.

        It takes a segment without `version.info` for one that was never finished, deletes it
        and goes on; one without points is just that.
        """
        segments = [folder for folder in self.shard.glob("segments/*/") if folder.name[0] != "."]
        if not segments:
            raise damaged(self.path, "its segments are gone")
        for segment in segments:
            points = any(segment.glob("*id_tracker.mappings"))
            if points and not (segment / "version.info").exists():
                raise damaged(self.path, f"{segment.name} has no version.info")

    def identity(self) -> StoreIdentity:
        """What meta.json says.

        Raises:
            StoreDamagedError: where it says nothing that can be read.
            StoreError: where another version of contextkit made the store.
        """
        meta = self.shard / "meta.json"
        try:
            stored = json.loads(meta.read_bytes())
            made_by = (stored["schema"], stored["keywords"])
            identity = StoreIdentity(str(stored["id"]), str(stored["model"]))
        except FileNotFoundError as error:
            raise damaged(self.path, "meta.json is not there") from error
        except OSError as error:
            raise StoreError(f"cannot read {meta}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(self.path, "meta.json is not what it should be") from error
        if made_by != (SCHEMA_VERSION, KEYWORD_MODEL):
            raise StoreError(
                f"another version of contextkit made the store at {self.path}: run `contextkit "
                f"export` with that version, then `contextkit import` into a new store"
            )
        return identity

    # -- making and replacing -------------------------------------------------------------

    @contextlib.contextmanager
    def replacing(self, identity: StoreIdentity) -> Iterator[edge.EdgeShard]:
        """A new, empty shard that takes the place of the one there, if this ends well."""
        self.require_room(0, SPARE_BYTES, "making it")
        self._new.mkdir()
        try:
            with engine_errors(f"making the store at {self.path}"):
                shard = edge.EdgeShard.create(str(self._new), shard_config())
            try:
                yield shard
            finally:
                with engine_errors(f"making the store at {self.path}"):
                    shard.close()
            self._write_meta(identity)
        except BaseException:
            shutil.rmtree(self._new, ignore_errors=True)
            raise
        if self.shard.exists():
            self.shard.rename(self._old)
        self._new.rename(self.shard)
        self.tidy()

    def _write_meta(self, identity: StoreIdentity) -> None:
        meta: dict[str, Any] = {
            "schema": SCHEMA_VERSION,
            "keywords": KEYWORD_MODEL,
            "id": identity.id,
            "model": identity.model,
        }
        (self._new / "meta.json").write_text(json.dumps(meta), encoding="utf-8")

    def tidy(self) -> None:
        """Finish or undo what a killed process left half done."""
        if not self.shard.exists() and self._old.exists():
            # The old shard is only put aside once the new one is whole.
            (self._new if self._new.exists() else self._old).rename(self.shard)
        # A killed optimization leaves what it was building.
        for leftover in (self._new, self._old, self.shard / "temp_segments"):
            if leftover.exists():
                shutil.rmtree(leftover)

    # -- room -----------------------------------------------------------------------------

    def size(self) -> int:
        """Bytes that the shard takes on the disk; its files have holes where that can be."""
        found = [file.stat() for file in self.shard.rglob("*")]
        return sum(512 * getattr(stat, "st_blocks", -(-stat.st_size // 512)) for stat in found)

    def _holes_filled_by_reading(self) -> int:
        """Bytes that the files may take on the disk by being read.

        The engine reads its indexes and dense vectors into memory when it opens, and a disk
        in memory gives a page to every hole that is read. Such a disk is none of the devices
        that have a number of their own.
        """
        major = getattr(os, "major", None)
        if major is None or major(self.path.stat().st_dev) != 0:
            return 0
        patterns = ("segments/*/payload_index/**/*", f"segments/*/vector_storage-{DENSE}/**/*")
        found = [file.stat() for pattern in patterns for file in self.shard.glob(pattern)]
        return sum(max(0, stat.st_size - 512 * stat.st_blocks) for stat in found)

    def require_room(self, size: int, spare: int, doing: str) -> None:
        """Raise `StoreFullError` unless `size` bytes fit on the disk and `spare` remain.

        The engine maps its files into memory: a write without room for it would not fail
        but end the process.
        """
        free = shutil.disk_usage(self.path).free
        if free < size + spare:
            raise StoreFullError(
                f"the disk of the store at {self.path} has {free // 2**20} MiB left, {doing} "
                f"needs {-(-(size + spare) // 2**20)} MiB: free some room; nothing was stored"
            )
