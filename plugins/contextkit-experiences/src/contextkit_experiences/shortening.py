"""How a shown experience is shortened: line by line, what matters most kept longest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from contextkit.models import ContextItem, Style
from contextkit.text import Excerpt, escape_xml, excerpt, is_boundary, one_line, style_of

# What a shortened experience keeps first, down to the least of it; then the rest in order.
_ESSENTIAL = ("Outcome", "Root cause", "Takeaway")
_THEN = ("What worked", "Surprise", "Tried", "Hypothesis", "Prediction", "Goal")
_LABELLED = re.compile(r"((?:- \*\*)?([A-Z][a-z]+(?: [a-z]+)?)(?:\*\*)?: )(.*)")
_HALF_ENTITY = re.compile(r"&[^;&\s]*+\Z")
_SHORTEST_CUT = 24


@frozen
class _Line:
    """One line of a shown experience: `- **Goal**: ` and what stands behind it."""

    label: str
    prefix: str
    body: str

    def cut(self, length: int, query: str) -> str:
        """The line with at most `length` characters of its body.

        An `Excerpt` where these are whole sentences, those that match the query first; else
        the beginning, to a word's end.
        """
        if len(self.body) <= length:
            return Excerpt(self.prefix + self.body)
        if said := excerpt(self.body, query, length, len):
            return Excerpt(self.prefix + said)
        while not is_boundary(self.body, length):
            length -= 1
        kept = self.body[:length]
        space = kept.rfind(" ")
        if not self.body[length].isspace() and space > length // 2:
            kept = kept[:space]
        return f"{self.prefix}{_HALF_ENTITY.sub('', kept).rstrip()}..."


@frozen
class _Frame:
    """A shown experience taken apart: its heading, its lines, its end and the note.

    It is taken from the formatted text and not from the item's fields, so that what was
    blacked out of the text stays so.
    """

    heading: str
    lines: tuple[_Line, ...]
    end: str
    query: str

    @classmethod
    def of(cls, item: ContextItem, style: Style, query: str) -> _Frame:
        heading, *rest = item.content.split("\n")
        matches = (_LABELLED.fullmatch(line) for line in rest)
        lines = tuple(_Line(m[2], m[1], m[3]) for m in matches if m)
        note = f"(truncated, full experience ID: {one_line(item.id)})"
        end = style_of(style).choose(
            markdown=f"\n\n*{note}*",
            xml=f"\n{escape_xml(note)}\n</entity>",
            plain=f"\n\n{note}",
        )
        return cls(heading, lines, end, query)

    def numbers(self, labels: Sequence[str]) -> list[int]:
        """The numbers of the lines with these labels, in the labels' order."""
        return [
            number
            for label in labels
            for number, line in enumerate(self.lines)
            if line.label == label
        ]

    def text(self, chosen: Mapping[int, str]) -> str:
        """The experience with only the chosen lines, in their own order, and the note."""
        kept = [chosen[number] for number in sorted(chosen)]
        text = "\n".join([self.heading, *kept]) + self.end
        return Excerpt(text) if all(isinstance(line, Excerpt) for line in kept) else text


def shorten(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """A shown experience within `max_tokens`, with a note that names the whole one.

    The heading, the outcome, the root cause and the takeaway are kept before everything
    else, each of them cut to the same length where they do not fit whole; then come what
    worked, the surprise and the rest, for as long as there is room.

    Args:
        item: the experience, its content as it was formatted, in full or as a summary.
        style: the style that it was formatted in.
        max_tokens: what the whole result may take, note included.
        count: gives a text's tokens.
        query: what of a long field is shown has to do with it.

    Returns:
        The shorter text, or None when not even heading and note fit.
    """
    frame = _Frame.of(item, style, query)

    def fits(chosen: Mapping[int, str]) -> bool:
        return count(frame.text(chosen)) <= max_tokens

    if not fits({}):
        return None
    lines = _essential_lines(frame, fits)
    for number in frame.numbers(_THEN):
        more = _evenly_cut(frame, [number], fits, beside=lines)
        if not more:
            break
        lines = more
    return frame.text(lines)


def _essential_lines(frame: _Frame, fits: Callable[[Mapping[int, str]], bool]) -> dict[int, str]:
    """As many of the essential lines as fit, the most essential first."""
    numbers = frame.numbers(_ESSENTIAL)
    while numbers:
        lines = _evenly_cut(frame, numbers, fits, beside={})
        if lines:
            return lines
        numbers.pop()
    return {}


def _evenly_cut(
    frame: _Frame,
    numbers: Sequence[int],
    fits: Callable[[Mapping[int, str]], bool],
    *,
    beside: Mapping[int, str],
) -> dict[int, str]:
    """The lines `beside` and these, each cut to the greatest length at which all fit.

    Empty where they do not fit at the shortest length that is worth showing.
    """

    def cut_to(length: int) -> dict[int, str]:
        return {
            **beside,
            **{number: frame.lines[number].cut(length, frame.query) for number in numbers},
        }

    longest = max((len(frame.lines[number].body) for number in numbers), default=0)
    whole = cut_to(longest)
    if fits(whole):
        return whole
    best: dict[int, str] = {}
    low, high = _SHORTEST_CUT, longest - 1
    while low <= high:
        length = (low + high) // 2
        cut = cut_to(length)
        if fits(cut):
            best, low = cut, length + 1
        else:
            high = length - 1
    return best
