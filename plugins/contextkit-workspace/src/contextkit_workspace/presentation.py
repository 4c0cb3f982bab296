"""Present the workspace's state in each style and detail."""

from __future__ import annotations

import re
from collections.abc import Callable

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.text import ELLIPSIS, element, one_line, style_of, truncate

_LABELS = {"file": "File", "status": "Git status", "structure": "Project structure"}
_LINE_CHARACTERS = 200
_SUMMARY_LINES = 8
_FOLDER = re.compile(r"( *)\S.*/ \(([\d,]+) files?\)")


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


def shortened(item: ContextItem, max_tokens: int, count: Callable[[str], int]) -> str | None:
    """Shorten a formatted structure, deepest and smallest folders first.

    A folder is only shown below its parent.

    Args:
        item: the item, its content as it was formatted.
        max_tokens: the most tokens of the result.
        count: counts a text's tokens.

    Returns:
        The structure, "" where no folder fits, None for another kind of item.
    """
    if item.kind != "structure":
        return None
    lines = [line for line in item.content.split("\n") if not line.startswith(ELLIPSIS)]
    folders = {at: found for at, line in enumerate(lines) if (found := _FOLDER.fullmatch(line))}
    ranked = sorted(
        folders, key=lambda at: (len(folders[at][1]), -int(folders[at][2].replace(",", "")))
    )
    for most in range(len(ranked) - 1, 0, -1):
        dropped = ranked[most:]
        shown = [line for at, line in enumerate(lines) if at not in dropped]
        shown.insert(max(folders) + 1 - len(dropped), ELLIPSIS)
        text = "\n".join(shown)
        if count(text) <= max_tokens:
            return text
    return ""
