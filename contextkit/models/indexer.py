"""What a source gets to bring its records up to date with the workspace."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit.files import write_atomically
from contextkit.models.records import Records


@frozen(kw_only=True)
class Progress:
    """How far an index run is.

    Attributes:
        source: the source that is indexed.
        label: what is counted, for instance `files`.
        done: how many are done.
        total: how many there are, or None when that is not known yet.
    """

    source: str
    label: str
    done: int
    total: int | None


@frozen
class IndexState:
    """What a source remembers between index runs: one JSON object on this machine.

    It belongs to one source, project and store: a new store starts with an empty state.
    """

    path: Path

    def load(self) -> dict[str, Any]:
        """The object that was saved last; empty when there is none or it is unreadable."""
        with contextlib.suppress(OSError, ValueError, RecursionError):
            loaded = json.loads(self.path.read_bytes())
            if isinstance(loaded, dict):
                return loaded
        return {}

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace it, atomically. Save after the records it speaks of are stored."""
        write_atomically(self.path, json.dumps(state, separators=(",", ":")))

    def clear(self) -> None:
        """Forget everything, so that the next run starts anew."""
        self.path.unlink(missing_ok=True)


@frozen(kw_only=True)
class Indexer:
    """One index run of one source.

    Attributes:
        workspace: the workspace's root folder.
        project: the project the records belong to.
        records: the source's records.
        state: what the source remembers between runs: `state.save({…})` keeps JSON values,
            `state.load()` gives them, `{}` where there are none; save after the records.
        settings: the source's own settings, `[sources.NAME]`, as far as they are set.
        owned_elsewhere: paths in the workspace that sources which are on have indexed as their
            own (`SourceInfo.owns_files`): a source that takes files of every kind leaves them.
    """

    workspace: Path
    project: str
    records: Records
    state: IndexState
    settings: Mapping[str, Any]
    _report: Callable[[Progress], None]
    owned_elsewhere: frozenset[str] = frozenset()

    def progress(self, done: int, total: int | None, label: str) -> None:
        """Report the progress of the run; cheap, call it per unit of work."""
        self._report(Progress(source=self.records.source, label=label, done=done, total=total))
