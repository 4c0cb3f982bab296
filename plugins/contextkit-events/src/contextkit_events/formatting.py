"""Format events, each in the form of its kind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.sources import clipped, compact, in_style, plain_entity, xml_entity
from contextkit.text import (
    escape_markdown,
    fenced,
    line_start_safe,
    markdown_text,
    one_line,
    plain_line,
)

_LABELS = {
    "file_read": ("Read", "path"),
    "file_write": ("Wrote", "path"),
    "shell_exec": ("Executed", "command"),
    "error": ("Error", "text"),
}
_PARTS = ("text", "path", "command", "output", "exit_code", "role", "outcome")
_LONGEST_IN_COMPACT = 160
_LONGEST_TITLE = 60
_BACKTICKS = re.compile("`+")
_EARLIER = " (earlier session)"


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format one event in a context's style.

    `full` includes a command's output and an error's stack, `summary` does not, `compact` is one
    line.
    """
    data = item.metadata if any(item.metadata.get(it) for it in _PARTS) else {"text": item.content}
    data = {"kind": item.kind or "event", **data}
    if detail == "compact":
        what = clipped(happened(data), _LONGEST_IN_COMPACT)
        moment = _time(item.created_at).strip(" []")
        facts = {"kind": _word(data, "kind"), "time": moment}
        return compact(style, "event", facts, what, f"{moment} {what}".strip())
    output = "" if detail == "summary" else _shown_output(data)
    mark = _EARLIER if data.get("earlier") else ""

    def markdown() -> str:
        head = f"{_time(item.created_at)}{_markdown_head(data)}{mark}"
        return f"{head}\n{fenced(output)}" if output else head

    return in_style(
        style,
        markdown=markdown,
        xml=lambda: _xml(item, data, output),
        plain=lambda: plain_entity(
            plain_line(f"{_time(item.created_at)}{happened(data)}{mark}"), [_body(data, output)]
        ),
    )


def headline(data: Mapping[str, Any]) -> str:
    """Return a one-line headline of at most 60 characters."""
    return clipped(happened(data), _LONGEST_TITLE)


def happened(data: Mapping[str, Any]) -> str:
    """Describe the event on one line, as plain words."""
    return one_line(f"{_label(data)}: {_first_line(data)}{_outcome(data)}")


def _xml(item: ContextItem, data: Mapping[str, Any], output: str) -> str:
    attributes = {
        "type": "event",
        "kind": _word(data, "kind"),
        "earlier": "true" if data.get("earlier") else "",
        "time": _time(item.created_at).strip(" []"),
    }
    return xml_entity(attributes, [happened(data), *_body(data, output).splitlines()])


def _body(data: Mapping[str, Any], output: str) -> str:
    """Return the text below the headline, in plain text.

    It has a message's further lines, and the output.
    """
    further = (
        "" if _word(data, "kind") in {"file_read", "file_write", "shell_exec"} else _more(data)
    )
    return "\n".join(part for part in (further, output) if part)


def _more(data: Mapping[str, Any]) -> str:
    if _is_one_text(data):
        return str(data.get("text") or "").strip().partition("\n")[2]
    return ""


def _markdown_head(data: Mapping[str, Any]) -> str:
    kind, outcome = _word(data, "kind"), escape_markdown(_outcome(data))
    label = escape_markdown(_label(data))
    if kind in {"file_read", "file_write"}:
        return f"{label}: {escape_markdown(_said(data))}{outcome}"
    if kind == "shell_exec":
        return f"{label}: {_code(_said(data))}{outcome}"
    if not _is_one_text(data):
        return f"{label}: {line_start_safe(_first_line(data))}"
    text = markdown_text(str(data.get("text") or ""), behind_label=True)
    return f"{label}: {text}{outcome}"


def _first_line(data: Mapping[str, Any]) -> str:
    kind = _word(data, "kind")
    if kind in _LABELS and kind != "error":
        return f"`{_said(data)}`" if kind == "shell_exec" else _said(data)
    if _is_one_text(data):
        return str(data.get("text") or "").strip().partition("\n")[0]
    parts = {name: data[name] for name in _PARTS if data.get(name)}
    return json.dumps(parts, ensure_ascii=False)


def _is_one_text(data: Mapping[str, Any]) -> bool:
    """Return whether the event has nothing but a text.

    Other parts of an unknown kind are shown as JSON.
    """
    if _word(data, "kind") in {"error", "turn"}:
        return True
    return not any(data.get(name) for name in ("path", "command", "output", "role"))


def _label(data: Mapping[str, Any]) -> str:
    kind = _word(data, "kind")
    if kind == "turn":
        return (_word(data, "role") or "user").capitalize()
    return _LABELS.get(kind, (kind, ""))[0]


def _said(data: Mapping[str, Any]) -> str:
    """Return the path of a file, or the command."""
    return _word(data, _LABELS[_word(data, "kind")][1])


def _outcome(data: Mapping[str, Any]) -> str:
    code = data.get("exit_code")
    said = _word(data, "outcome") or (f"exit {code}" if isinstance(code, int) and code else "")
    return f" [{said}]" if said else ""


def _shown_output(data: Mapping[str, Any]) -> str:
    shown = _word(data, "kind") in {"shell_exec", "error"}
    return str(data.get("output") or "") if shown else ""


def _code(command: str) -> str:
    """Return a code span that the command cannot close."""
    ticks = "`" * (max(map(len, _BACKTICKS.findall(command)), default=0) + 1)
    space = " " if len(ticks) > 1 else ""
    return f"{ticks}{space}{command}{space}{ticks}"


def _unknown(moment: datetime | None) -> bool:
    # Results of a host's own searcher without a time are dated 1970-01-01T00:00Z.
    return moment is None or moment.timestamp() == 0


def _time(moment: datetime | None) -> str:
    if moment is None or _unknown(moment):
        return ""
    return f"[{moment.astimezone(UTC):%Y-%m-%d %H:%M}] "


def _word(data: Mapping[str, Any], name: str) -> str:
    return one_line(str(data.get(name) or ""))
