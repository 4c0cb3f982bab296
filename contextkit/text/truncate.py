"""Shorten a text by cutting off its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attrs import frozen

from contextkit.text.blocks import TextBlocks
from contextkit.text.graphemes import is_boundary
from contextkit.text.tokens import Beginnings, TokenCounter

ELLIPSIS = "..."

# Cutting at a better place must leave at least this part of what would fit.
_PARAGRAPH_KEEPS = 0.9
_LINE_KEEPS = 0.8
_SENTENCE_KEEPS = 0.8
_WORD_KEEPS = 0.5

SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s|$)|[。！？]++[」』）”’]*+")
# A word ends before white space; in Chinese and Japanese after every character, but not before
# closing punctuation.
_WORD_END = re.compile(r"(?=\s)|(?<=[\u3040-\u30ff\u3400-\u9fff、。，！？])(?![、。，！？」』）])")
_LINE_END = re.compile(r"[ \t\r\f\v]*(?:\n|\Z)")

_FIRST_GUESS, _FIRST_GUESS_PER_TOKEN = 1000, 8
# Text read after the furthest cut, to see whether the cut would split something.
_BEYOND = 1000


def truncate(text: str, max_tokens: int, count: Callable[[str], int], note: str = "") -> str:
    """Shorten `text` to `max_tokens`, ellipsis and note included.

    The result is the text's beginning. It is cut at the end of a paragraph or line if that
    leaves most of what fits, otherwise at the end of a sentence, of a word, or between two
    visible characters. A code fence that is cut is closed. Table rows, tags, comments and
    entities are never cut.

    Args:
        text: Markdown, XML or plain text.
        max_tokens: maximum tokens of the result, by `count`.
        count: text -> tokens; called a logarithmic number of times, and even less if it is a
            `TokenCounter` with `beginnings`.
        note: says where the rest is; it becomes a paragraph of its own, unless it starts with
            white space.

    Returns:
        The text if it fits; otherwise its beginning, `...` and the note; "" if the note and one
        character do not fit.
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
    """A text to cut, with the note after the cut."""

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
        """The nearest earlier position where a cut is allowed.

        White space before the cut is dropped.
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
        """Return the cut text with ellipsis and note."""
        return f"{self.text[:place]}{self._ellipsis(place)}{self.note}"

    def tokens(self, place: int) -> int:
        """Count the tokens of the cut text."""
        return self.beginnings.tokens(place, self._ellipsis(place))

    def furthest(self, max_tokens: int, most: int) -> int:
        """The last position that leaves at most `max_tokens`.

        The search starts at an estimate and doubles its steps.
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
            # A line directly after a table would become one of its rows.
            ellipsis = f"\n\n{ELLIPSIS}"
        elif at_line_end:
            ellipsis = f"\n{ELLIPSIS}"
        else:
            ellipsis = f" {ELLIPSIS}" if self.text[place - 1] in ".!?" else ELLIPSIS
        return ellipsis

    def better_places(self, furthest: int) -> Iterator[int]:
        """Yield positions to cut at, best first.

        The last one is `furthest`.
        """
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
