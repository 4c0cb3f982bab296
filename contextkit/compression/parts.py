"""What of an item's formatted text is its own words, and what stands around those."""

from __future__ import annotations

import html
import re
from typing import Self

from attrs import frozen

from contextkit.markup import escape_markdown, escape_xml, markdown_text, one_line, plain_text
from contextkit.models import ContextItem, Style

__all__ = ["Parts", "keeps"]

_LABEL = re.compile(r"(?:[-*] )?\*\*[^*\n]{1,60}\*\*:? ")
_HEAD_LINE = re.compile(r"(?:\*\*|#{1,6} ).*\n|.* \[(?:(?! \[)[^\]\n])*+\]\n")
_LONGEST_HEAD = 160
_MARKUP = re.compile(r"[\\\s]+")


@frozen(kw_only=True)
class Parts:
    """An item's formatted text: a head, its body, and what closes it.

    Attributes:
        style: the text's style.
        head: a label or a heading line, an element's opening tag; "" where there is none.
        body: the rest.
        tail: an element's closing tag, or "".
        note: what marks a summary, and says where the rest is.
    """

    style: Style
    head: str
    body: str
    tail: str
    note: str

    @classmethod
    def of(cls, item: ContextItem, text: str, style: Style) -> Self | None:
        """The parts of an item's text; None for an element that is not on lines of its own."""
        place = f", see full at {one_line(item.location)}" if item.location else ""
        if style == "xml":
            opening, _, rest = text.partition("\n")
            body, _, closing = rest.rpartition("\n")
            if not body or not opening.startswith("<") or not closing.startswith("</"):
                return None
            note = f"(summarised{escape_xml(place)})"
            return cls(style=style, head=f"{opening}\n", body=body, tail=f"\n{closing}", note=note)
        found = _HEAD_LINE.match(text)
        if found is None or found.end() > _LONGEST_HEAD or not text[found.end() :].strip():
            found = _LABEL.match(text) if style == "markdown" else None
        head = found[0] if found else ""
        if style == "markdown":
            note = f"*(summarised{escape_markdown(place)})*"
        else:
            note = f"(summarised{place})"
        return cls(style=style, head=head, body=text[len(head) :], tail="", note=note)

    @property
    def words(self) -> str:
        """The body without a style's escapes, as far as whoever summarises it needs to know."""
        return html.unescape(self.body) if self.style == "xml" else self.body

    def in_style(self, words: str) -> str:
        """Anybody's words as a body, with nothing in them that breaks out of it."""
        if self.style == "xml":
            return escape_xml(words)
        if self.style == "plain":
            return plain_text(words)
        return markdown_text(words, behind_label=bool(self.head) and self.head[-1] != "\n")

    def around(self, body: str) -> str:
        """The whole text with another body, marked as a summary."""
        return f"{self.head}{body}\n\n{self.note}{self.tail}"


def keeps(text: str, must: str) -> bool:
    """Whether a text has these words, whatever the white space and the escapes."""
    return _plain(must) in _plain(text)


def _plain(text: str) -> str:
    return _MARKUP.sub(" ", html.unescape(text).replace("\\", "")).casefold().strip()
