"""Whether the store opens, what is in it, and whether there is room for more."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from attrs import define

from contextkit.config.layers import data_folder
from contextkit.errors import (
    ContextKitError,
    RecordDamagedError,
    StoreDamagedError,
    StoreFullError,
)
from contextkit.health.finding import Finding, fine, problem, warning
from contextkit.health.privacy import privacy_findings
from contextkit.registry import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.opening import DATA_NAMES
from contextkit.store.shard_folder import SPARE_BYTES, STORE_NAMES, ShardFolder
from contextkit.store.verifying import verify

__all__ = ["StoreCheck", "size_in_words"]

PART = "store"
_LITTLE_ROOM = 1024**3
_SHOWN_RECORDS = 20
_REBUILD = "run `contextkit reembed`, which makes indexes and vectors anew"
_READ_ONLY = "give yourself the right to, or set store.path or CONTEXTKIT_HOME"


@define
class StoreCheck:
    """The record store.

    Attributes:
        store: the store; it is not made by looking at it.
        registry: whose sources' records are counted.
        deep: whether every record is read and verified.
        usable: whether there is a store and it opens, once `findings` is done.
    """

    store: RecordStore
    registry: SourceRegistry
    deep: bool = False
    usable: bool = False

    def findings(self) -> Iterator[Finding]:
        """Whether it opens and what it holds; for an embedded one, also its folder."""
        if isinstance(self.store, EmbeddedStore) and not self.store.path.exists():
            yield fine(PART, f"none yet: it will be made at {self.store.path}")
        else:
            yield self._opened()
        if self.deep and self.usable:
            yield from self._verified()
        if isinstance(self.store, EmbeddedStore):
            lost = ShardFolder(self.store.path).lost.problem
            if lost is not None:
                yield problem(PART, lost)
            yield self._room(self.store.path)
            yield from privacy_findings(data_folder(), DATA_NAMES)
            yield from privacy_findings(self.store.path, STORE_NAMES)

    def _verified(self) -> Iterator[Finding]:
        verified = verify(self.store)
        for name in verified.damaged[:_SHOWN_RECORDS]:
            yield problem(PART, f"damaged: {name}", "`contextkit import` an export that has it")
        if len(verified.damaged) > _SHOWN_RECORDS:
            yield problem(PART, f"damaged: {len(verified.damaged):,} records in all")
        for words in verified.miscounted:
            yield problem(PART, f"an index finds other records than there are, {words}", _REBUILD)
        if verified.other_vectors:
            names = ", ".join(verified.other_vectors[:_SHOWN_RECORDS])
            count = len(verified.other_vectors)
            text = f"the vectors of {count:,} records are not those of their text: {names}"
            yield problem(PART, text, _REBUILD)
        yield fine(PART, f"{verified.records:,} records are what was stored")

    def _opened(self) -> Finding:
        try:
            counts = {name: self.store.count(name, None, {}) for name in self.registry.sources}
            total = self.store.count(None, None, {})
        except ContextKitError as error:
            return problem(PART, str(error), _remedy(error))
        self.usable = True
        parts = [f"{name} {count:,}" for name, count in counts.items() if count]
        others = total - sum(counts.values())
        if others > 0:
            parts.append(f"of sources that are off or gone {others:,}")
        held = f": {', '.join(parts)}" if parts else ""
        return fine(PART, f"{total:,} records of all projects{held}")

    def _room(self, path: Path) -> Finding:
        folder = next(each for each in (path, *path.absolute().parents) if each.exists())
        size = 0
        try:
            size = ShardFolder(path).size() if path.exists() else 0
            # The permissions alone do not tell: a file system may be read-only.
            with tempfile.TemporaryFile(dir=folder):
                pass
            free = shutil.disk_usage(folder).free
        except OSError as error:
            text = f"{folder} cannot be written to: {error.strerror or error}"
            if self.usable:
                # Every process that reads it copies it first.
                return warning(PART, f"{text}; {size_in_words(size)} to be read", _READ_ONLY)
            return problem(PART, text, _READ_ONLY)
        text = f"{size_in_words(size)} at {path}, {size_in_words(free)} free"
        if free < SPARE_BYTES:
            return problem(PART, text, "free some room: nothing more is stored")
        if free < _LITTLE_ROOM:
            return warning(PART, text, "free some room")
        return fine(PART, text)


def _remedy(error: ContextKitError) -> str | None:
    if isinstance(error, StoreDamagedError) and not isinstance(error, RecordDamagedError):
        return "move it away and `contextkit import` your last export"
    return "free some room" if isinstance(error, StoreFullError) else None


def size_in_words(size: float) -> str:
    """A number of bytes as a person reads it."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:,.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:.1f} {unit}"
