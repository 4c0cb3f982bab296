"""The command `contextkit events`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import IO, Any

import click

from contextkit.cli import Days, Session, json_option, pass_session
from contextkit.indexing import retention_of
from contextkit_events.event import ROLES, InvalidEventError
from contextkit_events.log import EventLog
from contextkit_events.showing import rows_of, told_line

_MOST_AT_ONCE = 200
_LONGEST_LINE = 1 << 20
_DAYS_KNOWN = 36_500

_session_option = click.option(
    "--session", "name", metavar="NAME", help="Session; default: the latest."
)


@click.group()
def events() -> None:
    """Log, list and clear events.

    \b
    Example: contextkit events list --kind error
    """


@events.command()
@click.argument("kind")
@click.argument("text", required=False)
@_session_option
@click.option("--path", help="File that was read or written.")
@click.option("--command", help="Command that was run.")
@click.option("--output", help="Output of the command, or stack of the error.")
@click.option("--exit-code", type=int, help="Exit code of the command.")
@click.option("--role", type=click.Choice(ROLES), help="Speaker of a turn; default: user.")
@click.option("--outcome", help="Outcome in one word.")
@json_option
@pass_session
def add(
    session: Session,
    /,
    kind: str,
    text: str | None,
    name: str | None,
    as_json: bool,
    **parts: str | int | None,
) -> None:
    """Log one event.

    KIND is file_read, file_write, shell_exec, error, turn or another word.

    \b
    Example: contextkit events add shell_exec --command "pytest -q" --exit-code 1
    """
    event = _log(session).add(kind, session=name, text=text, **parts)
    session.emit(event.as_dict(), told_line(event), as_json)


@events.command("list")
@click.option("--session", "name", metavar="NAME", help="Only events of this session.")
@click.option("--kind", help="Only events of this kind.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@json_option
@pass_session
def list_events(
    session: Session, name: str | None, kind: str | None, limit: int, as_json: bool
) -> None:
    """List events, newest first.

    \b
    Example: contextkit events list --kind error --limit 5
    """
    log = _log(session)
    found = log.list(session=name, kind=kind, limit=limit)
    lines = rows_of(found) or ["No events."]
    total = log.count(session=name, kind=kind) if len(found) == limit else len(found)
    if total > len(found):
        lines.append(f"{len(found)} of {total} events; --limit {total} lists them all")
    session.emit([event.as_dict() for event in found], "\n".join(lines), as_json)


@events.command()
@click.option("--session", "name", metavar="NAME", help="Only events of this session.")
@click.option(
    "--older-than",
    "days",
    type=Days(0, _DAYS_KNOWN),
    metavar="DAYS",
    help="Only events older than this, as in 30 or 30d.",
)
@click.option("--imported", is_flag=True, help="Only events of `contextkit import`.")
@click.option("--all", "everything", is_flag=True, help="All of the project's events.")
@json_option
@pass_session
def clear(
    session: Session,
    name: str | None,
    days: int | None,
    imported: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """Delete events.

    \b
    Example: contextkit events clear --older-than 30
    """
    if everything == (name is not None or days is not None or imported):
        raise click.UsageError(
            "Say which: --session, --older-than, --imported or several, or --all alone."
        )
    before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    gone = _log(session).clear(session=name, before=before, imported=imported)
    session.emit({"cleared": gone}, f"Cleared {gone} event{'' if gone == 1 else 's'}", as_json)


@events.command()
@_session_option
@json_option
@pass_session
def feed(session: Session, name: str | None, as_json: bool) -> None:
    """Log events from JSON lines on standard input.

    Events are stored in batches. An invalid line ends the run; events before it are kept.

    \b
    Example: echo '{"kind": "file_read", "path": "a.py"}' | contextkit events feed
    """
    log = _log(session)
    latest = name or log.latest_session()
    given = {} if latest is None else {"session": latest}
    batch: list[dict[str, Any]] = []
    logged = 0
    try:
        for number, event in _lines(sys.stdin.buffer):
            batch.append(_checked(log, number, {**given, **event}))
            if len(batch) == _MOST_AT_ONCE:
                logged += len(log.add_all(batch))
                batch = []
    finally:
        logged += len(log.add_all(batch))
    told = f"Logged {logged} event{'' if logged == 1 else 's'}"
    session.emit({"logged": logged}, told, as_json)


def _log(session: Session) -> EventLog:
    return EventLog(session.records("events"), retention_of(session.registry, "events"))


def _lines(given: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    while line := given.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise InvalidEventError(f"line {number} is longer than {_LONGEST_LINE:,} bytes")
        if line.strip():
            yield number, _object(number, line)


def _object(number: int, line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidEventError(f"line {number} is not JSON: {error}") from error
    if not isinstance(event, dict):
        raise InvalidEventError(f'line {number} must be an object, such as {{"kind": "error"}}')
    return event


def _checked(log: EventLog, number: int, event: dict[str, Any]) -> dict[str, Any]:
    """Validate an event.

    A batch with an invalid event is refused whole.
    """
    try:
        log.check(event)
    except InvalidEventError as error:
        raise InvalidEventError(f"line {number}: {error}") from error
    return event
