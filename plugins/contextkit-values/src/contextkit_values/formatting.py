"""How values are shown: in Markdown, XML and plain text, on two lines or on one."""

from __future__ import annotations

from contextkit.models.items import ContextItem, Detail, Style
from contextkit.text.markup import escape_xml, line_start_safe, markdown_text, one_line, plain_line

__all__ = ["format_value"]

_WHOLE = "full"
"""The axis of whole experiences; its name says nothing of what the value is about."""


def format_value(item: ContextItem, style: Style, detail: Detail) -> str:
    """One value in a style: what it is about, and its text on a line of its own.

    The text is folded onto that line and opens no block, tag or section there. `full` and
    `summary` are the same; `compact` has both on one line.
    """
    axis = one_line(str(item.metadata.get("axis"))).replace("_", " ")
    about = "" if axis == _WHOLE else f" ({axis})"
    text = one_line(item.own_text)
    if detail == "compact":
        return _on_one_line(text, about, style)
    if style == "xml":
        name = escape_xml(f"Value{about}")
        return f'<entity name="{name}" type="value">\n{escape_xml(text)}\n</entity>'
    if style == "plain":
        return f"Value{about} [value]\n{plain_line(text)}"
    return f"**Value**{markdown_text(about, behind_label=True)}:\n{line_start_safe(text)}"


def _on_one_line(text: str, about: str, style: Style) -> str:
    line = f"{text}{about}"
    if style == "xml":
        return f"<value>{escape_xml(line)}</value>"
    return f"- {line_start_safe(line)}" if style == "markdown" else plain_line(line)
