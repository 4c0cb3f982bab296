"""Read the transcripts of Codex, its "rollouts".

Codex keeps one file per session, `sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl` in `~/.codex` or
`CODEX_HOME`, and archived ones in `archived_sessions`. The reader follows the lines that these
versions write, as Codex' own source has them (`protocol.rs`, `rollout/policy.rs`):

- Since September 2025 (0.32 to 0.149) a line is `{"timestamp", "type", "payload"}`.
  `session_meta` and `turn_context` have the working folder. `response_item` has what the model
  exchanged: messages, tool calls and their outputs, which share a `call_id`. `event_msg` repeats
  them for display.
- Before that, a line is the bare response item without a time. The first line is
  `{"id", "timestamp", …}`, and the working folder stands in `<environment_context>`.
- The output of a command is a text that begins with its exit code, or JSON with `exit_code`.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
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

_ID_LENGTH = 36
_MOST_FILES = 200
_LONGEST_MESSAGE = 2000
_SHELLS = {"shell", "shell_command", "exec_command", "local_shell", "container.exec"}
_CALLS = {"function_call", "custom_tool_call", "local_shell_call"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output"}
_ITEMS = {"message", "reasoning", "web_search_call", "ghost_snapshot", *_CALLS, *_OUTPUTS}

_SCAFFOLD = re.compile(r"<[a-zA-Z][\w -]{0,40}>|# AGENTS\.md instructions")
"""Begins a message that Codex wrote in the user's name."""

_FOLDER = re.compile(r"<cwd>([^<\n]{1,4096})</cwd>")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$", re.MULTILINE)
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)
_REFUSED = re.compile(r"(?:aborted|rejected) by (?:the )?user")


def find_rollouts(folder: Path | None) -> Iterator[Transcript]:
    """List the sessions in a folder, or in Codex' own."""
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex").expanduser()
    for root in [folder] if folder else [home / "sessions", home / "archived_sessions"]:
        for file in root.rglob("rollout-*.jsonl"):
            session = file.stem[-_ID_LENGTH:]
            yield Transcript(session=session, file=file, read=partial(read_rollout, file))


def read_rollout(file: Path) -> Iterator[PastEvent | LeftOut]:
    """Read a session's events in the order of their lines.

    A tool call is an event of the line with its output.
    """
    reader = _Reader(file.stem[-_ID_LENGTH:])
    for number, line in json_lines(file):
        if isinstance(line, LeftOut):
            yield line
        else:
            yield from reader.read(number, line)


@define
class _Reader:
    """Reads lines, and remembers the folder and tool calls without output."""

    _session: str
    _calls: dict[str, Mapping[str, Any]] = field(factory=dict, init=False)
    _folder: str = field(default="", init=False)
    _started: datetime | None = field(default=None, init=False)

    def read(self, number: int, line: Mapping[str, Any]) -> Iterator[PastEvent | LeftOut]:
        """Yield the events of a line."""
        kind, item = line.get("type"), line.get("payload")
        if not isinstance(item, dict):
            kind, item = ("response_item" if kind in _ITEMS else kind), line
        created_at = moment(line.get("timestamp"))
        if created_at is None and self._started is not None:
            created_at = self._started + timedelta(milliseconds=number)
        self._started = self._started or created_at
        if kind != "response_item":
            folder = item.get("cwd")
            self._folder = folder if isinstance(folder, str) and folder else self._folder
            yield BOOKKEEPING if kind is None or isinstance(kind, str) else UNKNOWN
            return
        if created_at is None:
            yield UNKNOWN
            return
        for place, part in enumerate(self._parts(item)):
            if isinstance(part, LeftOut):
                yield part
                continue
            # A fork repeats the lines of its parent.
            origin = line.get("timestamp") or f"{self._session}:{number}"
            own = f"{origin}\n{place}\n{part}"
            yield PastEvent(
                id=f"codex_{hashlib.sha256(own.encode('utf-8', 'replace')).hexdigest()[:32]}",
                created_at=created_at,
                folder=self._folder,
                report=part,
            )

    def _parts(self, item: Mapping[str, Any]) -> Iterator[Report | LeftOut]:
        kind = item.get("type")
        if kind == "message":
            yield self._message(item)
        elif kind in _CALLS:
            self._calls[str(item.get("call_id"))] = item
        elif kind in _OUTPUTS:
            call = self._calls.pop(str(item.get("call_id")), None)
            yield from [UNKNOWN] if call is None else _reports(call, item.get("output"))
        else:
            yield THINKING if kind == "reasoning" else BOOKKEEPING

    def _message(self, item: Mapping[str, Any]) -> Report | LeftOut:
        said, role = text_of(item.get("content")), item.get("role")
        if role == "assistant" and said:
            return answer(said)
        if role != "user" or not said or _SCAFFOLD.match(said):
            named = _FOLDER.search(said)
            self._folder = self._folder or (named[1] if named else "")
            return BY_PROGRAM
        return prompt(said)


def _reports(call: Mapping[str, Any], output: object) -> Iterator[Report]:
    name, given = str(call.get("name") or "local_shell"), _arguments(call)
    code, text = _outcome(output)
    command = _command(given) if name in _SHELLS else ""
    patch = command if "*** Begin Patch" in command else str(given.get("input") or "")
    refused = code is None and _REFUSED.search(text[:200]) is not None
    paths = _PATCHED.finditer(patch) if command or name == "apply_patch" else iter(())
    tools: list[tuple[str, Report]] = [
        ("Edit", {"file_path": path[1]}) for path in itertools.islice(paths, _MOST_FILES)
    ]
    if tools:
        # Each file has it.
        text = text[:_LONGEST_MESSAGE]
    else:
        tools = [("Bash", {"command": command}) if command else (name, given)]
    for tool, taken in tools:
        if code or refused:
            error = f"Exit code {code}\n{text}" if tool == "Bash" else text
            yield failed(tool, taken, error, interrupted=refused)
        else:
            yield used(tool, taken, text)


def _arguments(call: Mapping[str, Any]) -> Report:
    if isinstance(call.get("action"), dict):
        return dict(call["action"])
    if isinstance(call.get("input"), str):
        return {"input": call["input"]}
    try:
        given = json.loads(call.get("arguments") or "{}")
    except (ValueError, TypeError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _command(given: Report) -> str:
    command = given.get("cmd") or given.get("command")
    if isinstance(command, list):
        words = [str(word) for word in command]
        in_shell = len(words) == 3 and words[1] in {"-lc", "-c"}
        return words[2] if in_shell else shlex.join(words)
    return command if isinstance(command, str) else ""


def _outcome(output: object) -> tuple[int | None, str]:
    """Return an output's exit code, or None, and its text."""
    if isinstance(output, dict):
        output = output.get("content")
    text = text_of(output)
    if text.startswith("{"):
        try:
            parsed = json.loads(text)
            inner = parsed.get("metadata") or parsed
            code = inner.get("exit_code")
            return (code if type(code) is int else None), str(parsed.get("output") or "")
        except (ValueError, AttributeError, RecursionError):
            return None, text
    head, mark, rest = text.partition("Output:\n")
    code = _EXIT.search(head)
    return (int(code[1]), rest) if mark and code else (None, text)
