"""How a chunk is shown: in each style, and in each detail."""

from __future__ import annotations

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.clean import legible
from contextkit.text.markup import (
    code_span,
    escape_markdown,
    escape_xml,
    fenced,
    line_start_safe,
    one_line,
    plain_line,
    plain_text,
)
from contextkit.text.truncate import ELLIPSIS, truncate
from contextkit_documents.layout import without_layout
from contextkit_documents.naming import titled

__all__ = ["shown"]

_BEGINNING_LINES = 3
_LINE_CHARACTERS = 160
_OPENERS = ("[", "`" * 3, "<!--", "{")
"""What a line begins with that tells less than the next one: a table's head, a fence."""


def shown(item: ContextItem, style: Style, detail: Detail) -> str:
    """A chunk's text.

    Its lines stand in a fence, as they are but for HTML that only says how a page looks: a
    heading, a table or a fence of a document must not become one of the context.

    Args:
        item: the chunk.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: all of its lines. `summary`: the first three that say something.
            `compact`: place, headings and the first of these on one line.
    """
    if detail == "compact":
        return _compact(item, style)
    text = without_layout(legible(item.content), str(item.metadata.get("language", "")))
    text = text if detail == "full" else _beginning(text)
    name, place = _name_of(item), _shown_place(item, style)
    if style == "xml":
        return f"{_opening(item)}\n{escape_xml(text)}\n</document>"
    if style == "plain":
        return f"{plain_line(name)}{place}\n{plain_text(text)}"
    label = escape_markdown(_kind_of(item).capitalize())
    heading = f"**{label}**: {escape_markdown(name)}{place}"
    return f"{heading}\n{fenced(text, str(item.metadata.get('language', '')))}"


def _shown_place(item: ContextItem, style: Style) -> str:
    place = _place_of(item)
    return f" [{place}]" if style == "plain" else f" ({code_span(place)})"


def _compact(item: ContextItem, style: Style) -> str:
    name, place = _name_of(item), _place_of(item)
    lines = _lines(legible(item.content))
    says = next((line for line in lines if not line.startswith(_OPENERS)), next(iter(lines), ""))
    if style == "xml":
        return f"{_opening(item)}{escape_xml(one_line(says))}</document>"
    if style == "plain":
        return plain_line(f"{place} {name}: {says}")
    return f"- {code_span(place)} {escape_markdown(name)}: {line_start_safe(says)}"


def _name_of(item: ContextItem) -> str:
    headings = titled(_kind_of(item), item.metadata.get("headings") or ())
    path = str(item.metadata.get("file_path") or "")
    return one_line(headings) or one_line(path.rpartition("/")[2]) or one_line(item.id) or "-"


def _place_of(item: ContextItem) -> str:
    path = item.metadata.get("file_path")
    return one_line(f"{path}:{item.metadata.get('start_line', 1)}") if path else one_line(item.id)


def _kind_of(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("kind") or "")) or "document"


def _opening(item: ContextItem) -> str:
    attributes = {
        "file": one_line(str(item.metadata.get("file_path") or item.id)),
        "line": one_line(str(item.metadata.get("start_line", 1))),
        "kind": _kind_of(item),
        "heading": _name_of(item),
    }
    return "<document " + " ".join(f'{k}="{escape_xml(v)}"' for k, v in attributes.items()) + ">"


def _beginning(content: str) -> str:
    lines = _lines(content)
    more = [ELLIPSIS] if len(lines) > _BEGINNING_LINES else []
    return "\n".join([*lines[:_BEGINNING_LINES], *more])


def _lines(content: str) -> list[str]:
    """The lines that say something, each within a length."""
    says = [line for line in content.split("\n") if any(char.isalnum() for char in line)]
    return [truncate(line.rstrip(), _LINE_CHARACTERS, len) for line in says]
