"""Track sources whose index is incomplete.

An index run that takes longer writes its progress to a file, and deletes it when all is done. What
a run leaves for later, or did not reach before it was killed, stays in the file until a later run
completes it. Contexts that are assembled meanwhile have a note.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit.config.load import data_folder
from contextkit.files import make_private_folder, write_atomically
from contextkit.models.indexer import Progress
from contextkit.store.base import RecordStore

PARTLY = "answered from a part of the index"
"""How the note of such a context begins."""

_WRITTEN_SECONDS = 1.0
"""The time before the first write, and between two."""


def _file(checkout: str) -> Path:
    digest = hashlib.sha256(checkout.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return data_folder() / "indexing" / f"{digest}.json"


def _read(file: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(file.read_bytes())
        if isinstance(found, dict):
            return found
    return {}


@define
class PartialIndex:
    """Writes the progress of a checkout's index run.

    Attributes:
        checkout: the project of the run's records.
        told: gets each progress as well.
    """

    checkout: str
    told: Callable[[Progress], None]
    _latest: dict[str, Progress] = field(factory=dict, init=False)
    _written: float = field(factory=time.monotonic, init=False)

    def report(self, progress: Progress) -> None:
        """Note and pass on the progress of a source."""
        self._latest[progress.source] = progress
        self.told(progress)
        now = time.monotonic()
        if now - self._written >= _WRITTEN_SECONDS:
            self._written = now
            self._write({})

    def end(self, remaining: dict[str, int]) -> None:
        """Note what the run left for a later one.

        Args:
            remaining: source -> the number of units; None is left of a source with 0.
        """
        self._write(remaining)

    def _write(self, remaining: dict[str, int]) -> None:
        """Change the entries of this run's sources; others may be of an earlier run."""
        file = _file(self.checkout)
        before = _read(file)
        after = before | {p.source: _words(p) for p in self._latest.values() if _is_under_way(p)}
        for source, left in remaining.items():
            after.pop(source, None)
            if left:
                latest = self._latest.get(source)
                after[source] = _words(latest) if latest else f"{left:,} left"
        if after == before:
            return
        # The file only serves notes.
        with contextlib.suppress(OSError):
            if after:
                make_private_folder(file.parent)
                write_atomically(file, json.dumps(after))
            else:
                file.unlink(missing_ok=True)


def _is_under_way(progress: Progress) -> bool:
    return progress.total is None or progress.done < progress.total


def _words(progress: Progress) -> str:
    of = "" if progress.total is None else f" of {progress.total:,}"
    return f"{progress.done:,}{of} {progress.label}"


def partly_indexed(checkout: str, sources: Collection[str]) -> Iterator[str]:
    """Describe how far the index of these sources is, unless it is complete."""
    found = _read(_file(checkout))
    named = [f"{source} ({how})" for source, how in found.items() if source in sources]
    if named:
        yield f"{PARTLY}, which is not complete yet: {', '.join(named)}"


def state_folder(store: RecordStore, project: str) -> Path:
    """The folder of a project's index states."""
    return _states() / store.identity.id / _state_name(project)


def never_indexed(checkout: str) -> Iterator[str]:
    """Tell what to do if the checkout was never indexed, into whatever store.

    The store is not asked, as another process may have it.

    Args:
        checkout: the project of the checkout's records.
    """
    if not any(_states().glob(f"*/{_state_name(checkout)}")):
        yield "the project is not indexed yet: run `contextkit index`, or call `kit.index()`"


def _states() -> Path:
    return data_folder() / "state"


def _state_name(project: str) -> str:
    return hashlib.sha256(project.encode("utf-8")).hexdigest()[:16]
