"""Convert an agent's hook reports to events."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit import ContextKit


_READING = {"Read", "NotebookRead"}
_WRITING = {"Write", "Edit", "MultiEdit", "NotebookEdit"}
_RUNNING = {"Bash"}


def log_agent_event(event: Mapping[str, Any], kit: ContextKit) -> None:
    """Log the events of an agent's report.

    Nothing is logged where `feed` is off or the report has no events.

    Args:
        event: the event as passed to `contextkit_agent_event`.
        kit: the workspace's kit.

    Raises what `EventLog.add_all` raises.
    """
    from contextkit_events.log import EventLog

    feed = kit.registry.settings("events")["feed"]
    made = events_of(event, kit.workspace.root) if feed else []
    if made:
        EventLog(kit.records("events"), kit.retention("events")).add_all(made)


def events_of(event: Mapping[str, Any], root: Path) -> list[dict[str, Any]]:
    """Return a report's events, as `EventLog.add_all` takes them.

    A prompt and an agent's last message are turns. Reads, writes and commands are events of these
    kinds, without the contents of files. A failure is an error, or a command with an exit code.

    Args:
        event: the report, in the fields that Claude Code has.
        root: the workspace; paths below it are shown relative to it.
    """
    session, name = event.get("session_id"), event.get("hook_event_name")
    if not isinstance(session, str) or not session:
        return []
    parts = _turn(event, name) or _used(event, name, root)
    return [{"session": session, **parts}] if parts else []


def _turn(event: Mapping[str, Any], name: object) -> dict[str, Any]:
    if name == "UserPromptSubmit":
        said, role = event.get("prompt"), "user"
    elif name == "Stop":
        said, role = event.get("last_assistant_message"), "assistant"
    else:
        return {}
    has_said = isinstance(said, str) and said.strip()
    return {"kind": "turn", "role": role, "text": said} if has_said else {}


def _used(event: Mapping[str, Any], name: object, root: Path) -> dict[str, Any]:
    given = event.get("tool_input")
    if name not in {"PostToolUse", "PostToolUseFailure"} or not isinstance(given, Mapping):
        return {}
    failed = name == "PostToolUseFailure"
    tool = str(event.get("tool_name") or "")
    parts = _run(event, given, failed) if tool in _RUNNING else _file(event, given, root, failed)
    call = event.get("tool_use_id")
    # Reported twice, it is the same event.
    is_id = isinstance(call, str) and call.isprintable() and 0 < len(call) <= 100 and call.strip()
    return {**parts, "id": f"evt_{call}"} if parts and is_id else parts


def _run(event: Mapping[str, Any], given: Mapping[str, Any], failed: bool) -> dict[str, Any]:
    command = given.get("command")
    if not isinstance(command, str) or not command.strip():
        return {}
    parts: dict[str, Any] = {"kind": "shell_exec", "command": command}
    if event.get("is_interrupt"):
        return {**parts, "outcome": "interrupted"}
    if failed:
        error = _text(event.get("error"))
        code = _exit_code(error)
        return {**parts, "output": error.removeprefix(f"Exit code {code}\n"), "exit_code": code}
    response = event.get("tool_response")
    if isinstance(response, Mapping):
        printed = [_text(response.get(stream)) for stream in ("stdout", "stderr")]
        return {**parts, "output": "\n".join(text for text in printed if text)}
    return {**parts, "output": _text(response)}


def _file(
    event: Mapping[str, Any], given: Mapping[str, Any], root: Path, failed: bool
) -> dict[str, Any]:
    tool = str(event.get("tool_name") or "")
    path = _path(given, root)
    if failed:
        error = _text(event.get("error")).strip()
        is_known = tool in _READING | _WRITING and not event.get("is_interrupt")
        return {"kind": "error", "text": f"{tool}: {error}", "path": path} if is_known else {}
    if not path or tool not in _READING | _WRITING:
        return {}
    return {"kind": "file_read" if tool in _READING else "file_write", "path": path}


def _path(given: Mapping[str, Any], root: Path) -> str:
    path = _text(given.get("file_path")) or _text(given.get("notebook_path"))
    if path and os.path.isabs(path):  # noqa: PTH117 - it is foreign text
        below = os.path.relpath(path, root)
        return path if below.startswith("..") else Path(below).as_posix()
    return path


def _exit_code(error: str) -> int:
    """Parse `Exit code 2` at an error's start; default 1."""
    words = error.split(maxsplit=3)
    says = len(words) > 2 and words[:2] == ["Exit", "code"] and words[2].isdecimal()
    return min(int(words[2]), 255) if says and len(words[2]) < 6 else 1


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
