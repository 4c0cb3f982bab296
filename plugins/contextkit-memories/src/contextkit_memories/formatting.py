"""How memories look in a context: Markdown, XML and plain text."""

from __future__ import annotations

from contextkit import ContextItem
from contextkit.markup import escape_xml, one_line
from contextkit.models import Style
from contextkit_memories.inline import inline_markdown
from contextkit_memories.memory import DEFAULT_IMPORTANCE
from contextkit_memories.words import DEFAULT_CATEGORY

__all__ = ["formatted"]


def formatted(item: ContextItem, style: Style) -> str:
    """One memory's text as it is shown in a context of this style."""
    category = one_line(str(item.metadata.get("category", DEFAULT_CATEGORY)))
    importance = f"{item.metadata.get('importance', DEFAULT_IMPORTANCE):.2f}"
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
    return f"**Memory**: {inline_markdown(text)}\n*Category: {category}, Importance: {importance}*"
