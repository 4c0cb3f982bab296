"""Format memories, whole or on one line."""

from __future__ import annotations

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.sources import behind_label, compact, in_style, plain_entity, xml_entity
from contextkit.text import escape_markdown, one_line
from contextkit_memories.words import DEFAULT_CATEGORY

_DATE = len("2026-01-02")


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format one memory.

    `full` and `summary` are the same; `compact` is one line.
    """
    known, text = _known(item), item.content
    about = ", ".join(known.values())
    if detail == "compact":
        label = f"{known['category']}:" if "category" in known else ""
        line = " ".join(part for part in (known.get("date"), label, text) if part)
        return compact(style, "memory", known, text, line)
    return in_style(
        style,
        markdown=lambda: (
            f"**Memory**{f' ({escape_markdown(about)})' if about else ''}: {behind_label(text)}"
        ),
        xml=lambda: xml_entity({"type": "memory", **known}, [text]),
        plain=lambda: plain_entity(f"memory [{about}]" if about else "[memory]", [text]),
    )


def _known(item: ContextItem) -> dict[str, str]:
    """Return a memory's date and category, unless unknown or default."""
    date = one_line(str(item.metadata.get("created_at") or ""))[:_DATE]
    # Results of a host's own searcher without a time are dated 1970-01-01.
    date = "" if date == "1970-01-01" else date
    category = one_line(str(item.metadata.get("category", DEFAULT_CATEGORY)))
    shown = "" if category == DEFAULT_CATEGORY else category
    return {name: it for name, it in (("date", date), ("category", shown)) if it}
