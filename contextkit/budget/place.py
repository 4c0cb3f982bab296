"""Place pieces within a number of tokens, before rendering.

The steps, each with the tokens that the previous ones left:

1. Matching notes are placed whole: they are short, and written to be read.
2. Every section is opened with its best piece, the section with the best piece of all first, so
   that even a small budget shows two sources. That piece may take half of its section's room.
3. Sections are filled up to their allotment: their share by weight, plus what others do not use.
   One item may take a quarter of it.
4. Waiting pieces are placed at that length, best first, until none fits.
5. Shortened pieces grow again, best first.
6. One waiting piece is shortened to the remaining tokens.
7. Pieces that match well are placed even if their section has no room left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from attrs import define, field

from contextkit.budget.pieces import SHORTEST, Lane, Piece, Placed, Ranks, Shaper
from contextkit.budget.shares import allotments

ITEM_CAP = Fraction(1, 4)
"""The share of its section's allotment that one item may take."""

READABLE_TOKENS = 128
"""No item is capped below this if its section has room: a quarter of a small share would be an
unreadable fragment. With 1,000 tokens, giving the best items of three sections 128 tokens makes
.645 of the answers readable instead of .577 (`mixed` of the benchmarks)."""

BEST_PART = Fraction(1, 2)
"""The share of its section's allotment that the best item may take."""

NOTES_PART = Fraction(2, 5)
"""The share of the budget that notes may take before it is split."""

_SPARE_PART = Fraction(1, 8)
"""A smaller remaining share of the budget counts as none."""

_ANSWERS_PART = 0.7
"""Items with this share of the best score precede lower ones, whatever their files."""

_LEAST_OPENING = 24
"""Minimum tokens of a section's first item; less is little more than the note."""

_LEAST_GROWTH = 12
"""Tokens left for which a shortened item is shortened anew; one in ten grows by fewer."""

_SOURCES_AT_LEAST = 2
_TRIES_IN_VAIN = 5


def place(
    lanes: Sequence[Lane],
    room: int,
    shares: Mapping[str, int],
    headings: Mapping[str, int],
    shape: Shaper,
    ranks: Ranks,
) -> dict[str, list[Placed]]:
    """Choose and shorten pieces to fit into `room` tokens.

    Args:
        lanes: the sections that have pieces.
        room: the number of tokens.
        shares: each section's share by weight.
        headings: the tokens of each section's heading.
        shape: makes pieces fit.
        ranks: the order of the lanes' pieces.

    Returns:
        Section -> its placed pieces, best first; empty for a section without room.
    """
    plan = _Plan(lanes, room, headings, shape, ranks)
    plan.place_notes()
    plan.split(shares)
    plan.open_sections()
    plan.fill_sections()
    plan.place_waiting()
    plan.grow_back()
    plan.shorten_waiting()
    plan.place_good()
    return {key: _in_reading_order(entries, plan.rank_of) for key, entries in plan.placed.items()}


def _in_reading_order(entries: Sequence[Placed], rank_of: Callable[[Placed], int]) -> list[Placed]:
    """Order answers before the rest.

    In each part, group the items by file.
    """
    best_first = sorted(entries, key=rank_of)
    if not best_first:
        return []
    least = _ANSWERS_PART * _score_of(best_first[0])
    answers = [entry for entry in best_first if _score_of(entry) >= least]
    others = [entry for entry in best_first if _score_of(entry) < least]
    return [*_by_file(answers), *_by_file(others)]


def _by_file(best_first: Sequence[Placed]) -> list[Placed]:
    """Group entries by file: best file first.

    In each file the best entry comes first, with other parts of its section in their order, then
    the others by line.
    """
    files: dict[str, list[Placed]] = {}
    for entry in best_first:
        files.setdefault(_place_of(entry)[0], []).append(entry)
    made: list[Placed] = []
    for entries in files.values():
        title = _title_of(entries[0])
        made += sorted(entries, key=lambda entry: (_title_of(entry) != title, _place_of(entry)[1]))
    return made


def _score_of(entry: Placed) -> float:
    return entry.piece.candidate.scores.rank_by


def _title_of(entry: Placed) -> str:
    """The title of an item, which the parts of a long section share; an id for one without."""
    item = entry.piece.candidate.item
    return item.title or item.id


def _place_of(entry: Placed) -> tuple[str, int]:
    """The file and line of an item.

    Without a location, return its id and 0.
    """
    item = entry.piece.candidate.item
    file, _, line = (item.location or "").rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (f"{item.source} {item.id}", 0)


@define(eq=False)
class _Plan:
    lanes: Sequence[Lane]
    room: int
    headings: Mapping[str, int]
    shape: Shaper
    ranks: Ranks
    placed: dict[str, list[Placed]] = field(init=False)
    left: int = field(init=False)
    _taken: set[int] = field(factory=set, init=False)
    _notes: dict[str, int] = field(init=False)
    _caps: dict[str, int] = field(init=False)
    _allotted: dict[str, int] = field(init=False)
    _wanted: dict[str, int] = field(init=False)
    _weights: dict[str, float] = field(init=False)
    _bounds: dict[str, int] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.left = self.room
        self.placed = {lane.key: [] for lane in self.lanes}
        self._notes = dict.fromkeys(self.placed, 0)

    def place_notes(self) -> None:
        """Place matching notes, best first, whole where they fit."""
        first = {id(piece) for lane in self.lanes for piece in lane.pieces[: lane.first]}
        most = int(self.room * NOTES_PART)
        for key, piece in self.ranks.best_first:
            if id(piece) not in first:
                continue
            before = self.left
            entry = self.shape(piece, most - (self.room - before) - self._heading(key))
            if entry is not None:
                self._put(key, entry)
                self._notes[key] += before - self.left

    def split(self, shares: Mapping[str, int]) -> None:
        """Allot the remaining tokens to sections with waiting pieces."""
        self.room = self.left
        self._weights = {
            lane.key: lane.weight for lane in self.lanes if lane.weight and self._waiting(lane)
        }
        whole = dict.fromkeys(self._weights, self.room)
        allotted = allotments(self._weights, self._wants(whole), self.room)
        self._caps = {}
        for key, given in allotted.items():
            own = max(min(shares[key], self.room), given)
            self._caps[key] = max(int(own * ITEM_CAP), min(own, READABLE_TOKENS))
        self._wanted = self._wants(self._caps)
        self._bounds = {
            lane.key: min(shares[lane.key], self.room) for lane in self.lanes if lane.bounded
        }
        for key, most in self._bounds.items():
            if key in self._wanted:
                self._wanted[key] = min(self._wanted[key], most)
        self._allotted = allotments(self._weights, self._wanted, self.room)

    def _waiting(self, lane: Lane) -> list[Piece]:
        return [piece for piece in lane.pieces if id(piece) not in self._taken]

    def _wants(self, caps: Mapping[str, int]) -> dict[str, int]:
        """Tokens that each section would use with capped items."""
        return {
            lane.key: self._heading(lane.key)
            + sum([min(piece.tokens, caps[lane.key]) for piece in self._waiting(lane)])
            for lane in self.lanes
            if lane.key in caps
        }

    def rank_of(self, entry: Placed) -> int:
        return self.ranks.of[id(entry.piece)]

    # -- the steps ------------------------------------------------------------------------

    def open_sections(self) -> None:
        """Place the first piece of each section, best sections first."""
        closed = [
            lane for lane in self.lanes if lane.key in self._caps and not self.placed[lane.key]
        ]
        best_first = sorted(closed, key=lambda lane: self.ranks.of[id(lane.pieces[0])])
        for lane in best_first:
            found = next((f for f in self._openings(lane, len(best_first)) if f), None)
            if found is not None:
                self._put(lane.key, found)

    def _openings(self, lane: Lane, sections: int) -> Iterator[Placed | None]:
        """Ways to open a section: its best piece, capped first.

        After it come other pieces, whole.
        """
        key, room = lane.key, self.left - self.headings[lane.key]
        opened = sum(1 for entries in self.placed.values() if entries)
        allotted = min(self._allotted[key] - self.headings[key], room)
        within = min(max(self._caps[key], int(allotted * BEST_PART)), allotted)
        limits = [within, allotted]
        if not opened and sections > 1:
            # The first of several sections leaves room for a second one.
            readable = max(self.left // 2 - self.headings[key], _LEAST_OPENING)
            limits = [min(within, readable), readable]
        if opened < _SOURCES_AT_LEAST:
            limits.append(room)
        for limit in limits:
            yield self.shape(lane.pieces[0], limit)
        for piece in lane.pieces[1:]:
            if piece.tokens <= limits[0]:
                yield self.shape(piece, piece.tokens)

    def fill_sections(self) -> None:
        """Let the open sections use their allotments."""
        targets = self._targets()
        for lane in self.lanes:
            if lane.key in targets:
                self._fill(lane, targets[lane.key] - self._used(lane.key))

    def _targets(self) -> dict[str, int]:
        """Tokens that open sections may use, by weight."""
        fixed: dict[str, int] = {}
        while True:
            rest = {
                key: weight
                for key, weight in self._weights.items()
                if self.placed[key] and key not in fixed
            }
            given = allotments(rest, self._wanted, self.room - sum(fixed.values()))
            over = {key: self._used(key) for key in rest if self._used(key) > given[key]}
            if not over:
                return {**fixed, **given}
            fixed.update(over)

    def _fill(self, lane: Lane, room: int) -> None:
        cap, vain = self._caps[lane.key], 0
        for piece in lane.pieces:
            if id(piece) in self._taken:
                continue
            length = min(piece.tokens, cap, room)
            short = length < piece.tokens
            if short and (length < min(cap, READABLE_TOKENS) or vain >= _TRIES_IN_VAIN):
                continue
            entry = self.shape(piece, length)
            if entry is None:
                vain += 1
            else:
                self._put(lane.key, entry)
                room -= entry.tokens

    def place_waiting(self) -> None:
        """Place waiting pieces that fit, those of empty sections first."""
        vain = 0
        for key, piece in self._waiting_best_first():
            length = min(piece.tokens, self._caps[key])
            fits = length <= self._room_in(key)
            if fits and (length == piece.tokens or vain < _TRIES_IN_VAIN):
                entry = self.shape(piece, length)
                if entry is None:
                    vain += 1
                else:
                    self._put(key, entry)

    def grow_back(self) -> None:
        """Let shortened pieces use the remaining tokens, best first."""
        vain = 0
        shortened = [
            (self.rank_of(entry), key, position)
            for key, entries in self.placed.items()
            for position, entry in enumerate(entries)
            if entry.truncated
        ]
        for _, key, position in sorted(shortened):
            if self.left < _LEAST_GROWTH or vain >= _TRIES_IN_VAIN:
                return
            entry = self.placed[key][position]
            grown = self.shape(entry.piece, entry.tokens + max(0, self._room_in(key)))
            if grown is not None and grown.tokens > entry.tokens:
                self.placed[key][position] = grown
                self.left -= grown.tokens - entry.tokens
            else:
                vain += 1

    def shorten_waiting(self) -> None:
        """Shorten waiting pieces to the remaining tokens, best first."""
        vain = 0
        for key, piece in self._waiting_best_first():
            if self.left < SHORTEST or vain >= _TRIES_IN_VAIN:
                return
            entry = self.shape(piece, self._room_in(key))
            if entry is None:
                vain += 1
            else:
                self._put(key, entry)

    def place_good(self) -> None:
        """Place good matches into the remaining room, whatever their section."""
        if self.left < self.room * _SPARE_PART:
            # Little room is left; a wider plan gives it to better answers.
            return
        good = frozenset[int]().union(*(lane.good for lane in self.lanes))
        for key, piece in self.ranks.best_first:
            if id(piece) not in good or id(piece) in self._taken:
                continue
            cap = max(int(self.room * ITEM_CAP), READABLE_TOKENS)
            entry = self.shape(piece, min(piece.tokens, cap, self.left - self._heading(key)))
            if entry is not None:
                self._put(key, entry)

    # -- the books ------------------------------------------------------------------------

    def _waiting_best_first(self) -> list[tuple[str, Piece]]:
        waiting = [
            (key, piece)
            for key, piece in self.ranks.best_first
            if key in self._caps and id(piece) not in self._taken
        ]
        # The sort is stable, so the ranks are preserved.
        return sorted(waiting, key=lambda entry: bool(self.placed[entry[0]]))

    def _room_in(self, key: str) -> int:
        """Tokens that a section's pieces may still take."""
        room = self.left
        if key in self._bounds:
            room = min(room, self._bounds[key] - self._used(key))
        return room - self._heading(key)

    def _heading(self, key: str) -> int:
        return 0 if self.placed[key] else self.headings[key]

    def _used(self, key: str) -> int:
        used = sum(entry.tokens for entry in self.placed[key])
        return used + self.headings[key] - self._notes[key] if used else 0

    def _put(self, key: str, entry: Placed) -> None:
        self.left -= self._heading(key) + entry.tokens
        self.placed[key].append(entry)
        self._taken.add(id(entry.piece))
