"""Check the stored data: store, privacy, index and cache.

The checks show whether the store opens, its content and its free space, and whether other users can
read what is stored. They also show when each source's records were last updated from the workspace,
whether there is a cache, and whether its Redis answers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from contextkit.cli.checks.finding import Finding, fine, problem, warning
from contextkit.config.load import data_folder
from contextkit.errors import (
    ContextKitError,
    RecordDamagedError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
)
from contextkit.files import is_wide
from contextkit.indexing.partial import state_folder
from contextkit.models.record import CHECKOUTS
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.open import DATA_NAMES, is_made, place_of
from contextkit.store.ownership import Ownership
from contextkit.store.shard_folder import SPARE_BYTES, STORE_NAMES, ShardFolder
from contextkit.store.verify import verify
from contextkit.workspace.repository import as_text

if TYPE_CHECKING:
    from contextkit.cache.caches import Caches

_PRIVACY = "store"


def privacy_findings(folder: Path, own: Collection[str]) -> Iterator[Finding]:
    """Warn where other users keep rights to a folder.

    A warning means that the rights could not be narrowed.

    Args:
        folder: the folder; it need not be there.
        own: the names of contextkit's own files and folders in it.
    """
    if not hasattr(os, "geteuid") or not folder.exists():
        return
    owner = folder.stat().st_uid
    if owner != os.geteuid():
        yield warning(
            _PRIVACY,
            f"{folder} belongs to the user {owner}, who can read what you store there",
            "set store.path or CONTEXTKIT_HOME to a folder of your own",
        )
    elif is_wide(folder):
        wide = sum(1 for name in own for _ in _open_to_others(folder / name))
        if wide:
            yield warning(
                _PRIVACY,
                f"other users have rights to {wide:,} files and folders in {folder}",
                f"`chmod -R go= {folder}` unless others need them",
            )


def _open_to_others(path: Path) -> Iterator[Path]:
    """Yield files and folders that other users can reach.

    The content of a private folder is private.
    """
    if is_wide(path):
        yield path
        for each in path.iterdir() if path.is_dir() else ():
            yield from _open_to_others(each)


_STORE = "store"
_LITTLE_ROOM = 1024**3
_SHOWN_RECORDS = 20
_REBUILD = "run `contextkit reembed`, which rebuilds indexes and vectors"
_READ_ONLY = "give yourself write permission, or set store.path or CONTEXTKIT_HOME"


@define
class StoreCheck:
    """The check of the record store.

    Attributes:
        store: the store; a check never creates it.
        registry: whose sources' records are counted.
        deep: whether every record is read and verified.
        usable: whether there is a store and it opens, once `findings` is done.
    """

    store: RecordStore
    registry: SourceRegistry
    deep: bool = False
    usable: bool = False

    def findings(self) -> Iterator[Finding]:
        """Check that the store opens, and describe its content.

        For an embedded store, the folder is checked as well.
        """
        if self._is_missing():
            yield fine(_STORE, f"none yet; it will be created at {place_of(self.store)}")
        else:
            yield self._opened()
        if self.usable and not isinstance(self.store, EmbeddedStore):
            # The client takes a second to import.
            from contextkit.cli.checks.server import server_findings

            yield from server_findings(self.store)
        if self.deep and self.usable:
            yield from self._verified()
        if isinstance(self.store, EmbeddedStore):
            lost = ShardFolder(self.store.path).lost.problem
            if lost is not None:
                yield problem(_STORE, lost)
            yield self._room(self.store.path)
            yield from privacy_findings(data_folder(), DATA_NAMES)
            yield from privacy_findings(self.store.path, STORE_NAMES)

    def _is_missing(self) -> bool:
        # A server that does not answer is reported by the next step.
        with contextlib.suppress(StoreError):
            return not is_made(self.store)
        return False

    def _verified(self) -> Iterator[Finding]:
        verified = verify(self.store)
        for name in verified.damaged[:_SHOWN_RECORDS]:
            yield problem(_STORE, f"damaged: {name}", "`contextkit import` an export that has it")
        if len(verified.damaged) > _SHOWN_RECORDS:
            yield problem(_STORE, f"damaged: {len(verified.damaged):,} records in all")
        for words in verified.miscounted:
            yield problem(_STORE, f"an index does not match the records, {words}", _REBUILD)
        if verified.other_vectors:
            names = ", ".join(verified.other_vectors[:_SHOWN_RECORDS])
            count = len(verified.other_vectors)
            text = f"the vectors of {count:,} records do not match their text: {names}"
            yield problem(_STORE, text, _REBUILD)
        yield fine(_STORE, f"{verified.records:,} records are intact")

    def _opened(self) -> Finding:
        try:
            # All of them first: what an index run adds meanwhile is not of an unknown source.
            total = self.store.count(None, None, {}) - self.store.count(CHECKOUTS, None, {})
            counts = {name: self.store.count(name, None, {}) for name in self.registry.sources}
        except ContextKitError as error:
            return problem(_STORE, str(error), _remedy(error))
        self.usable = True
        parts = [f"{name} {count:,}" for name, count in counts.items() if count]
        known = sum(counts.values())
        if total > known:
            parts.append(f"of sources that are off or not installed {total - known:,}")
        held = f": {', '.join(parts)}" if parts else ""
        return fine(_STORE, f"{max(total, known):,} records of all projects{held}")

    def _room(self, path: Path) -> Finding:
        folder = next(each for each in (path, *path.absolute().parents) if each.exists())
        size = 0
        try:
            size = ShardFolder(path).size() if path.exists() else 0
            # The permissions alone are not enough: a file system may be read-only.
            with tempfile.TemporaryFile(dir=folder):
                pass
            free = shutil.disk_usage(folder).free
        except OSError as error:
            text = f"{folder} cannot be written to: {error.strerror or error}"
            if self.usable:
                # A store on a read-only file system is copied first by every process that reads it.
                return warning(_STORE, f"{text}; {size_in_words(size)} to be read", _READ_ONLY)
            return problem(_STORE, text, _READ_ONLY)
        text = f"{size_in_words(size)} at {path}, {size_in_words(free)} free"
        if free < SPARE_BYTES:
            return problem(_STORE, text, "free some disk space: nothing more can be stored")
        if free < _LITTLE_ROOM:
            return warning(_STORE, text, "free some disk space")
        return fine(_STORE, text)


def _remedy(error: ContextKitError) -> str | None:
    if isinstance(error, StoreDamagedError) and not isinstance(error, RecordDamagedError):
        return "move it away and `contextkit import` your last export"
    return "free some disk space" if isinstance(error, StoreFullError) else None


def size_in_words(size: float) -> str:
    """Format a number of bytes for a person."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:,.0f} {unit}" if size >= 10 or unit == "bytes" else f"{size:.1f} {unit}"


_INDEX = "index"
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def index_findings(
    registry: SourceRegistry, store: RecordStore | None, workspace: Path
) -> Iterator[Finding]:
    """Yield one finding for each source that indexes something.

    Args:
        registry: the plugins.
        store: the store, or None where there is none.
        workspace: the checkout that was indexed.
    """
    folder = None
    if store is not None:
        with contextlib.suppress(StoreError):
            checkout = Ownership.of(registry.config).checkout(as_text(workspace))
            folder = state_folder(store, checkout)
    for name in registry.sources:
        if not registry.implements(name, "contextkit_index"):
            continue
        at = _last(folder / f"{name}.json") if folder is not None else None
        if at is None:
            text = f"{name}: this folder has not been indexed"
            yield warning(
                _INDEX, text, "run `contextkit index`, or `contextkit assemble`, which does it too"
            )
        else:
            yield fine(_INDEX, f"{name}: last change indexed {_ago(time.time() - at)}")


def _last(state: Path) -> float | None:
    try:
        return state.stat().st_mtime
    except OSError:
        return None


def _ago(seconds: float) -> str:
    for length, unit in _UNITS:
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "less than a minute ago"


_CACHE = "cache"


def cache_findings(caches: Caches | None) -> Iterator[Finding]:
    """Yield one finding on the cache.

    The cache may be off, in memory, or in Redis. For Redis, its address and content are described.
    """
    if caches is None:
        yield fine(_CACHE, "off")
    elif caches.levels.redis is None:
        yield fine(_CACHE, "in the memory of each process")
    else:
        yield _redis(caches)


def _redis(caches: Caches) -> Finding:
    url, counts = caches.settings.url, caches.levels.counts_blocking()
    if counts is None:
        reason = caches.levels.redis.problem if caches.levels.redis else None
        remedy = f"start it, or correct cache.url or {caches.settings.password_variable}"
        return warning(
            _CACHE, f"{url} does not answer: {reason}; contextkit works without it", remedy
        )
    held = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    return fine(_CACHE, f"{url}: {held or 'empty'}")
