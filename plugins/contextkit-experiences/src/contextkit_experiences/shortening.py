"""Shorten a formatted experience line by line.

The most important lines are kept longest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from contextkit.models import ContextItem, Style
from contextkit.text import Excerpt, escape_xml, excerpt, is_boundary, one_line, style_of

# The lines that a shortened experience keeps first, each down to its minimum; then the others in
# order.
_ESSENTIAL = ("Outcome", "Root cause", "Takeaway")
_THEN = ("What worked", "Surprise", "Tried", "Hypothesis", "Prediction", "Goal")
_LABELLED = re.compile(r"((?:- \*\*)?([A-Z][a-z]+(?: [a-z]+)?)(?:\*\*)?: )(.*)")
_HALF_ENTITY = re.compile(r"&[^;&\s]*+\Z")
_SHORTEST_CUT = 24


@frozen
class _Line:
    """A line of an experience: a label and its body.

    The label is, for instance, `- **Goal**: `.
    """

    label: str
    prefix: str
    body: str

    def cut(self, length: int, query: str) -> str:
        """Cut the line's body to `length` characters.

        The result is an `Excerpt` where these are whole sentences, those that match the query
        first; else the beginning, cut at a word.
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
    """A formatted experience split into heading, lines, end and note.

    It is parsed from the formatted text, not from the item's fields, so that redacted text stays
    redacted.
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
        """Return the labels' line numbers, in the labels' order."""
        return [
            number
            for label in labels
            for number, line in enumerate(self.lines)
            if line.label == label
        ]

    def text(self, chosen: Mapping[int, str]) -> str:
        """Return the experience with the chosen lines and the note.

        The lines keep their own order.
        """
        kept = [chosen[number] for number in sorted(chosen)]
        text = "\n".join([self.heading, *kept]) + self.end
        return Excerpt(text) if all(isinstance(line, Excerpt) for line in kept) else text


def shorten(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten a formatted experience to `max_tokens`, with a note.

    The note names the whole experience. Heading, outcome, root cause and takeaway are kept before
    everything else, each of them cut to the same length if they do not fit whole. What worked, the
    surprise and the rest follow while there is room.

    Args:
        item: the experience, its content as it was formatted, in full or as a summary.
        style: the style that it was formatted in.
        max_tokens: the most tokens of the whole result, note included.
        count: counts a text's tokens.
        query: the query that selects the shown parts of a long field.

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
    """Return the essential lines that fit, the most important first."""
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
    """Cut lines to the greatest length at which all fit.

    The lines `beside` are kept whole. The result is empty where they do not fit at the shortest
    useful length.
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
