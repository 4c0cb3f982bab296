"""The default way to shorten a text to a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attrs import frozen

from contextkit.text.blocks import TextBlocks
from contextkit.text.graphemes import is_boundary
from contextkit.text.tokens import Beginnings, TokenCounter

ELLIPSIS = "..."

# How much of what would fit a cut at a better place must keep, at least.
_PARAGRAPH_KEEPS = 0.9
_LINE_KEEPS = 0.8
_SENTENCE_KEEPS = 0.8
_WORD_KEEPS = 0.5

SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s|$)|[。！？]++[」』）”’]*+")
# A word ends before white space; in Chinese and Japanese behind every character, but not
# before punctuation that closes.
_WORD_END = re.compile(r"(?=\s)|(?<=[\u3040-\u30ff\u3400-\u9fff、。，！？])(?![、。，！？」』）])")
_LINE_END = re.compile(r"[ \t\r\f\v]*(?:\n|\Z)")

_FIRST_GUESS, _FIRST_GUESS_PER_TOKEN = 1000, 8
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
        count: text -> tokens; called a logarithmic number of times, a `TokenCounter` that
            knows beginnings hardly at all.
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

    size = max(_FIRST_GUESS, _FIRST_GUESS_PER_TOKEN * max_tokens)
    while size < len(text) and count(text[:size]) <= max_tokens:
        size *= 2
    cutter = _Cutter.of(text[: size + _BEYOND], note, count)
    furthest = cutter.furthest(max_tokens, min(size, len(text) - 1))
    for position in cutter.better_places(furthest):
        place = cutter.legal(position)
        if place and cutter.tokens(place) <= max_tokens:
            return cutter.shortened(place)
    return ""


@frozen
class _CountedBeginnings:
    """The beginnings of a text, counted one by one."""

    text: str
    note: str
    count: Callable[[str], int]

    def tokens(self, end: int, between: str) -> int:
        return self.count(f"{self.text[:end]}{between}{self.note}")

    def longest(self, max_tokens: int) -> int:
        whole = self.tokens(len(self.text), ELLIPSIS)
        return len(self.text) * max_tokens // max(1, whole)


@frozen
class _Cutter:
    """A text that is to be cut, and what stands behind the cut."""

    text: str
    blocks: TextBlocks
    note: str
    beginnings: Beginnings

    @classmethod
    def of(cls, text: str, note: str, count: Callable[[str], int]) -> _Cutter:
        separated = note if not note or note[0].isspace() else f"\n\n{note}"
        counted = count.beginnings if isinstance(count, TokenCounter) else None
        if counted:
            beginnings = counted(text, separated)
        else:
            beginnings = _CountedBeginnings(text, separated, count)
        return cls(text, TextBlocks(text), separated, beginnings)

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

    def shortened(self, place: int) -> str:
        """The text cut at a legal place, with ellipsis and note."""
        return f"{self.text[:place]}{self._ellipsis(place)}{self.note}"

    def tokens(self, place: int) -> int:
        """Tokens of the text cut at a legal place, with ellipsis and note."""
        return self.beginnings.tokens(place, self._ellipsis(place))

    def furthest(self, max_tokens: int, most: int) -> int:
        """The last position, of `most`, that leaves no more than `max_tokens`.

        It is looked for in steps of double length, away from where it should be.
        """
        low, high, step = 0, most, 1
        position = self.beginnings.longest(max_tokens)
        while low < high:
            if not low < position <= high:
                position = (low + high + 1) // 2
            place = self.legal(position)
            if place == 0 or self.tokens(place) <= max_tokens:
                low = position
                position += step
            else:
                high = place - 1
                position = high - step
            step *= 2
        return low

    def _ellipsis(self, place: int) -> str:
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
        return ellipsis

    def better_places(self, furthest: int) -> Iterator[int]:
        """Places to cut at, best first; the last is `furthest`, as far as anything fits."""
        furthest = self.legal(furthest)
        if self.blocks.open_fence(furthest) is None:
            yield from self._last("\n\n", furthest, _PARAGRAPH_KEEPS)
        if self._is_line_end(furthest):
            yield furthest
        yield from self._last("\n", furthest, _LINE_KEEPS)
        if self.blocks.open_fence(furthest) is None:
            yield from self._last_sentence_end(furthest)
        yield from self._last_word_end(furthest)
        yield furthest

    def _is_line_end(self, place: int) -> bool:
        return _LINE_END.match(self.text, place) is not None

    def _last(self, separator: str, furthest: int, keeps: float) -> Iterator[int]:
        place = self.text.rfind(separator, 0, furthest + len(separator))
        if place > 0 and self.legal(place) >= keeps * furthest:
            yield place

    def _last_sentence_end(self, furthest: int) -> Iterator[int]:
        start = int(_SENTENCE_KEEPS * furthest)
        ends = [found.end() for found in SENTENCE_END.finditer(self.text, start, furthest + 1)]
        for place in reversed(ends):
            if place <= furthest and self.legal(place) == place >= start:
                yield place
                return

    def _last_word_end(self, furthest: int) -> Iterator[int]:
        for place in range(furthest, int(_WORD_KEEPS * furthest) - 1, -1):
            if _WORD_END.match(self.text, place, furthest + 1) and self.legal(place) == place:
                yield place
                return
