"""How a piece of the workspace's state is shown: in each style, and in each detail."""

from __future__ import annotations

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.markup import (
    escape_markdown,
    escape_xml,
    fenced,
    line_start_safe,
    one_line,
    plain_line,
    plain_text,
)
from contextkit.text.truncate import ELLIPSIS, truncate

__all__ = ["shown"]

_LABELS = {"file": "File", "status": "Git status", "structure": "Project structure"}
_LINE_CHARACTERS = 200
_SUMMARY_LINES = 8


def shown(item: ContextItem, style: Style, detail: Detail) -> str:
    """An item's text.

    Args:
        item: the item.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: all lines. `summary`: the first eight. `compact`: one line, cut at 200
            characters.
    """
    label = _LABELS.get(item.kind, "Workspace")
    if detail == "compact":
        return _compact(label, item, style)
    lines = item.content.split("\n")
    if detail == "summary" and len(lines) > _SUMMARY_LINES:
        lines = [*lines[:_SUMMARY_LINES], ELLIPSIS]
    text = "\n".join(lines)
    if style == "xml":
        return f"{_opening(item)}\n{escape_xml(text)}\n</workspace>"
    if len(lines) > 1:
        return (
            f"{label}:\n{plain_text(text)}" if style == "plain" else f"**{label}**\n{fenced(text)}"
        )
    if style == "plain":
        return f"{label}: {one_line(text)}"
    return f"**{label}**: {escape_markdown(one_line(text))}"


def _compact(label: str, item: ContextItem, style: Style) -> str:
    line = truncate(one_line(item.content), _LINE_CHARACTERS, len)
    if style == "xml":
        return f"{_opening(item)}{escape_xml(one_line(line))}</workspace>"
    if style == "plain":
        return plain_line(f"{label}: {line}")
    return f"- {label}: {line_start_safe(line)}"


def _opening(item: ContextItem) -> str:
    return f'<workspace kind="{escape_xml(one_line(item.kind))}">'
