"""How items look, and the text of one whose source has no format of its own.

What of an item's formatted text is its own words, and what stands around those.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import Self

from attrs import evolve, frozen

from contextkit.models.items import ContextItem, Detail, Style
from contextkit.pipeline.render import group_of
from contextkit.text.clean import legible
from contextkit.text.markup import (
    code_span,
    escape_xml,
    line_start_safe,
    markdown_text,
    one_line,
    plain_line,
    plain_text,
)

_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")


@frozen
class Look:
    """A style, and how much of each item is shown."""

    style: Style = "markdown"
    detail: Detail = "full"

    @property
    def separator(self) -> str:
        """What stands behind each item's text."""
        return "\n" if self.detail == "compact" else "\n\n"


def default_text(item: ContextItem, look: Look) -> str:
    """An item's content, escaped for the style.

    `summary` shows its first paragraph, `compact` all of it on one line.
    """
    words = item.content if group_of(item.kind) == "code" else legible(item.content)
    if words is not item.content:
        item = evolve(item, content=words)
    if look.detail == "compact":
        return _COMPACT[look.style](item)
    content = item.content
    if look.detail == "summary":
        content = _PARAGRAPH_END.split(content.strip(), maxsplit=1)[0]
    return _WHOLE[look.style](item, content)


def _markdown(_: ContextItem, content: str) -> str:
    return markdown_text(content)


def _xml(item: ContextItem, content: str) -> str:
    return f"{_opening(item)}\n{escape_xml(content)}\n</entity>"


def _opening(item: ContextItem) -> str:
    name = escape_xml(one_line(item.title or item.id))
    return f'<entity name="{name}" type="{escape_xml(item.kind or item.source)}">'


def _plain(item: ContextItem, content: str) -> str:
    place = one_line(item.location or item.kind or item.source)
    words = plain_text(content)
    return f"{plain_line(item.title or item.id)} [{place}]\n{words}"


_WHOLE: Mapping[Style, Callable[[ContextItem, str], str]] = {
    "markdown": _markdown,
    "xml": _xml,
    "plain": _plain,
}


def _compact_markdown(item: ContextItem) -> str:
    place = f" ({code_span(item.location)})" if item.location else ""
    return f"- {line_start_safe(item.content)}{place}"


def _compact_xml(item: ContextItem) -> str:
    return f"{_opening(item)}{escape_xml(one_line(item.content))}</entity>"


def _compact_plain(item: ContextItem) -> str:
    place = f" ({one_line(item.location)})" if item.location else ""
    return f"{plain_line(item.content)}{place}"


_COMPACT: Mapping[Style, Callable[[ContextItem], str]] = {
    "markdown": _compact_markdown,
    "xml": _compact_xml,
    "plain": _compact_plain,
}


_LABEL = re.compile(r"(?:[-*] )?\*\*[^*\n]{1,60}\*\*(?: \([^()\n]{1,60}\))?:? ")
_HEAD_LINE = re.compile(r"(?:\*\*|#{1,6} ).*\n|.* \[(?>(?:(?! \[)[^\]\n])*)\]\n")
_FENCE = re.compile(r"^(`{3,}+|~{3,}+).*+\n", re.MULTILINE)
_LONGEST_HEAD = 160
_LONGEST_TITLE = 1_000
"""A line in front of a fence may be longer: headings below headings, and a path."""

_WORD = re.compile(r"\w+")
# Headings, tags, and links within the page, as a table of contents has them.
_SAYS_NOTHING = re.compile(
    r"^ {0,3}#{1,6}[ \t].*$|<[^<>\n]*+>|\[[^\[\]\n]*+\]\(#[^()\n]*+\)", re.MULTILINE
)


@frozen(kw_only=True)
class Parts:
    """An item's formatted text: a head, its body, and what closes it.

    Attributes:
        style: the text's style.
        head: a label or a heading line, an element's opening tag, the lines up to a fence's
            content; "" where there is none.
        body: the rest.
        tail: an element's closing tag, a fence's last line, or "".
    """

    style: Style
    head: str
    body: str
    tail: str

    @classmethod
    def of(cls, text: str, style: Style) -> Self | None:
        """The parts of an item's text; None for an element that is not on lines of its own."""
        if style == "xml":
            opening, _, rest = text.partition("\n")
            body, _, closing = rest.rpartition("\n")
            if not body or not opening.startswith("<") or not closing.startswith("</"):
                return None
            return cls(style=style, head=f"{opening}\n", body=body, tail=f"\n{closing}")
        if style == "markdown" and (fenced := _fenced(text)):
            head, body, tail = fenced
            return cls(style=style, head=head, body=body, tail=tail)
        found = _HEAD_LINE.match(text)
        if found is None or found.end() > _LONGEST_HEAD or not text[found.end() :].strip():
            found = _LABEL.match(text) if style == "markdown" else None
        head = found[0] if found else ""
        return cls(style=style, head=head, body=text[len(head) :], tail="")

    @property
    def words(self) -> str:
        """The body without a style's escapes, as far as whoever summarises it needs to know."""
        return html.unescape(self.body) if self.style == "xml" else self.body

    def words_of(self, short: str) -> int:
        """How many words a shortened text has beside head, tail, headings, tags and anchors."""
        body = short.removeprefix(self.head).removesuffix(self.tail)
        return len(_WORD.findall(_SAYS_NOTHING.sub(" ", body)))

    def in_style(self, words: str) -> str:
        """Anybody's words as a body, with nothing in them that breaks out of it."""
        if self.style == "xml":
            return escape_xml(words)
        if self.style == "plain":
            return plain_text(words)
        return markdown_text(words, behind_label=bool(self.head) and self.head[-1] != "\n")

    def end(self, note: str) -> str:
        """What stands behind the body: the tail, and a note in a paragraph of its own."""
        noted = f"\n\n{note}" if note else ""
        return f"{noted}{self.tail}" if self.style == "xml" else f"{self.tail}{noted}"


def _fenced(text: str) -> tuple[str, str, str] | None:
    """A text that ends with its only fence, as what is before, in and behind the content."""
    opening = _FENCE.search(text)
    if opening is None or opening.start() > _LONGEST_TITLE:
        return None
    mark = opening[1]
    closing = re.compile(rf"^{mark[0]}{{{len(mark)},}}+[ \t]*+$", re.MULTILINE)
    end = closing.search(text, opening.end())
    if end is None or end.end() != len(text):
        return None
    return text[: opening.end()], text[opening.end() : end.start() - 1], f"\n{end[0]}"
