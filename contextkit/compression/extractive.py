"""The default summary: an item's own sentences, those that have most to do with the query.

A sentence counts for the words of the query that it has, the rarer ones more, and for its
place: what is said first is often what the rest is about. Sentences stay in their order and
keep their words; `...` stands where some were left out. A fence and a table stay whole or go
whole, a heading stays with what follows it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Self

from attrs import define, field, frozen

from contextkit.compression.parts import keeps
from contextkit.graphemes import is_boundary
from contextkit.text_blocks import TextBlocks
from contextkit.truncation import ELLIPSIS, SENTENCE_END

__all__ = ["Rarity", "extract"]

_WORD = re.compile(r"\w+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# Chinese and Japanese have no spaces: two characters at a time stand for words.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)\s*\S")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,}|(?:[-*_][ \t]*){3,})\s*$")
_ESCAPED = re.compile(r"\\.")
_CONTINUES = re.compile(r"\s*[a-z]")
_LEAD = 0.25
_MOST_IN_A_ROW = 12
_MOST_CHARACTERS = 40_000
"""A longer text is not read: it is shortened as without compression."""


def words_of(text: str) -> set[str]:
    """The different words of a text, whatever their case."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            found.update(word[n : n + 2] for n in range(max(1, len(word) - 1)))
        else:
            found.add(word)
    return found


@frozen
class Rarity:
    """What each word of a query counts: much where few of the texts have it.

    Attributes:
        of: word -> what it counts; together 1.
    """

    of: Mapping[str, float]

    @classmethod
    def among(cls, query: str, texts: Collection[str]) -> Self:
        """The words of a query among the texts that were found for it."""
        wanted = words_of(query)
        found = Counter(word for text in texts for word in words_of(text) & wanted)
        rarity = {
            word: math.log(1 + (len(texts) - found[word] + 0.5) / (found[word] + 0.5))
            for word in sorted(wanted)
            if found[word]
        }
        whole = sum(rarity.values())
        return cls({word: value / whole for word, value in rarity.items()})


@frozen
class _Unit:
    """What stays or goes as one.

    Attributes:
        text: as it stands, white space around it left out.
        before: the white space in front of it.
        starts_line: whether it begins a line.
        is_block: whether it is a fence or a table.
        is_heading: whether it says nothing by itself.
    """

    text: str
    before: str
    starts_line: bool
    is_block: bool = False
    is_heading: bool = False


def extract(
    body: str,
    rarity: Rarity,
    max_tokens: int,
    count: Callable[[str], int],
    must_keep: Sequence[str] = (),
) -> str | None:
    """Some of a text's sentences, in their order, within so many tokens.

    Args:
        body: the text, Markdown, XML's character data or plain.
        rarity: the query's words and what they count.
        max_tokens: what the result may take.
        count: text -> tokens.
        must_keep: texts that the result has.

    Returns:
        The sentences; None where not one fits, or what must be kept does not.
    """
    if len(body) > _MOST_CHARACTERS:
        return None
    units = _units(body)
    choice = _Choice(units, max_tokens, count)
    for must in must_keep:
        if not keeps(choice.text(), must) and not choice.add_holders(must):
            return None
    for place in _best_first(units, rarity):
        choice.add(place)
    text = choice.text()
    if not choice.chosen or len(choice.chosen) == len(units):
        return None
    return text if all(keeps(text, must) for must in must_keep) else None


def _best_first(units: Sequence[_Unit], rarity: Rarity) -> list[int]:
    def worth(place: int) -> float:
        has = words_of(units[place].text)
        return sum(value for w, value in rarity.of.items() if w in has) + _LEAD / (1 + place)

    places = [place for place, unit in enumerate(units) if not unit.is_heading]
    return sorted(places, key=lambda place: (-worth(place), place))


@define(eq=False)
class _Choice:
    """The units that stay, so far."""

    units: Sequence[_Unit]
    max_tokens: int
    count: Callable[[str], int]
    chosen: set[int] = field(factory=set)

    def add(self, place: int) -> bool:
        """Let a unit stay, with the heading above it, where there is room for it."""
        if place in self.chosen:
            return True
        wanted = {place}
        while place > 0 and self.units[place - 1].is_heading:
            place -= 1
            wanted.add(place)
        before = self.chosen
        self.chosen = before | wanted
        if self.count(self.text()) > self.max_tokens:
            self.chosen = before
            return False
        return True

    def add_holders(self, must: str) -> bool:
        """Let the units stay that have these words: one of them, or several in a row."""
        for size in range(1, min(_MOST_IN_A_ROW, len(self.units)) + 1):
            for first in range(len(self.units) - size + 1):
                if keeps(
                    "".join(u.before + u.text for u in self.units[first : first + size]), must
                ):
                    return all(self.add(place) for place in range(first, first + size))
        return False

    def text(self) -> str:
        """What stays, with an ellipsis wherever something is left out."""
        parts: list[str] = []
        last = -1
        for place in sorted(self.chosen):
            unit = self.units[place]
            if place > last + 1:
                parts.append(self._gap(last, place))
            elif parts:
                parts.append(unit.before)
            parts.append(unit.text)
            last = place
        if self.chosen and last < len(self.units) - 1:
            ending = self.units[last]
            is_closed = ending.is_block or ending.is_heading
            parts.append(f"\n\n{ELLIPSIS}" if is_closed else f" {ELLIPSIS}")
        return "".join(parts)

    def _gap(self, last: int, place: int) -> str:
        """What stands where units between these two were left out."""
        unit = self.units[place]
        if last >= 0 and not (self.units[last].is_block or self.units[last].is_heading):
            skipped = "".join(between.before for between in self.units[last + 1 : place + 1])
            is_paragraph = unit.is_block or unit.is_heading or skipped.count("\n") > 1
            # What did not begin a line must not begin one now: it could be taken for a list.
            line = "\n\n" if is_paragraph else "\n" if unit.starts_line else " "
            return f" {ELLIPSIS}{line}"
        before = "\n\n" if last >= 0 else ""
        return f"{before}{ELLIPSIS}" + ("\n\n" if unit.starts_line else " ")


def _units(body: str) -> list[_Unit]:
    blocks = TextBlocks(body)
    units: list[_Unit] = []
    before, block = "", ""
    position = 0
    for line in _LINE.findall(body):
        bare = line.rstrip()
        is_block = _is_in_block(blocks, line, position, position + len(line.rstrip("\r\n")))
        if block and not is_block:
            units.append(_Unit(block.rstrip(), before, starts_line=True, is_block=True))
            before, block = _line_ends(block), ""
        if is_block:
            block += line
        elif not bare:
            before += line
        elif _UNDERLINE.match(bare) and units and before.count("\n") == 1:
            units = _underlined(units, before + bare)
            before = _line_ends(line)
        else:
            units += _line_units(bare, before, blocks, position)
            before = _line_ends(line)
        position += len(line)
    if block:
        units.append(_Unit(block.rstrip(), before, starts_line=True, is_block=True))
    return units


def _line_units(line: str, before: str, blocks: TextBlocks, position: int) -> Iterator[_Unit]:
    if _HEADING.match(line):
        yield _Unit(line, before, starts_line=True, is_heading=True)
        return
    for number, sentence in enumerate(_sentences(line, blocks, position)):
        if number == 0:
            yield _Unit(sentence, before, starts_line=True)
        else:
            text = sentence.lstrip()
            yield _Unit(text, sentence[: len(sentence) - len(text)], starts_line=False)


def _underlined(units: Sequence[_Unit], underline: str) -> list[_Unit]:
    """The same with what stands in the last line, underlined, as a heading."""
    first = max(place for place, unit in enumerate(units) if unit.starts_line)
    line = units[first].text + "".join(unit.before + unit.text for unit in units[first + 1 :])
    heading = _Unit(line + underline, units[first].before, starts_line=True, is_heading=True)
    return [*units[:first], heading]


def _line_ends(text: str) -> str:
    return text[len(text.rstrip()) :]


def _is_in_block(blocks: TextBlocks, line: str, start: int, end: int) -> bool:
    """Whether a line is of a fence, of a table or of indented code."""
    return (
        _INDENTED.match(line) is not None
        or blocks.is_row_end(end)
        or blocks.before_span(end) != end
        or any(fence.start <= start <= fence.end for fence in blocks.fences)
    )


def _sentences(line: str, blocks: TextBlocks, start: int) -> Iterator[str]:
    """A line's sentences, each with the white space in front of it."""
    begin = 0
    for found in SENTENCE_END.finditer(line):
        end = found.end()
        if (
            end < len(line)
            and not _CONTINUES.match(line, end)
            and is_boundary(line, end)
            and blocks.before_span(start + end) == start + end
            and _is_balanced(line[begin:end])
        ):
            yield line[begin:end]
            begin = end
    yield line[begin:]


def _is_balanced(text: str) -> bool:
    """Whether emphasis, code spans and brackets that begin in a text end in it."""
    bare = _ESCAPED.sub("", text)
    marks = bare[2:] if bare.lstrip()[:2] == "* " else bare
    return (
        bare.count("`") % 2 == 0
        and marks.count("**") % 2 == 0
        and marks.replace("**", "").count("*") % 2 == 0
        and bare.count("[") == bare.count("]")
        and bare.count("(") == bare.count(")")
    )
