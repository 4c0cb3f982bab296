"""Past sessions of agents: what importers read, and what a source keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import Attribute, field, frozen


def _aware(_: Any, attribute: Attribute[datetime], value: datetime) -> None:
    if value.utcoffset() is None:
        raise ValueError(f"{attribute.name} must have a time zone, got {value.isoformat()}")


@frozen(kw_only=True)
class PastEvent:
    """One event of a past session, as a hook would have reported it.

    Attributes:
        id: unique and stable, so that a second import recognises the event.
        created_at: its time, with a time zone.
        folder: the agent's working folder at that time; "" if unknown.
        report: the fields of `contextkit_agent_event` without `session_id` and `cwd`, such as
            `{"hook_event_name": "UserPromptSubmit", "prompt": "…"}`; texts are whole.
    """

    id: str
    created_at: datetime = field(validator=_aware)
    folder: str = ""
    report: Mapping[str, Any]


@frozen
class LeftOut:
    """A part of a transcript that an importer leaves out.

    Attributes:
        reason: a few words that the user reads beside a count, such as `damaged line`.
    """

    reason: str


@frozen(kw_only=True)
class Transcript:
    """An agent's file of one session.

    Attributes:
        session: the session's id, the same that the agent's hooks report.
        file: the file.
        read: reads the file from its beginning, in order and lazily. A file that an agent is
            still writing gives the same events again later, and then further ones.
    """

    session: str
    file: Path
    read: Callable[[], Iterable[PastEvent | LeftOut]]


@frozen(kw_only=True)
class SessionImporter:
    """Reads the past sessions of one agent (`contextkit_importers`).

    Attributes:
        name: its name on the command line, such as `claude-code`.
        summary: its line in the list of importers.
        find: lists the transcripts in a folder; with None in the agent's own folder.
    """

    name: str
    summary: str
    find: Callable[[Path | None], Iterable[Transcript]]


@frozen(kw_only=True)
class ImportedSession:
    """One session to import (`SourceInfo.imports`).

    Attributes:
        session: the session's id.
        importer: the importer's name.
        file: the transcript.
        size: the file's size in bytes before it was read. A file of the same size has no news.
        root: the root folder of the workspace that the session worked in.
        events: reads the events, in order.
        since: only later events are wanted; None wants all.
        dry_run: True to count and store nothing.
    """

    session: str
    importer: str
    file: Path
    size: int
    root: Path
    events: Callable[[], Iterator[PastEvent]]
    since: datetime | None = None
    dry_run: bool = False


@frozen(kw_only=True)
class Imported:
    """What a source did with an imported session.

    Attributes:
        stored: the number of events that it stored, or would store.
        known: the number of events that it had already.
        unchanged: whether it had read this transcript before; the events were not read again.
        skipped: reason -> number of events that it left out.
    """

    stored: int = 0
    known: int = 0
    unchanged: bool = False
    skipped: Mapping[str, int] = field(factory=dict)
