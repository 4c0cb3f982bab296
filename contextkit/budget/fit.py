"""Fitting items into the budget: shares, what is left over, and the rendered text.

What counts is the count of the rendered text, so the plan made from the parts is checked
against it and made again, tighter or wider, until it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from contextkit.budget.pieces import Count, Lane, Placed, Ranks, Shaper
from contextkit.budget.place import place
from contextkit.budget.shares import allotments, shares

_ATTEMPTS = 6
_SLACK = 50
"""A text that leaves no more than this part of its budget unused is not tried again."""

_MOST_WIDER = 8
_LEAST_WIDER = 32
"""The plan's room grows by one part of so many at most, as its parts count more than the text;
in a small budget by so many tokens."""

Render = Callable[[Mapping[str, Sequence[Placed]]], str]


@frozen(kw_only=True)
class Account:
    """A section's tokens: its share, what it used, gave away and took over.

    `fixed_share` is what its share would be by its own weight, whatever the question; None
    where that is so for every section. `evidence` and `why` are those of its lane.
    """

    share: int
    used: int
    given: int
    taken: int
    fixed_share: int | None = None
    evidence: float | None = None
    why: str = ""


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
        render: section -> what is placed of it, to the whole text; "" for nothing.
        count: tokens of a text.
    """
    return _Fitting(lanes, max_tokens, render, count).run()


def fit_all(lanes: Sequence[Lane], max_tokens: int, render: Render, count: Count) -> Fitted:
    """Place every piece whole, even beyond the budget: the soft limit.

    Each section takes pieces until its allotment is used up, the last of them whole, so the
    text may exceed the budget. What is left goes to sections without a share: their notes and
    good matches.
    """
    weights = {lane.key: lane.weight for lane in lanes}
    wanted = {lane.key: sum(piece.tokens for piece in lane.pieces) for lane in lanes}
    allotted = allotments(weights, wanted, max_tokens)
    placed: dict[str, list[Placed]] = {lane.key: [] for lane in lanes}
    spare = max_tokens - sum(allotted.values())
    for lane in lanes:
        if not lane.weight:
            allotted[lane.key] = min(wanted[lane.key], max(0, spare))
            spare -= allotted[lane.key]
        used = 0
        for piece in lane.pieces:
            if used >= allotted[lane.key]:
                break
            placed[lane.key].append(Placed(piece, piece.text, piece.tokens, truncated=False))
            used += piece.tokens
    fitting = _Fitting(lanes, max_tokens, render, count)
    return fitting.rendered(placed, max_tokens)


@define(eq=False)
class _Fitting:
    lanes: Sequence[Lane]
    max_tokens: int
    render: Render
    count: Count
    shape: Shaper = field(init=False)
    headings: dict[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.shape = Shaper(self.count)
        self.headings = {lane.key: self.count(f"{lane.heading}\n\n") for lane in self.lanes}

    def run(self) -> Fitted:
        showing = [lane for lane in self.lanes if lane.pieces]
        if not showing:
            return self.rendered({}, self.max_tokens)
        sharing = [lane for lane in showing if lane.weight or lane.first] or showing
        top = min(sharing, key=lambda lane: lane.pieces[0].candidate.order)
        best = self._best_attempt(showing)
        if best is not None and self._shows(best, top):
            return best
        # Nothing else may stand in for the best piece where that fits by itself.
        alone = self._alone(top)
        return alone if alone.text or best is None else best

    def _best_attempt(self, showing: Sequence[Lane]) -> Fitted | None:
        """The fullest of some attempts that hold the budget."""
        room = self.max_tokens - self._frame(showing[0])
        # What is left is not for shares to grow beyond what they are of the budget.
        widest = room + max(room // _MOST_WIDER, _LEAST_WIDER)
        ranks = Ranks.among(showing)
        best: Fitted | None = None
        too_much: int | None = None
        step = 0
        for _ in range(_ATTEMPTS):
            fitted = self._attempt(showing, room, ranks)
            slack = self.max_tokens - fitted.tokens
            if slack < 0:
                # The plan may be the same with a few tokens less: each step is a larger one.
                step = max(-slack, 2 * step)
                too_much, room = room, room - step
                continue
            if best is None or fitted.tokens > best.tokens:
                best = fitted
            wider = min(room + slack, widest if too_much is None else too_much - 1)
            if wider <= room or slack <= self.max_tokens // _SLACK or self._is_all(fitted):
                break
            room = wider
        return best

    @staticmethod
    def _shows(fitted: Fitted, lane: Lane) -> bool:
        return any(entry.piece is lane.pieces[0] for entry in fitted.placed.get(lane.key, ()))

    def _frame(self, lane: Lane) -> int:
        """Tokens of the text around the sections."""
        nothing = Placed(lane.pieces[0], "", 0, truncated=False)
        return self.count(self.render({lane.key: [nothing]})) - self.headings[lane.key]

    def _attempt(self, showing: Sequence[Lane], room: int, ranks: Ranks) -> Fitted:
        room = max(0, room)
        split = shares({lane.key: lane.weight for lane in self.lanes}, room)
        placed = place(showing, room, split, self.headings, self.shape, ranks)
        return self.rendered(placed, room)

    def rendered(self, placed: Mapping[str, Sequence[Placed]], room: int) -> Fitted:
        """The text of what was placed, and the books of the sections."""
        text = self.render({key: entries for key, entries in placed.items() if entries})
        return Fitted(placed, self._accounts(placed, room), text, self.count(text))

    def _accounts(self, placed: Mapping[str, Sequence[Placed]], room: int) -> dict[str, Account]:
        accounts = {}
        split = shares({lane.key: lane.weight for lane in self.lanes}, room)
        fixed: Mapping[str, int] = {}
        if any(lane.weight != lane.own_weight for lane in self.lanes):
            fixed = shares({lane.key: lane.own_weight for lane in self.lanes}, room)
        for lane in self.lanes:
            used = sum(entry.tokens for entry in placed.get(lane.key, ()))
            used += self.headings[lane.key] if used else 0
            share = split[lane.key]
            accounts[lane.key] = Account(
                share=share,
                used=used,
                given=max(0, share - used),
                taken=max(0, used - share),
                fixed_share=fixed.get(lane.key),
                evidence=lane.evidence,
                why=lane.why,
            )
        return accounts

    def _is_all(self, fitted: Fitted) -> bool:
        """Whether every piece is in the text, whole."""
        standing = [entry for entries in fitted.placed.values() for entry in entries]
        pieces = sum(len(lane.pieces) for lane in self.lanes)
        return len(standing) == pieces and not any(entry.truncated for entry in standing)

    def _alone(self, lane: Lane) -> Fitted:
        """A section's best piece by itself, as long as it may be; nothing where it never fits."""
        limit = self.max_tokens
        while (entry := self.shape(lane.pieces[0], limit)) is not None:
            fitted = self.rendered({lane.key: [entry]}, self.max_tokens)
            if fitted.tokens <= self.max_tokens:
                return fitted
            # One form after the other: what fits into a smaller budget must not be passed over.
            limit = min(limit, entry.tokens) - 1
        limit = self.max_tokens
        while text := lane.pieces[0].begin(limit):
            piece, tokens = lane.pieces[0], self.count(f"{text}\n\n")
            entry = Placed(piece, text, tokens, truncated=text != piece.text)
            fitted = self.rendered({lane.key: [entry]}, self.max_tokens)
            if fitted.tokens <= self.max_tokens:
                return fitted
            limit = min(limit, self.count(text)) - 1
        return self.rendered({}, self.max_tokens)
