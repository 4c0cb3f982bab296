"""Excerpts: the passages of a text that have most to do with a query.

A passage is a run of paragraphs that follow each other: the one that matches best and those
around it, under their heading. There are two at most; `...` stands where something is left
out. A paragraph counts for the words of the query that it has, the rarer ones more, and in
part for those of its neighbours. A fence, a table or a short list is whole or left out, and a
line that ends with a colon stays with what it announces. Where no paragraph fits, sentences
take their place.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import accumulate

from attrs import define, field, frozen

from contextkit.text.keywords import embed_keywords, embed_keywords_query
from contextkit.text.languages.read import in_english
from contextkit.text.truncation import ELLIPSIS
from contextkit.text.units import TextUnit, text_units, unit_blocks

_MARKUP = re.compile(r"[\\\s]+")

_NEIGHBOUR = 0.6
"""The part of its worth that a piece gives to those beside it, and that on to the next."""

_LEAD = 0.25
"""What the first sentence counts, of the best one's worth: the rest is often about it."""

_LEAST_WORTH = 0.05
"""What has less than this part of the best one's worth is left out."""

_SHORT_PROSE = 300
"""Characters of a line or a wrapped paragraph that is one piece, unless nothing fits so."""

_PASSAGES = 2
"""More of them, each without what is around it, would be shreds."""

_TRIES_IN_VAIN = 5
_RETRIES = 8
_MOST_IN_A_ROW = 12
_MOST_CHARACTERS = 200_000
"""What is behind these is neither searched nor read here."""


class Excerpt(str):
    """A shortened text that can be understood by itself, not one that was cut off."""

    __slots__ = ()


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
    for longest in (_SHORT_PROSE, 0):
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
    choice = _Choice(reading, count)
    for _ in range(_RETRIES):
        choice.choose(kept, room)
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
    """A text's units, the blocks that they make, and which blocks a query needs first.

    Attributes:
        units: the text's units.
        blocks: runs of units that stay or go as one, in their order.
        best_first: the blocks that are worth showing, those of most worth first.
        matches: those of them that match by themselves.
        ranks: the place of each block in `best_first`.
        block_of: the block of each unit.
    """

    units: Sequence[TextUnit]
    blocks: Sequence[range]
    best_first: Sequence[int]
    matches: frozenset[int]
    ranks: Mapping[int, int] = field()
    block_of: Mapping[int, int] = field()

    @ranks.default
    def _ranked(self) -> Mapping[int, int]:
        return {block: rank for rank, block in enumerate(self.best_first)}

    @block_of.default
    def _blocks_of_units(self) -> Mapping[int, int]:
        return {unit: number for number, block in enumerate(self.blocks) for unit in block}


@lru_cache(maxsize=128)
def _parsed(
    text: str, longest: int
) -> tuple[Sequence[TextUnit], Sequence[range], Sequence[frozenset[int]]]:
    """A text's units, their blocks, and the words of each block as the search knows them."""
    units = text_units(text, longest)
    blocks = unit_blocks(units, longest)
    texts = ("\n".join(unit.text for unit in units[it.start : it.stop]) for it in blocks)
    return units, blocks, [frozenset(embed_keywords(text).indices) for text in texts]


@lru_cache(maxsize=64)
def _read(text: str, query: str, longest: int) -> _Reading:
    units, blocks, words_of = _parsed(text, longest)
    wanted = frozenset(embed_keywords_query(in_english(query)).indices)
    has = [wanted & words for words in words_of]
    found = Counter(word for words in has for word in words)
    rarity = {
        word: math.log(1 + (len(blocks) - number + 0.5) / (number + 0.5))
        for word, number in found.items()
    }
    own = [sum(rarity[word] for word in sorted(words)) for words in has]
    best_first = [place for place in _order(own) if not units[blocks[place][-1]].is_heading]
    matches = frozenset(place for place in best_first if own[place]) or frozenset(best_first[:1])
    return _Reading(units, blocks, best_first, matches)


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


def _holders(units: Sequence[TextUnit], must_keep: Iterable[str]) -> set[int] | None:
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


def _joined(units: Sequence[TextUnit], places: Iterable[int]) -> str:
    return "".join(units[place].before + units[place].text for place in places)


@define(eq=False)
class _Choice:
    """The units that stay.

    Attributes:
        reading: the text's units.
        count: text -> tokens.
        chosen: places of those that stay.
        spent: about what they take.
        passages: how many runs they make.
    """

    reading: _Reading
    count: Callable[[str], int]
    chosen: set[int] = field(factory=set, init=False)
    spent: int = field(default=0, init=False)
    passages: int = field(default=0, init=False)
    _beside: list[tuple[int, int]] = field(factory=list, init=False)
    _tokens: dict[int, int] = field(factory=dict, init=False)

    @property
    def units(self) -> Sequence[TextUnit]:
        """All units of the text."""
        return self.reading.units

    def choose(self, kept: Iterable[int], room: int) -> None:
        """Keep some units; then the best blocks, and those around them, while there is room."""
        self.chosen, self.spent, self.passages, self._beside = set(), 0, 0, []
        for place in sorted(kept):
            self._add([place], room)
        most = max(_PASSAGES, self.passages + 1) if self.chosen else _PASSAGES
        first, vain = iter(self.reading.best_first), 0
        seed = next(first, None)
        while vain < _TRIES_IN_VAIN:
            while seed is not None and self.reading.blocks[seed][0] in self.chosen:
                seed = next(first, None)
            opening = self._beside[:1]
            if seed is not None and seed in self.reading.matches and self.passages < most:
                opening.append((self.reading.ranks[seed], seed))
            if not opening:
                return
            place = min(opening)[1]
            if place == seed:
                seed = next(first, None)
            else:
                heappop(self._beside)
            vain += not self._add(self.reading.blocks[place], room)

    def _add(self, units: Sequence[int], room: int) -> bool:
        """Let a block stay, with the headings above it, where there is room for it."""
        wanted = {*units, *self._headings(units[0])} - self.chosen
        if not wanted:
            return True
        takes = sum(map(self._takes, wanted))
        before, after = min(wanted) - 1, units[-1] + 1
        touching = len({before, after} & self.chosen)
        if not touching:
            takes += self.count(f"{ELLIPSIS}\n\n")
        if self.spent + takes > room:
            return False
        self.chosen |= wanted
        self.spent += takes
        self.passages += 1 - touching
        while after < len(self.units) - 1 and self.units[after].is_heading:
            after += 1
        for place in (before, after):
            block = self.reading.block_of.get(place, -1)
            if block in self.reading.ranks and place not in self.chosen:
                heappush(self._beside, (self.reading.ranks[block], block))
        return True

    def _headings(self, place: int) -> Iterator[int]:
        """The headings above a unit, or above the indented blocks that it is one of."""
        first = place
        for _ in range(_MOST_IN_A_ROW):
            if not (first and self.units[first].is_indented and self.units[first - 1].is_indented):
                break
            first -= 1
        while first > 0 and self.units[first - 1].is_heading:
            first -= 1
            yield first

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
            is_parted = self.units[last + 1].before.count("\n") > 1
            is_closed = ending.is_block or ending.is_heading or ending.is_list_item or is_parted
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
