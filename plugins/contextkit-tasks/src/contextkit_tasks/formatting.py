"""How tasks look in a context: Markdown, XML and plain text, whole or on one line."""

from __future__ import annotations

from typing import Any

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.markup import escape_xml, line_start_safe, markdown_text, one_line, plain_line
from contextkit.text.truncate import truncate

__all__ = ["formatted"]

_LONGEST_IN_COMPACT = 160


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """One task's text as it is shown in a context of this style.

    Args:
        item: the task.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: goal, and the detail of what is active or the result of what was
            popped; `summary`: without the detail; `compact`: goal and result on one line.
    """
    data = item.metadata
    status = one_line(str(data.get("status") or "active"))
    goal = one_line(str(data.get("goal") or item.title or item.id))
    result = _words(data.get("result"))
    if detail == "compact":
        return _on_one_line(goal, status, result, style)
    more = "" if detail == "summary" else _words(data.get("detail"))
    if style == "xml":
        parts = [f"Goal: {escape_xml(goal)}"]
        parts += [f"Result: {escape_xml(result)}"] if result else []
        parts += [f"Detail: {escape_xml(more)}"] if more else []
        opening = f'<entity name="{escape_xml(item.id)}" type="task" status="{escape_xml(status)}">'
        return "\n".join([opening, *parts, "</entity>"])
    if style == "plain":
        parts = [f"Result: {result}"] if result else []
        parts += [more] if more else []
        # Indented, so that no line of it can pass for a heading of the context.
        lines = [f"  {line}" for part in parts for line in part.splitlines()]
        return "\n".join([f"{goal} [task: {status}]", *lines])
    head = f"**Task** ({markdown_text(status, behind_label=True)}): {_behind(goal)}"
    parts = [f"**Result**: {_behind(result)}"] if result else []
    parts += [markdown_text(more)] if more else []
    return "\n\n".join([head, *parts])


def _on_one_line(goal: str, status: str, result: str, style: Style) -> str:
    said = f"{_clipped(goal)} -> {_clipped(result)}" if result else _clipped(goal)
    if style == "xml":
        return f'<task status="{escape_xml(status)}">{escape_xml(said)}</task>'
    line = f"{status}: {said}"
    return f"- {line_start_safe(line)}" if style == "markdown" else plain_line(line)


def _behind(text: str) -> str:
    return markdown_text(text, behind_label=True)


def _clipped(text: str) -> str:
    return one_line(truncate(one_line(text), _LONGEST_IN_COMPACT, len))


def _words(value: Any) -> str:
    return str(value).strip() if value else ""
