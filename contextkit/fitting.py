"""Fitting items into the budget: shares, caps, what is left over, and the rendered text.

What counts is the count of the rendered text, so the plan made from the parts is checked
against it and made again, tighter or wider, until it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from contextkit.budget import shares
from contextkit.ranking import Candidate

__all__ = ["Account", "Fitted", "Lane", "Piece", "Placed", "fit"]

ITEM_CAP = 0.25
"""The part of its section's share that one item may take (seed 1)."""

MIN_TRUNCATED_TOKENS = 12
"""Shorter than this a truncated item says nothing."""

_ATTEMPTS = 6

Count = Callable[[str], int]
Render = Callable[[Mapping[str, Sequence[str]]], str]


@frozen(eq=False)
class Piece:
    """A candidate's text, ready to be placed.

    Attributes:
        candidate: the candidate.
        text: its formatted text, whole.
        tokens: tokens of the text and the separator behind it.
        shorten: its text within so many tokens, its note included; "" where that says nothing.
    """

    candidate: Candidate
    text: str
    tokens: int
    shorten: Callable[[int], str]


@frozen(eq=False)
class Lane:
    """A section on its way through the budget: pieces best first, and their weight."""

    key: str
    weight: float
    heading: str
    pieces: Sequence[Piece]


@frozen(eq=False)
class Placed:
    """A piece in the text.

    Attributes:
        piece: the piece.
        text: as it stands in the text.
        tokens: what it was counted as.
        truncated: whether it was shortened.
    """

    piece: Piece
    text: str
    tokens: int
    truncated: bool


@frozen(kw_only=True)
class Account:
    """A section's tokens: its share by weight, what it used, gave away and took over."""

    share: int
    used: int
    given: int
    taken: int


@frozen(eq=False)
class Fitted:
    """What got in.

    Attributes:
        placed: section -> pieces in the order of the text.
        accounts: section -> its tokens.
        text: the rendered text.
        tokens: its count.
    """

    placed: Mapping[str, Sequence[Placed]]
    accounts: Mapping[str, Account]
    text: str
    tokens: int


def fit(lanes: Sequence[Lane], max_tokens: int, render: Render, count: Count) -> Fitted:
    """Choose and shorten pieces so that the rendered text holds the budget.

    Args:
        lanes: the sections that were asked, those without pieces too: their share is the others'.
        max_tokens: the budget of the rendered text, in tokens.
        render: section -> texts, to the whole text; "" for nothing.
        count: tokens of a text.
    """
    frame = count(render({lane.key: [""] for lane in lanes[:1]})) if lanes else 0
    room = max_tokens - frame
    best: Fitted | None = None
    for _ in range(_ATTEMPTS):
        fitted = _rendered(_Plan(lanes, max(0, room), count).run(), render, count)
        if fitted.tokens <= max_tokens and (best is None or fitted.tokens >= best.tokens):
            best = fitted
        slack = max_tokens - fitted.tokens
        if 0 <= slack <= max_tokens // 50 or room <= 0 or not any(fitted.placed.values()):
            break
        room += slack if slack < 0 else slack // 2
    return best or _without_the_weakest(fitted, max_tokens, render, count)


def fit_all(lanes: Sequence[Lane], max_tokens: int, render: Render, count: Count) -> Fitted:
    """Place every piece whole, whatever that takes: seed 1's soft limit.

    The seed selects within the shares and then exceeds rather than cuts, so each section
    takes pieces until its share is used up, the last of them whole.
    """
    split = shares({lane.key: lane.weight for lane in lanes}, max_tokens)
    placed: dict[str, list[Placed]] = {lane.key: [] for lane in lanes}
    for lane in lanes:
        used = 0
        for piece in lane.pieces:
            if used >= split[lane.key]:
                break
            placed[lane.key].append(Placed(piece, piece.text, piece.tokens, truncated=False))
            used += piece.tokens
    return _rendered((placed, _accounts(split, placed)), render, count)


def _without_the_weakest(fitted: Fitted, max_tokens: int, render: Render, count: Count) -> Fitted:
    """Drop the weakest pieces one by one until the text holds the budget."""
    while fitted.tokens > max_tokens:
        standing = [(key, entry) for key, entries in fitted.placed.items() for entry in entries]
        weakest_key, weakest = max(standing, key=lambda pair: pair[1].piece.candidate.order)
        remaining = [entry for entry in fitted.placed[weakest_key] if entry is not weakest]
        placed = {**fitted.placed, weakest_key: remaining}
        fitted = _rendered((placed, fitted.accounts), render, count)
    return fitted


def _rendered(
    plan: tuple[Mapping[str, Sequence[Placed]], Mapping[str, Account]],
    render: Render,
    count: Count,
) -> Fitted:
    placed, accounts = plan
    texts = {key: [entry.text for entry in entries] for key, entries in placed.items() if entries}
    text = render(texts)
    return Fitted(placed, accounts, text, count(text))


def _accounts(
    split: Mapping[str, int],
    placed: Mapping[str, Sequence[Placed]],
    headings: Mapping[str, int] | None = None,
) -> dict[str, Account]:
    accounts = {}
    for key, share in split.items():
        heading = (headings or {}).get(key, 0) if placed[key] else 0
        used = heading + sum(entry.tokens for entry in placed[key])
        accounts[key] = Account(
            share=share, used=used, given=max(0, share - used), taken=max(0, used - share)
        )
    return accounts


@define(eq=False)
class _Plan:
    """One attempt: which pieces, how long, within `room` tokens of item and heading text."""

    lanes: Sequence[Lane]
    room: int
    count: Count
    _placed: dict[str, list[Placed]] = field(init=False)
    _waiting: dict[str, list[Piece]] = field(init=False)
    _headings: dict[str, int] = field(init=False)
    _lane: dict[str, Lane] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._lane = {lane.key: lane for lane in self.lanes}
        self._placed = {lane.key: [] for lane in self.lanes}
        self._waiting = {lane.key: list(lane.pieces) for lane in self.lanes}
        self._headings = {lane.key: self.count(f"{lane.heading}\n\n") for lane in self.lanes}

    def run(self) -> tuple[Mapping[str, Sequence[Placed]], Mapping[str, Account]]:
        split = shares({lane.key: lane.weight for lane in self.lanes}, self.room)
        pool = self.room - sum(self._fill(key, share, share) for key, share in split.items())
        pool = self._redistribute(split, pool)
        pool = self._place_best_waiting(pool)
        self._grow_back(pool)
        placed = {
            key: sorted(entries, key=lambda entry: entry.piece.candidate.order)
            for key, entries in self._placed.items()
        }
        return placed, _accounts(split, placed, self._headings)

    def _fill(self, key: str, room: int, share: int) -> int:
        """Place waiting pieces of a section while they fit; return the tokens they took."""
        cap = max(int(share * ITEM_CAP), MIN_TRUNCATED_TOKENS)
        heading = 0 if self._placed[key] else self._headings[key]
        left, still_waiting = room - heading, []
        for piece in self._waiting[key]:
            entry = self._shaped(piece, min(cap, left))
            if entry is None:
                still_waiting.append(piece)
            else:
                self._placed[key].append(entry)
                left -= entry.tokens
        self._waiting[key] = still_waiting
        return room - left if self._placed[key] and left < room - heading else 0

    def _shaped(self, piece: Piece, limit: int) -> Placed | None:
        """A piece within `limit` tokens: whole, shortened, or None."""
        if piece.tokens <= limit:
            return Placed(piece, piece.text, piece.tokens, truncated=False)
        if limit < MIN_TRUNCATED_TOKENS:
            return None
        text = piece.shorten(limit - 1)
        tokens = self.count(f"{text}\n\n") if text else 0
        if not text or tokens > limit:
            return None
        return Placed(piece, text, tokens, truncated=True)

    def _redistribute(self, split: Mapping[str, int], pool: int) -> int:
        """Give what sections left over to those with more to show, until nothing fits."""
        grown = dict(split)
        while pool > 0:
            hungry = {
                key: self._lane[key].weight for key, waiting in self._waiting.items() if waiting
            }
            taken = 0
            for key, extra in shares(hungry, pool).items():
                grown[key] += extra
                taken += self._fill(key, extra, grown[key])
            if not taken:
                break
            pool -= taken
        return pool

    def _place_best_waiting(self, pool: int) -> int:
        """Offer the whole rest to single pieces, best first; sections without any go first."""
        waiting = sorted(
            (
                (bool(self._placed[key]), piece.candidate.order, key, piece)
                for key, pieces in self._waiting.items()
                for piece in pieces
            ),
            key=lambda entry: entry[:3],
        )
        others = {key for _, _, key, _ in waiting}
        for _, _, key, piece in waiting:
            heading = 0 if self._placed[key] else self._headings[key]
            alone = not any(self._placed.values()) and len(others) > 1
            # The first of several sections leaves room for a second (seed 5: two at least).
            limit = pool - heading if not alone else (pool * 3) // 5 - heading
            entry = self._shaped(piece, limit)
            if entry is None and alone:
                entry = self._shaped(piece, pool - heading)
            if entry is not None:
                self._placed[key].append(entry)
                pool -= heading + entry.tokens
        return pool

    def _grow_back(self, pool: int) -> None:
        """Let shortened items have the tokens that are left, best first."""
        shortened = sorted(
            (
                (entry.piece.candidate.order, key, position)
                for key, entries in self._placed.items()
                for position, entry in enumerate(entries)
                if entry.truncated
            ),
        )
        for _, key, position in shortened:
            entry = self._placed[key][position]
            grown = self._shaped(entry.piece, entry.tokens + pool)
            if grown is not None and grown.tokens > entry.tokens:
                self._placed[key][position] = grown
                pool -= grown.tokens - entry.tokens
