"""Record item usage for strategies that score it.

A SQLite database beside the store has one number within 0..1 for each project and item. An
item in a context moves a tenth of the way to one half; an item that the host marks as used
moves half of the way to one. The number halves with time. Items that were only shown never get
past one half: with a weight of 10% that is a twentieth of a score, which a clearly better match
always outweighs. A repeated request raises only items that it did not show the last time. An
assembly reads the history before it scores items, and writes it when they fit.

Every call opens the database and closes it again, so that any number of processes and threads
may use it, and one of them waits for another no longer than a tenth of a second by default.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field, frozen

from contextkit.budget.fit import Fitted
from contextkit.concurrency import in_thread
from contextkit.config.load import data_folder
from contextkit.config.settings import Config
from contextkit.errors import InvalidRequestError, UseHistoryError
from contextkit.files import make_private_folder, open_private
from contextkit.logs import get_logger
from contextkit.models.context import FormattedContext
from contextkit.models.items import ContextItem
from contextkit.models.request import ContextRequest
from contextkit.pipeline.gather import Answer
from contextkit.pipeline.trace import Stopwatch

if TYPE_CHECKING:
    import sqlite3


Key = tuple[str, str]
"""An item: its source, and its id there."""

_SECONDS_PER_DAY = 86_400.0
_SHOWN = (0.1, 0.5)
_USED = (0.5, 1.0)
"""What part of the way a signal goes to which end."""

_TABLE = """
CREATE TABLE IF NOT EXISTS chosen (
    project TEXT NOT NULL,
    item TEXT NOT NULL,
    signal REAL NOT NULL,
    at REAL NOT NULL,
    request INTEGER NOT NULL,
    PRIMARY KEY (project, item)
) WITHOUT ROWID
"""
_KNOWN = """
SELECT item, signal, at, request FROM chosen
WHERE project = ? AND item IN (SELECT value FROM json_each(?))
"""
_TOO_MANY = """
DELETE FROM chosen WHERE project = :project AND item IN (
    SELECT item FROM chosen WHERE project = :project ORDER BY at, item
    LIMIT max(0, (SELECT count(*) FROM chosen WHERE project = :project) - :most)
)
"""


@frozen(kw_only=True)
class Chosen:
    """An item that was chosen.

    Attributes:
        source: its source.
        id: its id there.
        signal: how often and how lately, within 0..1.
        at: when it was chosen last, in seconds since 1970.
    """

    source: str
    id: str
    signal: float
    at: float


@frozen
class UseHistory:
    """The usage history in one file; safe to share.

    Attributes:
        file: its path; the file and its folder are created with the first entry.
        half_life_days: days after which a signal is half.
        max_items: items that are kept of each project; those chosen longest ago go.
        timeout: seconds to wait for another process that writes.
        clock: seconds since 1970.

    Every method raises `UseHistoryError` where the file cannot be used.
    """

    file: Path
    half_life_days: float = 30.0
    max_items: int = 10_000
    timeout: float = 0.1
    clock: Callable[[], float] = field(default=time.time)

    def signals(self, project: str, items: Iterable[Key]) -> dict[Key, float]:
        """Return the usage signals of items, 0..1.

        Items that were never chosen are left out. A signal measures how often and how lately an
        item was chosen.
        """
        if not self._is_there():
            return {}
        now, names = self.clock(), {item: _name(item) for item in items}
        with self._open() as database:
            rows = self._known(database, project, names.values())
        return {item: self._faded(rows[name], now) for item, name in names.items() if name in rows}

    def shown(self, project: str, items: Iterable[Key], request: str) -> None:
        """Record the items shown in a context.

        Args:
            project: the project of the items.
            items: the items in the context.
            request: the request; items that it showed before keep their signal.
        """
        self._choose(project, items, _SHOWN, zlib.crc32(request.encode("utf-8", "replace")))

    def used(self, project: str, items: Iterable[Key]) -> None:
        """Record items as used."""
        self._choose(project, items, _USED, None)

    def listed(self, project: str) -> list[Chosen]:
        """List all chosen items, strongest signal first."""
        if not self._is_there():
            return []
        now = self.clock()
        with self._open() as database:
            rows = database.execute(
                "SELECT item, signal, at FROM chosen WHERE project = ?", (project,)
            ).fetchall()
        found = [
            Chosen(
                source=_key(item)[0],
                id=_key(item)[1],
                signal=self._faded((signal, at), now),
                at=at,
            )
            for item, signal, at in rows
        ]
        return sorted(found, key=lambda chosen: (-chosen.signal, chosen.source, chosen.id))

    def clear(self, project: str) -> int:
        """Clear a project's history, and return the number of items.

        A broken file is deleted as a whole.
        """
        if not self._is_there():
            return 0
        try:
            with self._open() as database:
                return database.execute("DELETE FROM chosen WHERE project = ?", (project,)).rowcount
        except UseHistoryError as error:
            if not _is_broken(error.__cause__):
                raise
            self._remove()
            return 0

    def _choose(
        self, project: str, items: Iterable[Key], way: tuple[float, float], request: int | None
    ) -> None:
        part, end = way
        wanted = sorted({_name(item) for item in items})
        if not wanted:
            return
        now = self.clock()
        with self._open(makes=True) as database:
            # The lock precedes the read, so that no other process writes in between.
            database.execute("BEGIN IMMEDIATE")
            known = self._known(database, project, wanted)
            for item in wanted:
                signal, at, asked = known.get(item, (0.0, now, None))
                if request is not None and asked == request:
                    continue
                faded = self._faded((signal, at), now)
                risen = max(faded, faded + part * (end - faded))
                row = (project, item, risen, now, asked or 0 if request is None else request)
                database.execute("INSERT OR REPLACE INTO chosen VALUES (?, ?, ?, ?, ?)", row)
            database.execute(_TOO_MANY, {"project": project, "most": self.max_items})

    def _known(
        self, database: sqlite3.Connection, project: str, names: Iterable[str]
    ) -> dict[str, tuple[float, float, int]]:
        rows = database.execute(_KNOWN, (project, json.dumps(list(names)))).fetchall()
        return {item: (signal, at, request) for item, signal, at, request in rows}

    def _faded(self, row: Sequence[float], now: float) -> float:
        signal, at = row[:2]
        days = max(0.0, now - at) / _SECONDS_PER_DAY
        return float(signal * 0.5 ** (days / self.half_life_days))

    @contextlib.contextmanager
    def _open(self, *, makes: bool = False) -> Iterator[sqlite3.Connection]:
        # Only strategies that score usage need the import.
        import sqlite3

        try:
            if makes:
                make_private_folder(self.file.parent)
                # SQLite gives the journal the mode of the database file.
                os.close(open_private(self.file, os.O_RDWR | os.O_CREAT))
            with contextlib.closing(
                sqlite3.connect(self.file, timeout=self.timeout, isolation_level=None)
            ) as database:
                database.execute(_TABLE)
                yield database
                if database.in_transaction:
                    database.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise UseHistoryError(f"{self.file}: {error}") from error

    def _is_there(self) -> bool:
        try:
            return self.file.exists()
        except OSError as error:
            raise UseHistoryError(f"{self.file}: {error}") from error

    def _remove(self) -> None:
        try:
            self.file.unlink(missing_ok=True)
            self.file.with_name(f"{self.file.name}-journal").unlink(missing_ok=True)
        except OSError as error:
            raise UseHistoryError(f"{self.file}: {error}") from error


def history_of(config: Config) -> UseHistory:
    """Open the user's history with the configured numbers."""
    settings = config.history
    return UseHistory(data_folder() / "history.sqlite", settings.half_life_days, settings.max_items)


def _name(item: Key) -> str:
    """Join an item's source and id with a colon.

    A source's name has no colon.
    """
    source, identity = item
    return f"{source}:{identity}".encode("utf-8", "backslashreplace").decode("utf-8")


def _key(name: str) -> Key:
    source, _, identity = name.partition(":")
    return source, identity


def _is_broken(error: BaseException | None) -> bool:
    """Check whether the file is no longer a valid database.

    A file that is only locked or cannot be opened is not broken.
    """
    import sqlite3

    return type(error) is sqlite3.DatabaseError


T = TypeVar("T")

_log = get_logger(__name__)


@define
class Choosing:
    """One assembly's reads and writes of the usage history.

    It reads nothing for a strategy that does not score use. If the history cannot be read, scores
    lack only its signal.

    Attributes:
        history: the history, or None where there is none.
        request: the request that is assembled.
        watch: times it, as the stage `history`.
        notes: the error, for the trace; one line at most.
    """

    history: UseHistory | None
    request: ContextRequest
    watch: Stopwatch
    notes: list[str] = field(factory=list, init=False)

    async def signals(self, answers: Sequence[Answer]) -> Mapping[Key, float]:
        """Map (source, id) of found items to usage signals, 0..1.

        A signal measures how often and how lately an item was chosen.
        """
        if self.history is None or not self.request.strategy.history:
            return {}
        items = [(item.source, item.id) for answer in answers for item in answer.items]
        found = await self._attempt(partial(self.history.signals, self.request.project, items))
        return found or {}

    async def shown(self, fitted: Fitted) -> None:
        """Record the items in the text.

        This applies where the request counts usage and no earlier step failed.
        """
        request = self.request
        counts = request.strategy.history and request.record_use and not self.notes
        if self.history is None or not counts:
            return
        items = [
            (entry.piece.candidate.item.source, entry.piece.candidate.item.id)
            for entries in fitted.placed.values()
            for entry in entries
        ]
        asked = f"{request.recipe}\n{request.query}"
        await self._attempt(partial(self.history.shown, request.project, items, asked))

    async def _attempt(self, call: Callable[[], T]) -> T | None:
        try:
            with self.watch.stage("history"):
                return await in_thread(call)
        except UseHistoryError as error:
            self.notes.append(f"usage history is ignored: {error}")
            _log.warning("use_history_failed", reason=str(error))
            return None


def mark_used(
    history: UseHistory | None,
    project: str,
    used: FormattedContext | Iterable[ContextItem | Key],
) -> None:
    """Record items as used; errors of the history are logged.

    Raises `InvalidRequestError` for a value that is not an item.
    """
    items: Iterable[ContextItem | Key] = used.items if isinstance(used, FormattedContext) else used
    if not isinstance(items, Iterable):
        raise InvalidRequestError(f"expected a context, or items of one, got {used!r}")
    keys = [_checked_key(one) for one in items]
    if history is None:
        return
    try:
        history.used(project, keys)
    except UseHistoryError as error:
        _log.warning("use_history_failed", reason=str(error))


def _checked_key(one: object) -> Key:
    if isinstance(one, ContextItem):
        return one.source, one.id
    if isinstance(one, tuple) and len(one) == 2 and all(isinstance(part, str) for part in one):
        return one
    raise InvalidRequestError(f"expected an item, or its source and its id, got {one!r}")
