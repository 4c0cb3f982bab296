"""Present the workspace's state in each style and detail."""

from __future__ import annotations

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.text import ELLIPSIS, element, one_line, style_of, truncate

_LABELS = {"file": "File", "status": "Git status", "structure": "Project structure"}
_LINE_CHARACTERS = 200
_SUMMARY_LINES = 8


def shown(item: ContextItem, style: Style, detail: Detail) -> str:
    """Return an item's text.

    Args:
        item: the item.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: all lines. `summary`: the first eight. `compact`: one line, cut at 200
            characters.
    """
    label = _LABELS.get(item.kind, "Workspace")
    own, attributes = style_of(style), {"kind": one_line(item.kind)}
    if detail == "compact":
        line = one_line(truncate(one_line(item.content), _LINE_CHARACTERS, len))
        entry = f"{label}: {own.inline(line)}"
        return own.entry(entry, tag="workspace", attributes=attributes, text=line)
    lines = item.content.split("\n")
    if detail == "summary" and len(lines) > _SUMMARY_LINES:
        lines = [*lines[:_SUMMARY_LINES], ELLIPSIS]
    text = "\n".join(lines)
    several = len(lines) > 1
    shown = own.code_block(text) if several else own.name(one_line(text))
    return own.choose(
        markdown=f"**{label}**\n{shown}" if several else f"**{label}**: {shown}",
        xml=element("workspace", attributes, [own.code_block(text)]),
        plain=f"{label}:\n{shown}" if several else f"{label}: {shown}",
    )
