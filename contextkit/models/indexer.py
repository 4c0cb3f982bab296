"""What a source's index hook receives."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit.files import write_atomically
from contextkit.models.records import Records


@frozen(kw_only=True)
class Progress:
    """The progress of an index run.

    Attributes:
        source: the indexed source.
        label: the counted units, for instance `files`.
        done: the number of finished units.
        total: the number of all units, or None if it is not known yet.
    """

    source: str
    label: str
    done: int
    total: int | None


@frozen
class IndexState:
    """A source's state between index runs, one JSON object.

    It belongs to one source, project and store: a new store starts with an empty state.
    """

    path: Path

    def load(self) -> dict[str, Any]:
        """Return the saved object.

        Returns an empty value if there is none or it is unreadable.
        """
        with contextlib.suppress(OSError, ValueError, RecursionError):
            loaded = json.loads(self.path.read_bytes())
            if isinstance(loaded, dict):
                return loaded
        return {}

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace the object, atomically.

        Save it after the records that it describes.
        """
        write_atomically(self.path, json.dumps(state, separators=(",", ":")))

    def clear(self) -> None:
        """Delete the object, so that the next run starts over."""
        self.path.unlink(missing_ok=True)


@frozen(kw_only=True)
class Indexer:
    """One index run of one source.

    Attributes:
        workspace: the workspace's root folder.
        project: the project the records belong to.
        records: the source's records.
        state: what the source remembers between runs: `state.save({…})` stores JSON values,
            `state.load()` returns them, or `{}`; save after the records.
        settings: the source's own settings that are set, `[sources.NAME]`.
        owned_elsewhere: paths in the workspace that other enabled sources have indexed as their
            own (`SourceInfo.owns_files`): a source for files of every kind skips them.
        query: the question that somebody asks and waits for, or empty: what may answer it is
            indexed first.
    """

    workspace: Path
    project: str
    records: Records
    state: IndexState
    settings: Mapping[str, Any]
    _report: Callable[[Progress], None]
    owned_elsewhere: frozenset[str] = frozenset()
    query: str = ""
    _ends: float | None = None

    @property
    def time_is_up(self) -> bool:
        """Whether to leave the rest to a later run.

        Look at it after each batch that was stored, but store one batch in any case, and give
        `IndexReport.remaining`.
        """
        return self._ends is not None and time.monotonic() >= self._ends

    def progress(self, done: int, total: int | None, label: str) -> None:
        """Report the progress.

        It is cheap enough to be called for each unit.
        """
        self._report(Progress(source=self.records.source, label=label, done=done, total=total))
