"""How memories look in a context: Markdown, XML and plain text, whole or on one line."""

from __future__ import annotations

from collections.abc import Mapping

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.markup import (
    escape_markdown,
    escape_xml,
    line_start_safe,
    markdown_text,
    one_line,
    plain_line,
)
from contextkit_memories.words import DEFAULT_CATEGORY

__all__ = ["formatted"]

_DATE = len("2026-01-02")


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """One memory's text as it is shown in a context of this style.

    `full` and `summary` are the same; `compact` is one line.
    """
    if detail == "compact":
        return _on_one_line(item, style)
    known, text = _known(item), item.content
    if style == "xml":
        return f'<entity type="memory"{_attributes(known)}>\n{escape_xml(text)}\n</entity>'
    about = ", ".join(known.values())
    if style == "plain":
        # Indented, so that no line of it can pass for a heading of the context.
        lines = "\n".join(f"  {line}".rstrip() for line in text.splitlines())
        return f"memory [{about}]\n{lines}" if about else f"[memory]\n{lines}"
    label = f"**Memory** ({escape_markdown(about)})" if about else "**Memory**"
    return f"{label}: {markdown_text(text, behind_label=True)}"


def _on_one_line(item: ContextItem, style: Style) -> str:
    known = _known(item)
    if style == "xml":
        return f"<memory{_attributes(known)}>{escape_xml(one_line(item.content))}</memory>"
    label = f"{known['category']}:" if "category" in known else ""
    line = " ".join(part for part in (known.get("date"), label, item.content) if part)
    return f"- {line_start_safe(line)}" if style == "markdown" else plain_line(line)


def _known(item: ContextItem) -> dict[str, str]:
    """The date and the category of a memory, unless they are unknown or the default."""
    date = one_line(str(item.metadata.get("created_at") or ""))[:_DATE]
    # What a host's own searcher finds without a time is dated 1970-01-01.
    date = "" if date == "1970-01-01" else date
    category = one_line(str(item.metadata.get("category", DEFAULT_CATEGORY)))
    shown = "" if category == DEFAULT_CATEGORY else category
    return {name: it for name, it in (("date", date), ("category", shown)) if it}


def _attributes(known: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape_xml(it)}"' for name, it in known.items())
