"""What is placed in a context: sections, their pieces, and how a piece is made to fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, evolve, field, frozen

from contextkit.models.candidate import Candidate
from contextkit.text.passages import Excerpt

Count = Callable[[str], int]

SHORTEST = 12
"""Shorter than this a shortened item says nothing."""

_SHORTENINGS = 8
"""A text is shortened anew so many times where its parts do not add up to the whole."""


@frozen(eq=False)
class Piece:
    """A candidate's text, ready to be placed.

    Attributes:
        candidate: the candidate.
        text: its formatted text, whole.
        tokens: tokens of the text and the separator behind it.
        shorten: its text within so many tokens, its note included; "" where that says nothing.
        begin: its beginning within so many tokens, for the best item of a budget in which
            nothing else can be shown.
        summary_of: the piece that it stands for where its text is a summary, or None.
        summarised_by: the plugin that wrote the summary, or how it came to be.
    """

    candidate: Candidate
    text: str
    tokens: int
    shorten: Callable[[int], str]
    begin: Callable[[int], str] = field(default=lambda _: "")
    summary_of: Piece | None = None
    summarised_by: str = ""


@frozen(eq=False)
class Lane:
    """A section on its way through the budget.

    Attributes:
        key: the section's key.
        weight: its weight in the budget, for this question.
        heading: what the section adds to the text beside its pieces.
        pieces: best first.
        own_weight: its weight whatever the question; default: `weight`.
        first: so many of its pieces are placed whole before the budget is split.
        bounded: whether it takes nothing of what others leave of their shares.
        evidence: how much of the question its items have, 0..1; None where that is not asked.
        precedence: how well it answers; notes that match well are over all others.
        why: says how its evidence compares with the best; "" for the best.
        weak: by `id`, the pieces that are left out as others answer better, and why.
        good: by `id`, the pieces that match so well that they may use whatever room is left,
            though the section as a whole answers badly.
    """

    key: str
    weight: float
    heading: str
    pieces: Sequence[Piece]
    own_weight: float = field()
    first: int = 0
    bounded: bool = False
    evidence: float | None = None
    precedence: float = 0.0
    why: str = ""
    weak: Mapping[int, str] = field(factory=dict)
    good: frozenset[int] = frozenset()

    @own_weight.default
    def _weight(self) -> float:
        return self.weight

    def without(self, weak: Mapping[int, str]) -> Lane:
        """Leave out some pieces: by `id`, why they are weak."""
        kept = [piece for piece in self.pieces if id(piece) not in weak]
        first = sum(id(piece) not in weak for piece in self.pieces[: self.first])
        own = {id(piece): weak[id(piece)] for piece in self.pieces if id(piece) in weak}
        return evolve(self, pieces=kept, first=first, weak={**self.weak, **own})


@frozen(eq=False)
class Placed:
    """A piece in the text.

    Attributes:
        piece: the piece.
        text: as it stands in the text.
        tokens: what it was counted as, with the separator behind it.
        truncated: whether it was shortened.
    """

    piece: Piece
    text: str
    tokens: int
    truncated: bool

    @property
    def excerpt(self) -> bool:
        """Whether it was shortened to parts that can be understood by themselves."""
        return isinstance(self.text, Excerpt)


@define(eq=False)
class Shaper:
    """Makes pieces fit a limit, and remembers those that it shortened."""

    count: Count
    _shortened: dict[tuple[int, int], Placed | None] = field(factory=dict, init=False)

    def __call__(self, piece: Piece, limit: int) -> Placed | None:
        """A piece within `limit` tokens: whole, shortened, or None."""
        if piece.tokens <= limit:
            return Placed(piece, piece.text, piece.tokens, truncated=False)
        if limit < SHORTEST:
            return None
        known = (id(piece), limit)
        if known not in self._shortened:
            self._shortened[known] = self._shorten(piece, limit)
        return self._shortened[known]

    def _shorten(self, piece: Piece, limit: int) -> Placed | None:
        room = limit
        # What the separator takes depends on what is before it.
        for _ in range(_SHORTENINGS):
            text = piece.shorten(room)
            tokens = self.count(f"{text}\n\n") if text else 0
            if tokens <= limit:
                return Placed(piece, text, tokens, truncated=True) if text else None
            room = min(room, self.count(text)) - max(1, tokens - limit)
            if room < 1:
                break
        return None


@frozen(eq=False)
class Ranks:
    """The order of all pieces, whatever their section.

    Attributes:
        best_first: each piece with its section.
        of: by `id` of a piece, its place in that.
    """

    best_first: Sequence[tuple[str, Piece]]
    of: Mapping[int, int]

    @classmethod
    def among(cls, lanes: Sequence[Lane]) -> Ranks:
        """The order of the lanes' pieces."""
        best_first = [(lane.key, piece) for lane in lanes for piece in lane.pieces]
        best_first.sort(key=lambda entry: entry[1].candidate.order)
        return cls(best_first, {id(piece): rank for rank, (_, piece) in enumerate(best_first)})
