"""What of an item's formatted text is its own words, and what stands around those."""

from __future__ import annotations

import html
import re
from typing import Self

from attrs import frozen

from contextkit.markup import escape_xml, markdown_text, plain_text
from contextkit.models import Style

__all__ = ["Parts"]

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
