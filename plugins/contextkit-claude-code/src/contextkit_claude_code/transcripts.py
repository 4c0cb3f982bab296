"""Read the transcripts of Claude Code.

Claude Code keeps one file per session, `projects/FOLDER/SESSION.jsonl` in `~/.claude` or
`CLAUDE_CONFIG_DIR`. Its documentation names the place, and calls the format internal. The reader
follows the lines that versions 1.0 to 2.1 write:

- `user` and `assistant` lines have `uuid`, `timestamp`, `cwd`, `sessionId` and a `message` of the
  Messages API, whose `content` is a text or a list of blocks. Since 2.0 each block of an answer
  has a line of its own.
- A `tool_result` block answers the `tool_use` block of the same id. `toolUseResult` beside it has
  the parts of a command's output. The text of a failed command begins with `Exit code N`.
- `isMeta`, `isCompactSummary` and `isApiErrorMessage` mark lines that the program wrote, and
  `isSidechain` the work of subagents, which has files of its own since 2.0.
- `summary`, `system`, `attachment`, `file-history-snapshot` and many other types are bookkeeping.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit.agent import json_lines
from contextkit.models import LeftOut, PastEvent, Transcript

_TEXT, _USED, _FAILED = "text", "PostToolUse", "PostToolUseFailure"
_NOT_SESSIONS = {"subagents", "tool-results", "workflows"}
_MARKED = {
    "isSidechain": LeftOut("line of a subagent"),
    "isMeta": LeftOut("line written by the program"),
    "isCompactSummary": LeftOut("line written by the program"),
    "isApiErrorMessage": LeftOut("line written by the program"),
}
_BOOKKEEPING = LeftOut("bookkeeping line")
_BY_PROGRAM = LeftOut("line written by the program")
_THINKING = LeftOut("thinking")
_UNKNOWN = LeftOut("line of an unknown form")

_MARKUP = re.compile(
    r"<(?:bash-(?:input|stdout|stderr)|command-(?:name|message|args)|local-command-\w+"
    r"|system-reminder|task-notification|user-memory-input)>|\[Request interrupted by user"
)
"""Begins a text that the user did not write."""

_REFUSED = ("The user doesn't want to ", "[Request interrupted by user")


def find_transcripts(folder: Path | None) -> Iterator[Transcript]:
    """List the sessions in a folder, or in Claude Code's own."""
    root = folder or _own_folder()
    for file in root.rglob("*.jsonl"):
        inner = file.relative_to(root).parts[:-1]
        if not _NOT_SESSIONS.intersection(inner) and not file.name.startswith("agent-"):
            yield Transcript(session=file.stem, file=file, read=partial(read_transcript, file))


def _own_folder() -> Path:
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(named).expanduser() if named else Path.home() / ".claude") / "projects"


def read_transcript(file: Path) -> Iterator[PastEvent | LeftOut]:
    """Read a session's events in the order of their lines.

    A tool call is an event of the line with its result.
    """
    reader = _Reader()
    for number, line in json_lines(file):
        yield from (
            (line,) if isinstance(line, LeftOut) else reader.read(f"{file.stem}:{number}", line)
        )


@define
class _Reader:
    """Reads lines, and remembers tool calls until their results."""

    _calls: dict[str, Mapping[str, Any]] = field(factory=dict)

    def read(self, place: str, line: Mapping[str, Any]) -> Iterator[PastEvent | LeftOut]:
        """Yield what a line says; `place` is its id if it has none."""
        kind, message = line.get("type"), line.get("message")
        if kind not in {"user", "assistant"}:
            yield _BOOKKEEPING if isinstance(kind, str) else _UNKNOWN
            return
        marks = [mark for name, mark in _MARKED.items() if line.get(name) is True]
        created_at = _moment(line.get("timestamp"))
        if marks or created_at is None or not isinstance(message, dict):
            yield marks[0] if marks else _UNKNOWN
            return
        own_id, folder = line.get("uuid"), line.get("cwd")
        make = partial(
            PastEvent, created_at=created_at, folder=folder if isinstance(folder, str) else ""
        )
        name = own_id if isinstance(own_id, str) and own_id else place
        blocks = _blocks(message.get("content"))
        said = "\n\n".join(_texts(blocks)).strip()
        by_user = kind == "user"
        if said and by_user and _MARKUP.match(said):
            yield _BY_PROGRAM
        elif said and message.get("model") != "<synthetic>":
            yield make(id=name, report=_turn(said, by_user=by_user))
        for number, block in enumerate(blocks):
            part = self._part(block, line)
            if isinstance(part, LeftOut):
                yield part
            elif part is not None:
                yield make(id=f"{name}.{number}", report=part)

    def _part(
        self, block: Mapping[str, Any], line: Mapping[str, Any]
    ) -> Mapping[str, Any] | LeftOut | None:
        """Return the report of a block that is no text."""
        kind = block.get("type")
        if kind in {"thinking", "redacted_thinking"}:
            return _THINKING
        if kind == "tool_use" and isinstance(block.get("id"), str):
            self._calls[block["id"]] = block
            plan = _input(block).get("plan") if block.get("name") == "ExitPlanMode" else None
            return _turn(plan, by_user=False) if isinstance(plan, str) and plan else None
        if kind == "tool_result" and isinstance(block.get("tool_use_id"), str):
            call = self._calls.pop(block["tool_use_id"], None)
            return _UNKNOWN if call is None else _result(call, block, line.get("toolUseResult"))
        return None


def _result(
    call: Mapping[str, Any], block: Mapping[str, Any], structured: object
) -> Mapping[str, Any] | None:
    text = "\n".join(_texts(_blocks(block.get("content"))))
    name = call.get("name")
    if name == "AskUserQuestion" and not block.get("is_error"):
        return _turn(text, by_user=True)
    if name == "ExitPlanMode":
        return None
    used = {"tool_name": name, "tool_input": _input(call), "tool_use_id": block["tool_use_id"]}
    if block.get("is_error") is True:
        refused = text.startswith(_REFUSED)
        return {"hook_event_name": _FAILED, **used, "error": text, "is_interrupt": refused}
    return {"hook_event_name": _USED, **used, "tool_response": structured or text}


def _turn(said: str, *, by_user: bool) -> Mapping[str, Any]:
    if by_user:
        return {"hook_event_name": "UserPromptSubmit", "prompt": said}
    return {"hook_event_name": "Stop", "last_assistant_message": said}


def _input(call: Mapping[str, Any]) -> Mapping[str, Any]:
    given = call.get("input")
    return given if isinstance(given, dict) else {}


def _blocks(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": _TEXT, _TEXT: content}]
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _texts(blocks: list[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        text = block.get(_TEXT)
        if block.get("type") == _TEXT and isinstance(text, str):
            yield text


def _moment(stamp: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.utcoffset() is not None else None
