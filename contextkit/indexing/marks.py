"""Notice that a server no longer has what this machine's index states say.

An index state is on this machine, and the records are on a server, where others can delete them,
and where a collection can be dropped or restored from a snapshot. So each checkout has a mark in
the collection: a record of the source `CHECKOUTS` with a random token for each source's last run
that changed something. This machine keeps the same tokens beside the states, with the number of
records. Where they differ, the state is deleted, and the run indexes everything again.

The mark also says whose checkout it is and when it was last indexed, for `forget_unused`.
"""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import asdict, define, field, frozen

from contextkit.errors import RecordDamagedError
from contextkit.files import write_atomically
from contextkit.logs import get_logger
from contextkit.models.indexer import IndexState
from contextkit.models.record import CHECKOUTS, Range, Record
from contextkit.models.records import Checkout
from contextkit.store.base import RecordStore

_ID = "checkout"
_RENEWED_AFTER = timedelta(days=1)
"""How old the time in a mark may be; a run that finds nothing new writes it this rarely."""

_log = get_logger(__name__)


@frozen
class _Run:
    """A source's last run that changed something.

    Attributes:
        token: as in the mark.
        state: the digest of the index state after it.
        records: the number of records after it.
    """

    token: str
    state: str
    records: int


@define
class IndexMarks:
    """The mark of one checkout, and what this machine keeps of it.

    Attributes:
        store: has the mark.
        checkout: the checkout.
        owner: the project of the user's own records.
        folder: has the index states.
    """

    store: RecordStore
    checkout: Checkout
    owner: str
    folder: Path
    _kept: dict[str, _Run] = field(init=False)
    _marked: dict[str, str] = field(init=False)
    _changed: bool = field(default=False, init=False)
    _noted: list[IndexState] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self._kept, found = _read(self._file), self._found()
        self._marked = dict(found.fields.get("runs", {})) if found else {}
        if found is None:
            # A first run that ends early is continued, and `save` sees whether others delete.
            self._write()
        elif found.created_at < datetime.now(UTC) - _RENEWED_AFTER:
            self._changed = True

    def check(self, source: str, state: IndexState) -> None:
        """Delete a source's state unless the collection has what it says."""
        if state.path.exists() and not self._is_intact(source, state):
            _log.warning("indexed_again", source=source, reason="the server's records changed")
            state.clear()

    def _is_intact(self, source: str, state: IndexState) -> bool:
        token, kept = self._marked.get(source), self._kept.get(source)
        if token is None or kept is None:
            # Neither: the first run was interrupted, and the state can be continued.
            return token is None and kept is None
        if token != kept.token:
            return False
        # A run that was interrupted later has another state, which says what is in doubt.
        return _digest(state) != kept.state or self._count(source) == kept.records

    def note(self, source: str, state: IndexState, *, changed: bool) -> None:
        """Remember a source's run.

        Args:
            source: the source.
            state: its state after the run.
            changed: whether it may have changed records.
        """
        kept, digest = self._kept.get(source), _digest(state)
        if changed or kept is None or kept.state != digest:
            self._kept[source] = _Run(secrets.token_hex(8), digest, self._count(source))
            self._marked[source] = self._kept[source].token
            self._noted.append(state)
            self._changed = True

    def save(self) -> None:
        """Write the mark, if it changed."""
        if not self._changed:
            return
        if self._found() is None:
            # Another process deleted the checkout's records during the run.
            for state in self._noted:
                state.clear()
        runs = {source: asdict(run) for source, run in self._kept.items()}
        write_atomically(self._file, json.dumps(runs))
        self._write()

    def _found(self) -> Record | None:
        try:
            found = self.store.get([_mark(self.checkout.root).point_id])
        except RecordDamagedError:
            return None
        return found[0] if found else None

    def _write(self) -> None:
        fields = {
            "folder": self.checkout.folder,
            "host": platform.node(),
            "user": self.owner,
            "runs": self._marked,
        }
        self.store.put([_mark(self.checkout.root, fields)])
        self._changed = False

    def _count(self, source: str) -> int:
        return self.store.count(source, [self.checkout.root], {})

    @property
    def _file(self) -> Path:
        # No source has such a name.
        return self.folder / ".runs.json"


def _mark(project: str, fields: dict[str, Any] | None = None) -> Record:
    return Record(id=_ID, text="", fields=fields or {}, source=CHECKOUTS, project=project)


def _digest(state: IndexState) -> str:
    try:
        return hashlib.sha256(state.path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read(file: Path) -> dict[str, _Run]:
    try:
        return {source: _Run(**run) for source, run in json.loads(file.read_bytes()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


@frozen
class UnusedCheckout:
    """A checkout on a server that was not indexed for long.

    Attributes:
        project: its project in the store.
        folder: its path, on its machine.
        host: the name of the machine.
        indexed_at: when it was last indexed.
        records: the number of its records.
    """

    project: str
    folder: str
    host: str
    indexed_at: datetime
    records: int


def unused_checkouts(store: RecordStore, since: datetime) -> list[UnusedCheckout]:
    """List the checkouts that were last indexed before a time, the oldest first."""
    marks = store.scan(CHECKOUTS, None, {"created_at": Range(lt=since)})
    return [_unused(store, mark) for mark in sorted(marks, key=lambda mark: mark.created_at)]


def _unused(store: RecordStore, mark: Record) -> UnusedCheckout:
    return UnusedCheckout(
        project=mark.project,
        folder=str(mark.fields.get("folder", "")),
        host=str(mark.fields.get("host", "")),
        indexed_at=mark.created_at,
        records=store.count(None, [mark.project], {}) - 1,
    )


def forget_checkouts(store: RecordStore, checkouts: list[UnusedCheckout]) -> None:
    """Delete what index runs of checkouts wrote; their next run indexes everything again."""
    for checkout in checkouts:
        # The mark goes first: a run that begins meanwhile sees that the records are going.
        for source in sorted(store.identity.sources, key=lambda name: name != CHECKOUTS):
            store.delete_where(source, [checkout.project], {})
