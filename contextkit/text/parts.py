"""The parts of an item's formatted text: its own words, and what stands around them."""

from __future__ import annotations

import re
from typing import Self

from attrs import field, frozen

from contextkit.text.styles import TextStyle, style_of

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

    style: TextStyle = field(repr=False)
    head: str
    body: str
    tail: str

    @classmethod
    def of(cls, text: str, style: str) -> Self | None:
        """Take a text apart; None for an element that is not on lines of its own.

        Args:
            text: an item's text, in full or as a summary.
            style: the name of the style that it is written in.
        """
        own = style_of(style)
        parted = own.choose(markdown=_of_markdown, xml=_of_xml, plain=_of_lines)(text)
        if parted is None:
            return None
        head, body, tail = parted
        return cls(style=own, head=head, body=body, tail=tail)

    @property
    def words(self) -> str:
        """The body without a style's escapes, as far as a summary needs it."""
        return self.style.read_back(self.body)

    @property
    def has_elements(self) -> bool:
        """Whether the body holds elements of its own, which are no sentences."""
        return self.style.choose(markdown=False, xml="<" in self.body, plain=False)

    def words_of(self, short: str) -> int:
        """How many words a shortened text has beside head, tail, headings, tags and anchors.

        0 where it was cut within the head.
        """
        if not short.startswith(self.head):
            return 0
        body = short.removeprefix(self.head).removesuffix(self.tail)
        return len(_WORD.findall(_SAYS_NOTHING.sub(" ", body)))

    def in_style(self, words: str) -> str:
        """Write any words as a body that breaks out of nothing."""
        return self.style.text(words, behind_label=bool(self.head) and self.head[-1] != "\n")

    def end(self, note: str) -> str:
        """What stands behind the body: the tail, and a note in a paragraph of its own."""
        noted = f"\n\n{note}" if note else ""
        behind = f"{self.tail}{noted}"
        return self.style.choose(markdown=behind, xml=f"{noted}{self.tail}", plain=behind)


_Parted = tuple[str, str, str] | None


def _of_xml(text: str) -> _Parted:
    opening, _, rest = text.partition("\n")
    body, _, closing = rest.rpartition("\n")
    if not body or not opening.startswith("<") or not closing.startswith("</"):
        return None
    return f"{opening}\n", body, f"\n{closing}"


def _of_markdown(text: str) -> _Parted:
    return _fenced(text) or _behind(_head_line(text) or _LABEL.match(text), text)


def _of_lines(text: str) -> _Parted:
    return _behind(_head_line(text), text)


def _head_line(text: str) -> re.Match[str] | None:
    found = _HEAD_LINE.match(text)
    if found is None or found.end() > _LONGEST_HEAD or not text[found.end() :].strip():
        return None
    return found


def _behind(head: re.Match[str] | None, text: str) -> _Parted:
    end = head.end() if head else 0
    return text[:end], text[end:], ""


def _fenced(text: str) -> tuple[str, str, str] | None:
    """A text that ends with its only fence, as what is before, in and behind the content."""
    # A look at the characters takes a fraction of the pattern's time.
    opening = _FENCE.search(text) if "```" in text or "~~~" in text else None
    if opening is None or opening.start() > _LONGEST_TITLE:
        return None
    mark = opening[1]
    closing = re.compile(rf"^{mark[0]}{{{len(mark)},}}+[ \t]*+$", re.MULTILINE)
    end = closing.search(text, opening.end())
    if end is None or end.end() != len(text):
        return None
    return text[: opening.end()], text[opening.end() : end.start() - 1], f"\n{end[0]}"
