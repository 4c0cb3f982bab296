"""Present a chunk in each style and detail."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.text import ELLIPSIS, TextStyle, element, legible, one_line, style_of, truncate
from contextkit_documents.stored import titled

_BEGINNING_LINES = 3
_LINE_CHARACTERS = 160
_OPENERS = ("[", "`" * 3, "<!--", "{")
"""Beginnings of lines less informative than the next.

Examples: a table's head, a fence.
"""
_ELEMENTS = "br|center|div|figure|font|h[1-6]|hr|img|p|picture|source|span"
# Code stays as it is: a fence to its end or that of the text, and a span within its line.
_LAYOUT = re.compile(
    rf"""(?P<code>^[ ]{{0,3}}(?P<mark>`{{3,}}+|~{{3,}}+)
        (?>(?:(?!\n[ ]{{0,3}}(?P=mark)).)*)(?:\n[ ]{{0,3}}(?P=mark))?
    |`[^`\n]*+`)
    |<!--(?>(?:(?!-->).)*)(?:-->|\Z)
    |</?(?:{_ELEMENTS})(?=[\s/>])[^<>]*+>""",
    re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}")


def shown(item: ContextItem, style: Style, detail: Detail) -> str:
    """Return a chunk's text.

    Its lines stand in a fence, unchanged except for layout HTML: a heading, a table or a fence of a
    document must not become one of the context.

    Args:
        item: the chunk.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: all of its lines. `summary`: the first three that carry information.
            `compact`: location, headings and the first of these on one line.
    """
    own = style_of(style)
    if detail == "compact":
        return _compact(item, own)
    language = str(item.metadata.get("language", ""))
    text = without_layout(legible(item.content), language)
    text = text if detail == "full" else _beginning(text)
    # Manual pages are stored as plain text.
    block = own.code_block(text, "text" if language == "man" else language)
    return own.choose(markdown=_markdown, xml=_xml, plain=_plain)(item, own, block)


def _markdown(item: ContextItem, own: TextStyle, block: str) -> str:
    label, name = own.name(_kind_of(item).capitalize()), own.name(_name_of(item))
    return f"**{label}**: {name} ({own.place(_place_of(item))})\n{block}"


def _xml(item: ContextItem, _: TextStyle, block: str) -> str:
    return element("document", _attributes(item), [block])


def _plain(item: ContextItem, own: TextStyle, block: str) -> str:
    return f"{own.line(_name_of(item))} [{own.place(_place_of(item))}]\n{block}"


def _compact(item: ContextItem, own: TextStyle) -> str:
    lines = _lines(legible(item.content))
    says = next((line for line in lines if not line.startswith(_OPENERS)), next(iter(lines), ""))
    line = f"{own.place(_place_of(item))} {own.name(_name_of(item))}: {own.inline(says)}"
    return own.entry(line, tag="document", attributes=_attributes(item), text=one_line(says))


def _name_of(item: ContextItem) -> str:
    headings = titled(_kind_of(item), item.metadata.get("headings") or ())
    path = str(item.metadata.get("file_path") or "")
    return one_line(headings) or one_line(path.rpartition("/")[2]) or one_line(item.id) or "-"


def _place_of(item: ContextItem) -> str:
    path = item.metadata.get("file_path")
    return one_line(f"{path}:{item.metadata.get('start_line', 1)}") if path else one_line(item.id)


def _kind_of(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("kind") or "")) or "document"


def _attributes(item: ContextItem) -> Mapping[str, str]:
    return {
        "file": one_line(str(item.metadata.get("file_path") or item.id)),
        "line": one_line(str(item.metadata.get("start_line", 1))),
        "kind": _kind_of(item),
        "heading": _name_of(item),
    }


def _beginning(content: str) -> str:
    lines = _lines(content)
    more = [ELLIPSIS] if len(lines) > _BEGINNING_LINES else []
    return "\n".join([*lines[:_BEGINNING_LINES], *more])


def _lines(content: str) -> list[str]:
    """Return the informative lines, each cut to a length."""
    says = [line for line in content.split("\n") if any(char.isalnum() for char in line)]
    return [truncate(line.rstrip(), _LINE_CHARACTERS, len) for line in says]


def without_layout(text: str, language: str) -> str:
    """Strip layout tags and comments from a document's text.

    Args:
        text: its lines.
        language: the text's language; anything but Markdown is returned unchanged.

    Returns:
        The text; as it was where nothing but tags is in it.
    """
    if language != "markdown" or "<" not in text:
        return text
    bare = _LAYOUT.sub(lambda found: found["code"] or "", text)
    return _BLANK_LINES.sub("\n\n", bare).strip("\n") or text
