"""Agent tools `record_event` and `list_events`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from contextkit import Tool, ToolResult
from contextkit_events.log import EventLog
from contextkit_events.showing import rows_of, told_line

if TYPE_CHECKING:
    from contextkit import ContextKit


class _Listed(TypedDict):
    events: Annotated[list[dict[str, Any]], "newest first"]
    total: Annotated[int, "how many there are of that kind, listed or not"]


def _log(kit: ContextKit) -> EventLog:
    return EventLog(kit.records("events"), kit.retention("events"))


def _record_event(  # noqa: PLR0913, PLR0917 - a tool's parameters are its function's
    kit: ContextKit,
    kind: Annotated[str, "file_read, file_write, shell_exec, error, turn, or another word"],
    text: Annotated[str | None, "the error's message, the words of a turn, or a note"] = None,
    session: Annotated[str | None, "the session; default: the latest one"] = None,
    path: Annotated[str | None, "the file that was read or written"] = None,
    command: Annotated[str | None, "what was run"] = None,
    output: Annotated[str | None, "what it printed, or an error's stack"] = None,
    exit_code: Annotated[int | None, "what the command ended with"] = None,
    role: Annotated[
        Literal["user", "assistant", "system", "tool"] | None, "who said a turn; default user"
    ] = None,
    outcome: Annotated[str | None, "how it went, in a word"] = None,
) -> ToolResult[dict[str, Any]]:
    event = _log(kit).add(
        kind,
        session=session,
        text=text,
        path=path,
        command=command,
        output=output,
        exit_code=exit_code,
        role=role,
        outcome=outcome,
    )
    return ToolResult(event.as_dict(), told_line(event))


def _list_events(
    kit: ContextKit,
    session: Annotated[str | None, "only of this session"] = None,
    kind: Annotated[str | None, "only of this kind"] = None,
    limit: Annotated[int, "how many at most"] = 20,
) -> ToolResult[_Listed]:
    log = _log(kit)
    found = log.list(session=session, kind=kind, limit=limit)
    total = log.count(session=session, kind=kind)
    lines = rows_of(found) or ["No events."]
    if total > len(found):
        lines.append(f"{len(found)} of {total} events")
    data: _Listed = {"events": [event.as_dict() for event in found], "total": total}
    return ToolResult(data, "\n".join(lines))


TOOLS = (
    Tool(
        name="record_event",
        description=(
            "Log what happened in this session and is worth knowing in the next one: an error "
            "and its message, a file that was written, a command and how it ended, a turn of "
            "the conversation. Do not log secrets."
        ),
        run=_record_event,
    ),
    Tool(
        name="list_events",
        description=(
            "List what happened in this project's sessions, newest first: what was read, "
            "written, run and said."
        ),
        run=_list_events,
        read_only=True,
    ),
)
"""Agent tools for events."""
