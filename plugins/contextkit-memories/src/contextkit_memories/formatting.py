"""How memories look in a context: Markdown, XML and plain text, whole or on one line."""

from __future__ import annotations

from contextkit import ContextItem
from contextkit.markup import (
    escape_markdown,
    escape_xml,
    line_start_safe,
    markdown_text,
    one_line,
    plain_line,
)
from contextkit.models import Detail, Style
from contextkit_memories.memory import importance_in
from contextkit_memories.words import DEFAULT_CATEGORY

__all__ = ["ABOUT", "formatted"]

ABOUT = "*Category: "
"""What the last line of a memory in Markdown begins with."""

_DATE = len("2026-01-02")


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """One memory's text as it is shown in a context of this style.

    `full` and `summary` are the same; `compact` is one line, without the importance.
    """
    if detail == "compact":
        return _on_one_line(item, style)
    category = _category(item)
    importance = f"{importance_in(item.metadata):.2f}"
    text = item.content
    if style == "xml":
        return (
            f'<entity name="{escape_xml(item.id)}" type="memory" '
            f'category="{escape_xml(category)}" importance="{importance}">\n'
            f"{escape_xml(text)}\n</entity>"
        )
    if style == "plain":
        # Indented, so that no line of it can pass for a heading of the context.
        lines = "\n".join(f"  {line}" for line in text.splitlines())
        return f"{item.id} [memory: {category}, importance {importance}]\n{lines}"
    about = f"{ABOUT}{escape_markdown(category)}, Importance: {importance}*"
    return f"**Memory**: {markdown_text(text, behind_label=True)}\n{about}"


def _on_one_line(item: ContextItem, style: Style) -> str:
    date = one_line(str(item.metadata.get("created_at") or ""))[:_DATE]
    category = _category(item)
    shown_category = "" if category == DEFAULT_CATEGORY else category
    if style == "xml":
        attributes = {"date": date, "category": shown_category}
        known = "".join(f' {key}="{escape_xml(it)}"' for key, it in attributes.items() if it)
        return f"<memory{known}>{escape_xml(one_line(item.content))}</memory>"
    label = f"{shown_category}:" if shown_category else ""
    line = " ".join(part for part in (date, label, item.content) if part)
    return f"- {line_start_safe(line)}" if style == "markdown" else plain_line(line)


def _category(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("category", DEFAULT_CATEGORY)))
