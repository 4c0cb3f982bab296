"""Excerpts: a text's own sentences that have most to do with a query.

A sentence counts for the words of the query that it has, the rarer ones more, and in part for
those of its neighbours. Sentences stay in their order and keep their words; `...` stands where
some are left out. A fence or a table is whole or left out. A heading stays with what follows it.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from attrs import define, field, frozen

from contextkit.embedding.keywords import embed_keywords, embed_keywords_query
from contextkit.graphemes import is_boundary
from contextkit.models import Excerpt
from contextkit.text_blocks import TextBlocks
from contextkit.truncation import ELLIPSIS, SENTENCE_END

__all__ = ["excerpt", "keeps"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)\s*\S")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,}|(?:[-*_][ \t]*){3,}|([~^\"])\1{3,})\s*$")
_TILDES = re.compile(r"(?<=\n)~{4,}(?=\n)")
_ESCAPED = re.compile(r"\\.")
_CONTINUES = re.compile(r"\s*[a-z]")
_MARKUP = re.compile(r"[\\\s]+")

_NEIGHBOUR = 0.6
"""The part of its worth that a piece gives to those beside it, and that on to the next."""

_LEAD = 0.25
"""What the first sentence counts, of the best one's worth: the rest is often about it."""

_LEAST_WORTH = 0.05
"""What has less than this part of the best one's worth is left out."""

_SHORT_LINE = 300
"""Characters of a line that is one piece, unless nothing fits so."""

_TRIES_IN_VAIN = 5
_RETRIES = 8
_MOST_IN_A_ROW = 12
_MOST_CHARACTERS = 200_000
"""What is behind these is neither searched nor read here."""


def excerpt(
    text: str,
    query: str,
    max_tokens: int,
    count: Callable[[str], int],
    *,
    head: str = "",
    tail: str = "",
    must_keep: Sequence[str] = (),
) -> Excerpt:
    """The sentences of a text that have most to do with a query, within so many tokens.

    Args:
        text: Markdown, XML's character data or plain text.
        query: what the text is read for; where no word of it is in the text, the sentences
            at the beginning are kept.
        max_tokens: what the result may take, head and tail included.
        count: text -> tokens.
        head: what stands before the sentences, such as a label or an opening tag.
        tail: what stands behind them.
        must_keep: texts that the sentences have.

    Returns:
        Whole sentences in their order; "" where not one fits, or what must be kept does not.
    """
    for longest in (_SHORT_LINE, 0):
        reading = _read(text[:_MOST_CHARACTERS], query, longest)
        if short := _chosen(reading, max_tokens, count, head, tail, must_keep):
            return Excerpt(short)
    return Excerpt("")


def _chosen(
    reading: _Reading,
    max_tokens: int,
    count: Callable[[str], int],
    head: str,
    tail: str,
    must_keep: Sequence[str],
) -> str:
    kept = _holders(reading.units, must_keep)
    if kept is None:
        return ""
    room = max_tokens - count(f"{head}{tail}")
    choice = _Choice(reading.units, count)
    for _ in range(_RETRIES):
        choice.choose(kept, reading.best_first, room)
        if not choice.chosen or not kept <= choice.chosen:
            break
        short = f"{head}{choice.text()}{tail}"
        over = count(short) - max_tokens
        if over <= 0:
            return short
        # The tokens of the parts do not add up to those of the whole.
        room = min(room, choice.spent) - over
    return ""


def keeps(text: str, must: str) -> bool:
    """Whether a text has these words, whatever the white space and the escapes."""
    return _plain(must) in _plain(text)


def _plain(text: str) -> str:
    return _MARKUP.sub(" ", html.unescape(text).replace("\\", "")).casefold().strip()


@frozen
class _Reading:
    """A text's units, and the order in which a query needs them."""

    units: Sequence[_Unit]
    best_first: Sequence[int]


@lru_cache(maxsize=64)
def _read(text: str, query: str, longest: int) -> _Reading:
    units = _units(text, longest)
    wanted = frozenset(embed_keywords_query(query).indices)
    has = [wanted.intersection(embed_keywords(unit.text).indices) for unit in units]
    found = Counter(word for words in has for word in words)
    rarity = {
        word: math.log(1 + (len(units) - number + 0.5) / (number + 0.5))
        for word, number in found.items()
    }
    own = [sum(rarity[word] for word in sorted(words)) for words in has]
    return _Reading(units, [place for place in _order(own) if not units[place].is_heading])


def _order(own: Sequence[float]) -> Sequence[int]:
    """Places, those of most worth first; without any worth, from the beginning."""
    best = max(own, default=0.0)
    if not best:
        return range(len(own))
    own = [value + _LEAD * best / (1 + place) ** 2 for place, value in enumerate(own)]
    forth = _fading(own)
    back = _fading(own[::-1])[::-1]
    worth = [before + after - value for before, value, after in zip(forth, own, back, strict=True)]
    least = _LEAST_WORTH * max(worth)
    places = [place for place, value in enumerate(worth) if value >= least]
    return sorted(places, key=lambda place: (-worth[place], place))


def _fading(own: Sequence[float]) -> list[float]:
    """What each place has of its own and of those before it, less with each step."""
    return list(accumulate(own, lambda before, value: _NEIGHBOUR * before + value))


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


def _holders(units: Sequence[_Unit], must_keep: Iterable[str]) -> set[int] | None:
    """The units that have these words, each in one of them or in several in a row."""
    held: set[int] = set()
    for must in must_keep:
        rows = (
            range(first, first + size)
            for size in range(1, min(_MOST_IN_A_ROW, len(units)) + 1)
            for first in range(len(units) - size + 1)
        )
        row = next((it for it in rows if keeps(_joined(units, it), must)), None)
        if row is None:
            return None
        held.update(row)
    return held


def _joined(units: Sequence[_Unit], places: Iterable[int]) -> str:
    return "".join(units[place].before + units[place].text for place in places)


@define(eq=False)
class _Choice:
    """The units that stay.

    Attributes:
        units: all units of the text.
        count: text -> tokens.
        chosen: places of those that stay.
        spent: about what they take.
    """

    units: Sequence[_Unit]
    count: Callable[[str], int]
    chosen: set[int] = field(factory=set, init=False)
    spent: int = field(default=0, init=False)
    _tokens: dict[int, int] = field(factory=dict, init=False)

    def choose(self, kept: Iterable[int], best_first: Iterable[int], room: int) -> None:
        """Keep some units, and of the others the best that there is room for."""
        self.chosen, self.spent = set(), 0
        for place in sorted(kept):
            self._add(place, room)
        vain = 0
        for place in best_first:
            vain += not self._add(place, room)
            if vain >= _TRIES_IN_VAIN:
                return

    def _add(self, place: int, room: int) -> bool:
        """Let a unit stay, with the headings above it, where there is room for it."""
        first = place
        while first > 0 and self.units[first - 1].is_heading:
            first -= 1
        wanted = set(range(first, place + 1)) - self.chosen
        if not wanted:
            return True
        takes = sum(map(self._takes, wanted))
        if not {first - 1, place + 1} & self.chosen:
            takes += self.count(f"{ELLIPSIS}\n\n")
        if self.spent + takes > room:
            return False
        self.chosen |= wanted
        self.spent += takes
        return True

    def _takes(self, place: int) -> int:
        if place not in self._tokens:
            self._tokens[place] = self.count(_joined(self.units, [place]))
        return self._tokens[place]

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
            skipped = self.units[last + 1 : place + 1]
            parted = any(between.before.count("\n") > 1 for between in skipped)
            is_paragraph = unit.is_block or unit.is_heading or parted
            # What did not begin a line must not begin one now: it could be taken for a list.
            line = "\n\n" if is_paragraph else "\n" if unit.starts_line else " "
            return f" {ELLIPSIS}{line}"
        before = "\n\n" if last >= 0 else ""
        return f"{before}{ELLIPSIS}" + ("\n\n" if unit.starts_line else " ")


def _units(body: str, longest: int) -> list[_Unit]:
    blocks = TextBlocks(_TILDES.sub(_underlining, body))
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
            _underline(units, before + bare)
            before = _line_ends(line)
        else:
            units += _line_units(bare, before, blocks, position, longest)
            before = _line_ends(line)
        position += len(line)
    if block:
        units.append(_Unit(block.rstrip(), before, starts_line=True, is_block=True))
    return units


def _line_units(
    line: str, before: str, blocks: TextBlocks, position: int, longest: int
) -> Iterator[_Unit]:
    is_heading = _HEADING.match(line) is not None
    if is_heading or len(line) <= longest:
        yield _Unit(line, before, starts_line=True, is_heading=is_heading)
        return
    for number, sentence in enumerate(_sentences(line, blocks, position)):
        if number == 0:
            yield _Unit(sentence, before, starts_line=True)
        else:
            text = sentence.lstrip()
            yield _Unit(text, sentence[: len(sentence) - len(text)], starts_line=False)


def _underline(units: list[_Unit], underline: str) -> None:
    """Make a heading of what stands in the last line."""
    line = ""
    while True:
        unit = units.pop()
        if unit.starts_line:
            break
        line = f"{unit.before}{unit.text}{line}"
    text = f"{unit.text}{line}{underline}"
    units.append(_Unit(text, unit.before, starts_line=True, is_heading=True))


def _underlining(found: re.Match[str]) -> str:
    """Tildes below a line of their length: reStructuredText's heading, no fence."""
    start = found.string.rfind("\n", 0, found.start() - 1) + 1
    is_heading = found.start() - 1 - start == len(found[0])
    return "-" * len(found[0]) if is_heading else found[0]


def _line_ends(text: str) -> str:
    return text[len(text.rstrip()) :]


def _is_in_block(blocks: TextBlocks, line: str, start: int, end: int) -> bool:
    """Whether a line is of a fence, of a table or of indented code."""
    return (
        _INDENTED.match(line) is not None
        or blocks.is_row_end(end)
        or blocks.before_span(end) != end
        or blocks.is_in_fence(start)
    )


def _sentences(line: str, blocks: TextBlocks, start: int) -> Iterator[str]:
    """A line's sentences, each with the white space in front of it."""
    begin = read = 0
    marks = Counter[str]()
    for found in SENTENCE_END.finditer(line):
        end = found.end()
        marks.update(_marks(line[read:end], starts_line=not read))
        read = end
        if (
            end < len(line)
            and not _CONTINUES.match(line, end)
            and is_boundary(line, end)
            and blocks.before_span(start + end) == start + end
            and _is_balanced(marks)
        ):
            yield line[begin:end]
            begin = end
            marks.clear()
    yield line[begin:]


def _marks(text: str, *, starts_line: bool) -> Mapping[str, int]:
    """How often what opens or closes emphasis, code spans and brackets is in a text."""
    bare = _ESCAPED.sub("", text)
    if starts_line and bare.lstrip()[:2] == "* ":
        bare = bare.lstrip()[2:]
    strong = bare.count("**")
    emphasis = bare.count("*") - 2 * strong
    return {"**": strong, "*": emphasis} | {mark: bare.count(mark) for mark in "`[]()"}


def _is_balanced(marks: Mapping[str, int]) -> bool:
    return (
        not any(marks[mark] % 2 for mark in ("`", "*", "**"))
        and marks["["] == marks["]"]
        and marks["("] == marks[")"]
    )
