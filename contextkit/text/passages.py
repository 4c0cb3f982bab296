"""Extract the passages that are most relevant to a query.

A passage is a run of neighbouring paragraphs: the best match and those around it, under their
heading. There are at most two; `...` marks omissions. A paragraph's score is the sum of the
query's words in it, weighted by rarity, plus a part of its neighbours' scores. A fence, a table
or a short list is shown whole or not at all, and a line that ends with a colon stays with the
following block; only the code of the best match is cut where it is too long. If no paragraph fits,
sentences are used instead.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import accumulate

from attrs import define, field, frozen

from contextkit.text.derived import cached_by_length
from contextkit.text.keywords import embed_keywords, embed_keywords_query, related_to
from contextkit.text.languages.read import in_english
from contextkit.text.tokens import TokenCounter
from contextkit.text.truncation import ELLIPSIS, truncate
from contextkit.text.units import SHORT_BLOCK, TextUnit, text_units, unit_blocks

_MARKUP = re.compile(r"[\\\s]+")

_NEIGHBOUR = 0.6
"""The part of its score that a piece passes on to its neighbours, and they to theirs."""

_LEAD = 0.25
"""Bonus of the first sentence, relative to the best score: the rest often refers to it."""

_LEAST_WORTH = 0.05
"""Pieces with less than this part of the best score are left out."""

_SHORT_PROSE = 300
"""Maximum length of a line or paragraph that is not split, unless nothing fits."""

_PASSAGES = 2
"""Maximum number of passages; more would be fragments without context."""

_LEAST_CODE = 40
"""Minimum tokens of code that is cut."""

_TRIES_IN_VAIN = 5
_RETRIES = 8
_MOST_IN_A_ROW = 12
_COUNTED_TOGETHER = 32
"""Of at most so many units all are counted at once; of more, those that are considered."""

_MOST_CHARACTERS = 200_000
"""Only this much of a text is searched."""


class Excerpt(str):
    """A shortened text of self-contained parts."""

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
    """Select a query's most relevant sentences within a token limit.

    Args:
        text: Markdown, XML character data or plain text.
        query: the query; if none of its words is in the text, the first sentences are used.
        max_tokens: maximum tokens of the result, head and tail included.
        count: text -> tokens.
        head: text in front of the sentences, such as a label or an opening tag.
        tail: text after them.
        must_keep: texts that the result must contain.

    Returns:
        Whole sentences in their order; "" if none fits, or not all of `must_keep`.
    """
    is_block = not must_keep and _is_one_block(text)
    fits = not is_block or count(f"{head}{text}{tail}") <= max_tokens
    for longest in (_SHORT_PROSE, 0) if fits else (0,):
        reading = _read(text[:_MOST_CHARACTERS], query, longest)
        if short := _chosen(reading, max_tokens, count, head, tail, must_keep):
            return Excerpt(short)
    return Excerpt("")


def _is_one_block(text: str) -> bool:
    """Whether a text is shown whole or not at all, unless it is split into sentences."""
    return len(text) <= SHORT_BLOCK and "\n" not in text and text == text.strip()


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
    room = max_tokens - (count(f"{head}{tail}") if head or tail else 0)
    choice = _Choice(reading, count, reading.tokens_by(count))
    for _ in range(_RETRIES):
        choice.choose(kept, room)
        if not choice.chosen or not kept <= choice.chosen:
            break
        short = f"{head}{choice.text()}{tail}"
        over = count(short) - max_tokens
        if over <= 0:
            return short
        # The sum of the parts' tokens differs from the tokens of the whole.
        room = min(room, choice.spent) - over
    return ""


def keeps(text: str, must: str) -> bool:
    """Whether a text contains another, ignoring white space and escapes."""
    return _plain(must) in _plain(text)


def _plain(text: str) -> str:
    return _MARKUP.sub(" ", html.unescape(text).replace("\\", "")).casefold().strip()


@frozen
class _Reading:
    """A text's units and blocks, ranked for a query.

    Attributes:
        units: the text's units.
        blocks: runs of units that are shown or left out together, in order.
        best_first: the blocks worth showing, the best ones first.
        matches: the blocks among them that match by themselves.
        ranks: the position of each block in `best_first`.
        block_of: the block of each unit.
        tokens: the last counter, with the tokens of units that it has counted.
    """

    units: Sequence[TextUnit]
    blocks: Sequence[range]
    best_first: Sequence[int]
    matches: frozenset[int]
    ranks: Mapping[int, int] = field()
    block_of: Mapping[int, int] = field()
    tokens: list[tuple[Callable[[str], int], dict[int, int]]] = field(factory=list, init=False)

    @ranks.default
    def _ranked(self) -> Mapping[int, int]:
        return {block: rank for rank, block in enumerate(self.best_first)}

    @block_of.default
    def _blocks_of_units(self) -> Mapping[int, int]:
        return {unit: number for number, block in enumerate(self.blocks) for unit in block}

    def tokens_by(self, count: Callable[[str], int]) -> dict[int, int]:
        """Return the known tokens of units; those of a few units are counted together."""
        # A plugin's counter may be new for each context, and not hashable.
        if self.tokens and self.tokens[0][0] == count:
            return self.tokens[0][1]
        known: dict[int, int] = {}
        if len(self.units) <= _COUNTED_TOGETHER and isinstance(count, TokenCounter):
            known.update(enumerate(count.many([unit.before + unit.text for unit in self.units])))
        self.tokens[:] = [(count, known)]
        return known


@cached_by_length({2_000: 512, 10_000: 32})
def _parsed(
    text: str, longest: int
) -> tuple[Sequence[TextUnit], Sequence[range], Sequence[frozenset[int]]]:
    """Parse a text into units, blocks and word ids."""
    units = text_units(text, longest)
    blocks = unit_blocks(units, longest)
    if len(blocks) < 2:
        # There is nothing to choose by its words.
        return units, blocks, [frozenset()] * len(blocks)
    texts = ("\n".join(unit.text for unit in units[it.start : it.stop]) for it in blocks)
    return units, blocks, [frozenset(embed_keywords(text).indices) for text in texts]


@cached_by_length({10_000: 64, _MOST_CHARACTERS: 2})
def _read(text: str, query: str, longest: int) -> _Reading:
    units, blocks, words_of = _parsed(text, longest)
    asked = embed_keywords_query(in_english(query)).indices
    wanted = related_to(asked).union(asked)
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
    """Rank positions by score; without any score, in order."""
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
    """Add to each score a fading part of earlier ones."""
    return list(accumulate(own, lambda before, value: _NEIGHBOUR * before + value))


def _holders(units: Sequence[TextUnit], must_keep: Iterable[str]) -> set[int] | None:
    """The units that contain these texts."""
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
    """The units that are shown.

    Attributes:
        reading: the text's units.
        count: text -> tokens.
        tokens: the tokens of units that were counted.
        chosen: the positions of the chosen units.
        spent: approximately their tokens.
        passages: the number of runs that they form.
        units: all units of the text.
    """

    reading: _Reading
    count: Callable[[str], int]
    tokens: dict[int, int]
    chosen: set[int] = field(factory=set, init=False)
    spent: int = field(default=0, init=False)
    passages: int = field(default=0, init=False)
    units: Sequence[TextUnit] = field(init=False)
    _cut: dict[int, str] = field(factory=dict, init=False)
    _beside: list[tuple[int, int]] = field(factory=list, init=False)

    @units.default
    def _all_units(self) -> Sequence[TextUnit]:
        return self.reading.units

    def choose(self, kept: Iterable[int], room: int) -> None:
        """Choose required units, then the best blocks and their neighbours."""
        self.chosen, self.spent, self.passages, self._cut, self._beside = set(), 0, 0, {}, []
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
            best = place == self.reading.best_first[0]
            vain += not self._add(self.reading.blocks[place], room, may_cut=best)

    def _add(self, units: Sequence[int], room: int, *, may_cut: bool = False) -> bool:
        """Choose a block with its headings, if there is room."""
        wanted = {*units, *self._headings(units[0])} - self.chosen
        if not wanted:
            return True
        takes = sum([self._takes(place) for place in wanted])
        before, after = min(wanted) - 1, units[-1] + 1
        touching = (before in self.chosen) + (after in self.chosen)
        if not touching:
            takes += self.count(f"{ELLIPSIS}\n\n")
        if self.spent + takes > room:
            if not may_cut:
                return False
            takes -= self._cut_code(units[-1], self.spent + takes - room)
            if self.spent + takes > room:
                return False
        self.chosen |= wanted
        self.spent += takes
        self.passages += 1 - touching
        last = len(self.units) - 1
        while after < last and self.units[after].is_heading:
            after += 1
        for place in (before, after):
            block = self.reading.block_of.get(place, -1)
            if block in self.reading.ranks and place not in self.chosen:
                heappush(self._beside, (self.reading.ranks[block], block))
        return True

    def _cut_code(self, place: int, over: int) -> int:
        """Cut a unit that is code; return how many tokens that saves."""
        unit, whole = self.units[place], self._takes(place)
        if not unit.is_code or whole - over < _LEAST_CODE:
            return 0
        self._cut[place] = truncate(unit.text, whole - over, self.count)
        return whole - self.count(unit.before + self._cut[place])

    def _headings(self, place: int) -> Sequence[int]:
        """Return the headings above a unit or its block."""
        units = self.units
        if not place or not (units[place - 1].is_heading or units[place - 1].is_block):
            return ()
        block = place
        for _ in range(_MOST_IN_A_ROW):
            if not (block and units[block].is_indented and units[block - 1].is_indented):
                break
            block -= 1
        first = block
        while first > 0 and units[first - 1].is_heading:
            first -= 1
        return range(first, block)

    def _takes(self, place: int) -> int:
        if place not in self.tokens:
            self.tokens[place] = self.count(_joined(self.units, [place]))
        return self.tokens[place]

    def text(self) -> str:
        """Join the chosen units, with an ellipsis for each omission."""
        parts: list[str] = []
        last = -1
        for place in sorted(self.chosen):
            unit = self.units[place]
            if place > last + 1:
                parts.append(self._gap(last, place))
            elif parts:
                parts.append(unit.before)
            parts.append(self._cut.get(place, unit.text))
            last = place
        if self.chosen and last < len(self.units) - 1:
            ending = self.units[last]
            is_parted = self.units[last + 1].before.count("\n") > 1
            is_closed = ending.is_block or ending.is_heading or ending.is_list_item or is_parted
            parts.append(f"\n\n{ELLIPSIS}" if is_closed else f" {ELLIPSIS}")
        return "".join(parts)

    def _gap(self, last: int, place: int) -> str:
        """Return the text for omitted units between two positions."""
        unit = self.units[place]
        if last >= 0 and not (self.units[last].is_block or self.units[last].is_heading):
            skipped = self.units[last + 1 : place + 1]
            parted = any(between.before.count("\n") > 1 for between in skipped)
            is_paragraph = unit.is_block or unit.is_heading or parted
            # A unit that did not start a line must not start one now: it could become a list.
            line = "\n\n" if is_paragraph else "\n" if unit.starts_line else " "
            return f" {ELLIPSIS}{line}"
        before = "\n\n" if last >= 0 else ""
        return f"{before}{ELLIPSIS}" + ("\n\n" if unit.starts_line else " ")
