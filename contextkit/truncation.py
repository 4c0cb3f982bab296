"""The default way to shorten a text to a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attrs import frozen

from contextkit.graphemes import is_boundary
from contextkit.text_blocks import TextBlocks

__all__ = ["ELLIPSIS", "truncate"]

ELLIPSIS = "..."

# How much of what would fit a cut at a better place must keep, at least.
_PARAGRAPH_KEEPS = 0.9
_LINE_KEEPS = 0.8
_SENTENCE_KEEPS = 0.8
_WORD_KEEPS = 0.5

_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[。！？]+[」』）”’]*")
# A word ends before white space; in Chinese and Japanese behind every character, but not
# before punctuation that closes.
_WORD_END = re.compile(r"(?=\s)|(?<=[\u3040-\u30ff\u3400-\u9fff、。，！？])(?![、。，！？」』）])")
_LINE_END = re.compile(r"[ \t\r\f\v]*(?:\n|\Z)")

_FIRST_GUESS_PER_TOKEN = 8
# What is read behind the furthest cut, so that what it would be in the middle of is seen.
_BEYOND = 1000


def truncate(text: str, max_tokens: int, count: Callable[[str], int], note: str = "") -> str:
    """Shorten `text` to `max_tokens`, ellipsis and note included.

    What is kept is the text's beginning, cut at a paragraph's or line's end where that
    keeps most of what fits, else at a sentence's, else at a word's, else between two
    characters as people see them. A code fence that the cut falls into is closed. No
    table row, tag, comment or entity is cut.

    Args:
        text: Markdown, XML or plain text.
        max_tokens: what the result may take, in tokens of `count`.
        count: text -> tokens; called a logarithmic number of times.
        note: says where the rest is; it stands in a paragraph of its own, unless it
            begins with white space of its own.

    Returns:
        The text where it fits; else its beginning, `...` and the note; "" where the note
        and one character do not fit.
    """
    if max_tokens <= 0:
        return ""
    if count(text) <= max_tokens:
        return text

    def fits(shortened: str) -> bool:
        return count(shortened) <= max_tokens

    size = max(64, _FIRST_GUESS_PER_TOKEN * max_tokens)
    while size < len(text) and fits(text[:size]):
        size *= 2
    cutter = _Cutter.of(text[: size + _BEYOND], note)
    low, high = 0, min(size, len(text) - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(cutter.shortened(middle)):
            low = middle
        else:
            high = middle - 1
    for position in cutter.better_places(low):
        shortened = cutter.shortened(position)
        if shortened and fits(shortened):
            return shortened
    return ""


@frozen
class _Cutter:
    """A text that is to be cut, and what stands behind the cut."""

    text: str
    blocks: TextBlocks
    note: str

    @classmethod
    def of(cls, text: str, note: str) -> _Cutter:
        separated = note if not note or note[0].isspace() else f"\n\n{note}"
        return cls(text, TextBlocks(text), separated)

    def legal(self, position: int) -> int:
        """The nearest place at or before `position` where the text may be cut.

        White space before the cut is left out.
        """
        while True:
            place = len(self.text[:position].rstrip())
            place = self.blocks.before_span(place)
            while not is_boundary(self.text, place):
                place -= 1
            if place == position:
                return place
            position = place

    def shortened(self, position: int) -> str:
        """The text cut at or before `position`, with ellipsis and note; "" without any text."""
        place = self.legal(position)
        if place == 0:
            return ""
        fence = self.blocks.open_fence(place)
        at_line_end = self._is_line_end(place)
        if fence is not None:
            prefix = fence.closing.rstrip("`~")
            ellipsis = f"\n{prefix}{ELLIPSIS}" if at_line_end else ELLIPSIS
            ellipsis += f"\n{fence.closing}"
        elif self.blocks.is_row_end(place):
            # A line right below a table would be a row of it.
            ellipsis = f"\n\n{ELLIPSIS}"
        elif at_line_end:
            ellipsis = f"\n{ELLIPSIS}"
        else:
            ellipsis = f" {ELLIPSIS}" if self.text[place - 1] in ".!?" else ELLIPSIS
        return f"{self.text[:place]}{ellipsis}{self.note}"

    def better_places(self, furthest: int) -> Iterator[int]:
        """Places to cut at, best first; the last is `furthest`, as far as anything fits."""
        furthest = self.legal(furthest)
        if self.blocks.open_fence(furthest) is None:
            yield from self._last("\n\n", furthest, _PARAGRAPH_KEEPS)
        if self._is_line_end(furthest):
            yield furthest
        yield from self._last("\n", furthest, _LINE_KEEPS)
        if self.blocks.open_fence(furthest) is None:
            yield from self._last_match(_SENTENCE_END, furthest, _SENTENCE_KEEPS)
        yield from self._last_match(_WORD_END, furthest, _WORD_KEEPS)
        yield furthest

    def _is_line_end(self, place: int) -> bool:
        return _LINE_END.match(self.text, place) is not None

    def _last(self, separator: str, furthest: int, keeps: float) -> Iterator[int]:
        place = self.text.rfind(separator, 0, furthest + len(separator))
        if place > 0 and self.legal(place) >= keeps * furthest:
            yield place

    def _last_match(self, end: re.Pattern[str], furthest: int, keeps: float) -> Iterator[int]:
        start = int(keeps * furthest)
        places = [match.end() for match in end.finditer(self.text, start, furthest + 1)]
        for place in reversed(places):
            if place <= furthest and self.legal(place) == place >= start:
                yield place
                return
