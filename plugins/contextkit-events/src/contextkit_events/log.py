"""The event log: add, list and delete events by session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import define, field

from contextkit import Range, Record, Records
from contextkit.concurrency import ForkLock
from contextkit.indexing import Retention, prune
from contextkit.sources import checked_limit
from contextkit_events.event import (
    EVENTS,
    PAST,
    RECORDED,
    SESSIONS,
    TURNS,
    Event,
    InvalidEventError,
    new_event,
    session_record,
)
from contextkit_events.settings import KEEP_DAYS, KEEP_EVENTS

_Events = list[Event]


DEFAULT_SESSION = "default"
"""Session of events that name none, while the log is empty."""

_STORED = [*EVENTS, *TURNS]
_MOST_RECORDS = 3
_BETWEEN_CLEANINGS = 100
_SPARE = 0.1


@define
class EventLog:
    """The events of one project.

    Every method blocks and may be called from any thread.

    ```python
    log = EventLog(kit.records("events"))
    log.add("shell_exec", session="monday", command="pytest -q", exit_code=1)
    log.add("turn", session="monday", role="user", text="why does it fail?")
    log.list(session="monday")
    ```

    Attributes:
        records: the records of the source `events`.
        retention: how many events are kept, and for how long (`kit.retention("events")`).
    """

    records: Records
    retention: Retention = Retention(keep_days=KEEP_DAYS, keep_records=KEEP_EVENTS)
    _to_cleaning: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def add(self, kind: str, *, session: str | None = None, **parts: Any) -> Event:
        """Log one event.

        Args:
            kind: `file_read`, `file_write`, `shell_exec`, `error`, `turn` or another word.
            session: its session; default: the latest one.
            parts: `text`, `path`, `command`, `output`, `exit_code`, `role`, `outcome`,
                `created_at` (default: now) and `id` (default: a new one; one that is there
                is replaced), as `Event` has them.

        Returns:
            The event as it is stored: without secrets of the usual shapes, and cut.

        Raises:
            InvalidEventError: a part has an invalid value; nothing was stored.
        """
        return self.add_all([{"kind": kind, "session": session, **parts}])[0]

    def add_all(self, events: Iterable[Mapping[str, Any]]) -> _Events:
        """Log several events, or none if one is invalid.

        Args:
            events: the `kind` of each, and the other arguments of `add`.

        Raises what `add` raises.
        """
        given = list(events)
        latest = None
        if any(one.get("session") is None for one in given):
            latest = self.latest_session() or DEFAULT_SESSION
        made = [_made(one, latest) for one in given]
        if made:
            self.records.put([*(event.as_record() for event in made), *self._sessions_of(made)])
            self._clean_in_time(len(made))
        return made

    def check(self, event: Mapping[str, Any]) -> None:
        """Validate an event like `add_all`, without storing it."""
        _made(event, DEFAULT_SESSION)

    def list(
        self, *, session: str | None = None, kind: str | None = None, limit: int = 20
    ) -> _Events:
        """List events, newest first.

        Args:
            session: only of this session; default: of all of them.
            kind: only of this kind.
            limit: the most events to return.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        found = self.records.newest(checked_limit(limit), _filters(session, kind))
        return [Event.from_record(record) for record in found]

    def count(self, *, session: str | None = None, kind: str | None = None) -> int:
        """Count the events; takes the arguments of `list`."""
        return self.records.count(_filters(session, kind))

    def sessions(self, limit: int = 5) -> Sequence[str]:
        """Return the session names, the latest event's first."""
        # A session may be recorded, and imported from several transcripts.
        found = self.records.newest(_MOST_RECORDS * limit, {"what": SESSIONS})
        names = dict.fromkeys(str(record.fields["session"]) for record in found)
        return list(names)[:limit]

    def latest_session(self) -> str | None:
        """Return the session with the newest event, or None."""
        return next(iter(self.sessions(1)), None)

    def clear(
        self,
        *,
        session: str | None = None,
        before: datetime | None = None,
        imported: bool = False,
    ) -> int:
        """Delete events; return their number.

        Args:
            session: only of this session; default: of all of them.
            before: only older events; aware.
            imported: only imported events.

        Raises:
            InvalidEventError: `before` has no time zone.
        """
        if before is not None and before.utcoffset() is None:
            raise InvalidEventError(f"before must have a time zone, got {before.isoformat()}")
        chosen: dict[str, Any] = {} if session is None else {"session": session}
        if before is not None:
            chosen["created_at"] = Range(lt=before)
        gone = self.records.count({**chosen, "what": PAST if imported else _STORED})
        if imported:
            chosen["what"] = [*PAST, SESSIONS[1]]
        self.records.delete_where(chosen)
        return gone

    def clean(self) -> None:
        """Delete recorded events past their retention limits.

        While no more than a tenth are too many, deleting by number waits: the store then deletes
        many at once.
        """
        prune(
            self.records.scopes[0],
            self.retention,
            counted={"what": _STORED},
            limited={"what": RECORDED},
            spare=_SPARE,
        )

    def _sessions_of(self, made: Sequence[Event]) -> Sequence[Record]:
        last: dict[str, datetime] = {}
        for event in made:
            last[event.session] = max(event.created_at, last.get(event.session, event.created_at))
        there = self.records.get(*(session_record(name, last[name]).id for name in last))
        for record in there:
            name = str(record.fields["session"])
            last[name] = max(last[name], record.created_at)
        return [session_record(name, when) for name, when in last.items()]

    def _clean_in_time(self, added: int) -> None:
        """Clean on the first write and after every hundred events."""
        with self._turn:
            self._to_cleaning -= added
            is_due = self._to_cleaning < 0
            if is_due:
                self._to_cleaning = _BETWEEN_CLEANINGS
        if is_due:
            self.clean()


def _made(given: Mapping[str, Any], latest: str | None) -> Event:
    parts = dict(given)
    session, kind = parts.pop("session", None), parts.pop("kind", None)
    return new_event(latest if session is None else session, kind, parts)  # type: ignore[arg-type]


def _filters(session: str | None, kind: str | None) -> dict[str, Any]:
    chosen = {"session": session, "kind": kind}
    given = {name: value for name, value in chosen.items() if value is not None}
    return {"what": _STORED, **given}
