"""Keep the past sessions of agents as events.

A past session becomes the events that its hooks would have logged, with less of the outputs. Files
that were only read are left out, and so are short texts between tool calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from attrs import define, evolve, field

from contextkit import Records
from contextkit.models import Imported, ImportedSession, Kit, PastEvent
from contextkit_events.event import (
    Event,
    InvalidEventError,
    new_event,
    past_session_record,
)
from contextkit_events.feed import events_of
from contextkit_events.guarding import shortened

_BATCH = 500
_OUTPUT = 500
"""Most characters of the output of a command that succeeded."""

_REMARK = 200
"""Characters below which an assistant's text between tool calls is left out."""

_SAME = 500
"""Characters by which an imported turn is recognised as a recorded one."""

_TOOLS = {"PostToolUse", "PostToolUseFailure"}


def import_session(session: ImportedSession, kit: Kit) -> Imported:
    """Store the events of a past session that are not stored yet.

    Events have the same ids at each import, so that an interrupted import continues. The record of
    the transcript is stored last and says how far it was read.
    """
    records = kit.records("events")
    since = "" if session.since is None else session.since.astimezone(UTC).isoformat()
    mark = past_session_record(
        session.session,
        str(session.file),
        datetime.now(UTC),
        size=session.size,
        since=since,
        imported=session.importer,
    )
    for before in records.get(mark.id):
        if before.fields.get("size") == session.size and _covers(before.fields.get("since"), since):
            return Imported(unchanged=True)
    keeping = _Keeping(session, records)
    last = keeping.run()
    if last is not None and not session.dry_run:
        records.put([evolve(mark, created_at=last)])
    return Imported(stored=keeping.stored, known=keeping.known, skipped=dict(keeping.skipped))


def _covers(before: object, now: str) -> bool:
    return before == "" or (isinstance(before, str) and bool(now) and before <= now)


@define
class _Keeping:
    """The import of one session."""

    session: ImportedSession
    records: Records
    stored: int = 0
    known: int = 0
    skipped: Counter[str] = field(factory=Counter)
    _prompts: int = 0

    def run(self) -> datetime | None:
        """Store the events; return the time of the last one."""
        recorded = self._recorded_turns()
        last, batch = None, dict[str, Event]()
        for event in self._events():
            last = event.created_at if last is None else max(last, event.created_at)
            if self.session.since is not None and event.created_at < self.session.since:
                self.skipped["event before --since"] += 1
            elif _said(event) in recorded:
                self.known += 1
            else:
                batch[event.id] = event
            if len(batch) == _BATCH:
                self._store(batch)
                batch = {}
        self._store(batch)
        return last

    def _recorded_turns(self) -> set[tuple[str, str]]:
        """Return the turns that a hook has recorded of this session."""
        found = self.records.scan({"what": "turn", "session": self.session.session})
        return {_said(Event.from_record(record)) for record in found}

    def _store(self, batch: dict[str, Event]) -> None:
        there = {record.id for record in self.records.get(*batch)}
        new = [event for name, event in batch.items() if name not in there]
        self.known += len(there)
        self.stored += len(new)
        if new and not self.session.dry_run:
            self.records.put([event.as_record() for event in new])

    def _events(self) -> Iterator[Event]:
        for past in self._without_remarks():
            report = {**past.report, "session_id": self.session.session}
            made = events_of(report, self.session.root)
            if not made or made[0]["kind"] == "file_read":
                self.skipped["file that was only read" if made else "call of another tool"] += 1
                continue
            try:
                yield self._placed(_event(past, made[0], self.session.importer))
            except InvalidEventError:
                self.skipped["invalid event"] += 1

    def _without_remarks(self) -> Iterator[PastEvent]:
        """Leave out the short texts between tool calls.

        The first text after a prompt stays: it answers the prompt, however short it is.
        """
        waiting, follows_tool = None, False
        for past in self.session.events():
            is_tool = past.report.get("hook_event_name") in _TOOLS
            if waiting is not None:
                if is_tool:
                    self.skipped["short text between tool calls"] += 1
                else:
                    yield waiting
                waiting = None
            said = past.report.get("last_assistant_message")
            if follows_tool and isinstance(said, str) and len(said) < _REMARK:
                waiting = past
                continue
            yield past
            follows_tool = is_tool
        if waiting is not None:
            yield waiting

    def _placed(self, event: Event) -> Event:
        if event.kind != "turn":
            return event
        is_prompt = event.role == "user"
        self._prompts += is_prompt
        return evolve(event, position=2 * self._prompts + (not is_prompt))


def _event(past: PastEvent, parts: dict[str, Any], importer: str) -> Event:
    given = {"id": f"evt_{past.id}", **parts, "created_at": past.created_at}
    event = new_event(given.pop("session"), given.pop("kind"), given)
    if not event.is_highlight:
        event = evolve(event, output=shortened(event.output, _OUTPUT))
    return evolve(event, imported=importer)


def _said(event: Event) -> tuple[str, str]:
    return event.role, event.text[:_SAME] if event.kind == "turn" else event.id
