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
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit.agent import json_lines
from contextkit.models import LeftOut, PastEvent, Transcript
from contextkit_agents.reports import (
    BOOKKEEPING,
    BY_PROGRAM,
    THINKING,
    UNKNOWN,
    Report,
    answer,
    failed,
    moment,
    prompt,
    text_of,
    used,
)

_NOT_SESSIONS = {"subagents", "tool-results", "workflows"}
_MARKS = {
    "isSidechain": LeftOut("line of a subagent"),
    "isMeta": BY_PROGRAM,
    "isCompactSummary": BY_PROGRAM,
    "isApiErrorMessage": BY_PROGRAM,
}
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
        if isinstance(line, LeftOut):
            yield line
        else:
            yield from reader.read(f"{file.stem}:{number}", line)


@define
class _Reader:
    """Reads lines, and remembers tool calls until their results."""

    _calls: dict[str, Mapping[str, Any]] = field(factory=dict)

    def read(self, place: str, line: Mapping[str, Any]) -> Iterator[PastEvent | LeftOut]:
        """Yield the events of a line; `place` is its id if it has none."""
        kind, message = line.get("type"), line.get("message")
        if kind not in {"user", "assistant"}:
            yield BOOKKEEPING if isinstance(kind, str) else UNKNOWN
            return
        mark = next((mark for name, mark in _MARKS.items() if line.get(name) is True), None)
        created_at = moment(line.get("timestamp"))
        if mark or created_at is None or not isinstance(message, dict):
            yield mark or UNKNOWN
            return
        folder, name = line.get("cwd"), line.get("uuid")
        for number, part in enumerate(self._parts(kind == "user", message, line)):
            if isinstance(part, LeftOut):
                yield part
                continue
            yield PastEvent(
                # The text comes first and has the line's own id.
                id="".join([str(name or place), f".{number}" if number else ""]),
                created_at=created_at,
                folder=folder if isinstance(folder, str) else "",
                report=part,
            )

    def _parts(
        self, by_user: bool, message: Mapping[str, Any], line: Mapping[str, Any]
    ) -> Iterator[Report | LeftOut]:
        content = message.get("content")
        given = content if isinstance(content, list) else [{"type": "text", "text": content}]
        blocks = [block for block in given if isinstance(block, dict)]
        said = text_of([block for block in blocks if block.get("type") == "text"])
        if said and ((by_user and _MARKUP.match(said)) or message.get("model") == "<synthetic>"):
            yield BY_PROGRAM
        elif said:
            yield prompt(said) if by_user else answer(said)
        for block in blocks:
            part = self._part(block, line)
            if part is not None:
                yield part

    def _part(self, block: Mapping[str, Any], line: Mapping[str, Any]) -> Report | LeftOut | None:
        """Return what a block that is no text reports."""
        kind = block.get("type")
        if kind in {"thinking", "redacted_thinking"}:
            return THINKING
        if kind == "tool_use" and isinstance(block.get("id"), str):
            self._calls[block["id"]] = block
            plan = _input(block).get("plan") if block.get("name") == "ExitPlanMode" else None
            return answer(plan) if isinstance(plan, str) and plan else None
        if kind == "tool_result":
            call = self._calls.pop(str(block.get("tool_use_id")), None)
            return UNKNOWN if call is None else _result(call, block, line.get("toolUseResult"))
        return None


def _result(call: Mapping[str, Any], block: Mapping[str, Any], structured: object) -> Report | None:
    text, name, given = text_of(block.get("content")), call.get("name"), _input(call)
    is_error = block.get("is_error") is True
    if name == "AskUserQuestion" and not is_error:
        return prompt(text)
    if name == "ExitPlanMode":
        return None
    made = (
        failed(name, given, text, interrupted=text.startswith(_REFUSED))
        if is_error
        else used(name, given, structured or text)
    )
    return {**made, "tool_use_id": call["id"]}


def _input(call: Mapping[str, Any]) -> Report:
    given = call.get("input")
    return given if isinstance(given, dict) else {}
