"""Fit items into the budget, and check the rendered text.

The budget limits the tokens of the rendered text. A plan adds up the tokens of its parts, so its
text is rendered and counted, and the plan is repeated with less or more room until it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from contextkit.budget.pieces import Count, Lane, Placed, Ranks, Shaper
from contextkit.budget.place import place
from contextkit.budget.shares import allotments, shares

_ATTEMPTS = 6
_SLACK = 50
"""A text that leaves at most this fraction (1/50) of its budget unused is accepted."""

_MOST_WIDER = 8
_LEAST_WIDER = 32
"""A plan's room may exceed the budget by this fraction (1/8), or in a small budget by this many
tokens, because the parts count for more tokens than the whole text."""

Render = Callable[[Mapping[str, Sequence[Placed]]], str]


@frozen(kw_only=True)
class Account:
    """A section's tokens: share, used, given and taken.

    `fixed_share` is the share by its own weight, independent of the question; None if that
    holds for every section. `evidence` and `why` are those of its lane.
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
    """The result of fitting.

    Attributes:
        placed: section -> pieces in the order of the text.
        accounts: section -> its tokens.
        text: the rendered text.
        tokens: the number of its tokens.
    """

    placed: Mapping[str, Sequence[Placed]]
    accounts: Mapping[str, Account]
    text: str
    tokens: int


def fit(lanes: Sequence[Lane], max_tokens: int, render: Render, count: Count) -> Fitted:
    """Choose and shorten pieces until the text fits the budget.

    Args:
        lanes: all sections; the share of those without pieces goes to the others.
        max_tokens: the budget of the rendered text, in tokens.
        render: renders the placed pieces by section; "" for none.
        count: counts the tokens of a text.
    """
    return _Fitting(lanes, max_tokens, render, count).run()


def fit_all(lanes: Sequence[Lane], max_tokens: int, render: Render, count: Count) -> Fitted:
    """Place whole pieces, even beyond the budget: the soft limit.

    Each section takes pieces until its allotment is used up, the last one whole, so the text may
    exceed the budget. The remaining tokens go to sections without a share, for their notes and
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
        # The best piece must be shown if it fits by itself.
        alone = self._alone(top)
        return alone if alone.text or best is None else best

    def _best_attempt(self, showing: Sequence[Lane]) -> Fitted | None:
        """The fullest of several attempts that fit the budget."""
        room = self.max_tokens - self._frame(showing[0])
        # Limited, so that shares do not grow beyond their part of the budget.
        widest = room + max(room // _MOST_WIDER, _LEAST_WIDER)
        ranks = Ranks.among(showing)
        best: Fitted | None = None
        too_much: int | None = None
        step = 0
        for _ in range(_ATTEMPTS):
            fitted = self._attempt(showing, room, ranks)
            slack = self.max_tokens - fitted.tokens
            if slack < 0:
                # A few tokens less may give the same plan, so each step doubles.
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
        """Count the tokens of the text around the sections."""
        nothing = Placed(lane.pieces[0], "", 0, truncated=False)
        return self.count(self.render({lane.key: [nothing]})) - self.headings[lane.key]

    def _attempt(self, showing: Sequence[Lane], room: int, ranks: Ranks) -> Fitted:
        room = max(0, room)
        split = shares({lane.key: lane.weight for lane in self.lanes}, room)
        placed = place(showing, room, split, self.headings, self.shape, ranks)
        return self.rendered(placed, room)

    def rendered(self, placed: Mapping[str, Sequence[Placed]], room: int) -> Fitted:
        """Render the placed pieces and account for the sections' tokens."""
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
        """Place only a section's best piece, as long as possible.

        Returns an empty value if it never fits.
        """
        limit = self.max_tokens
        while (entry := self.shape(lane.pieces[0], limit)) is not None:
            fitted = self.rendered({lane.key: [entry]}, self.max_tokens)
            if fitted.tokens <= self.max_tokens:
                return fitted
            # Try each shorter form, because one of them may fit.
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
