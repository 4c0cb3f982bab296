"""The parts of a context: sections, pieces, and shortening pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from contextkit.models.candidate import Candidate
from contextkit.models.copying import copied
from contextkit.text.passages import Excerpt

Count = Callable[[str], int]

SHORTEST = 12
"""A shortened item with fewer tokens is useless."""

_SHORTENINGS = 8
"""Maximum number of attempts to shorten a text to the limit."""

_CONSIDERED = 50
"""The number of a section's best results that its evidence is measured by."""


@frozen(eq=False)
class Piece:
    """A candidate's text, ready to be placed.

    Attributes:
        candidate: the candidate.
        text: its whole formatted text.
        tokens: the tokens of the text and the separator after it.
        shorten: shortens the text to a number of tokens, note included; "" if too short.
        begin: returns the text's beginning within a number of tokens, for the best item of a
            budget that is too small for anything else.
        summary_of: the summarised piece, if the text is a summary, or None.
        summarised_by: the plugin that wrote the summary, or the method.
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
    """A section in the budget.

    Attributes:
        key: the section's key.
        weight: its weight for this question.
        heading: the section's text besides its pieces.
        pieces: best first.
        own_weight: its weight independent of the question; default: `weight`.
        first: the number of pieces that are placed whole before the budget is split.
        bounded: whether it may not use what others leave of their shares.
        evidence: its items' share of the question, 0..1; None if not measured.
        precedence: how well it answers; matching notes precede all others.
        why: compares its evidence with the best; "" for the best.
        weak: by `id`, the pieces left out because others answer better, and why.
        good: by `id`, the pieces that match so well that they may use any remaining room,
            although the section as a whole answers badly.
        far: further results, best first, which are evidence and are not shown.
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
    far: Sequence[Candidate] = ()

    @own_weight.default
    def _weight(self) -> float:
        return self.weight

    @property
    def candidates(self) -> list[Candidate]:
        """The results that its evidence is measured by, best first."""
        found = [*(piece.candidate for piece in self.pieces), *self.far]
        return found[:_CONSIDERED]

    def without(self, weak: Mapping[int, str]) -> Lane:
        """Leave out weak pieces, given by `id` with the reason."""
        if not weak:
            return self
        kept = [piece for piece in self.pieces if id(piece) not in weak]
        first = sum(id(piece) not in weak for piece in self.pieces[: self.first])
        own = {id(piece): weak[id(piece)] for piece in self.pieces if id(piece) in weak}
        return copied(self, pieces=kept, first=first, weak={**self.weak, **own})


@frozen(eq=False)
class Placed:
    """A piece in the text.

    Attributes:
        piece: the piece.
        text: its text as placed.
        tokens: its tokens, with the separator after it.
        truncated: whether it was shortened.
    """

    piece: Piece
    text: str
    tokens: int
    truncated: bool

    @property
    def excerpt(self) -> bool:
        """Whether it was shortened to self-contained parts."""
        return isinstance(self.text, Excerpt)


@define(eq=False)
class Shaper:
    """Makes pieces fit a limit, and caches the shortened ones."""

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
        # The tokens of the separator depend on the text before it.
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
    """The order of the pieces of all sections.

    Attributes:
        best_first: each piece with its section.
        of: by `id` of a piece, its place in that order.
    """

    best_first: Sequence[tuple[str, Piece]]
    of: Mapping[int, int]

    @classmethod
    def among(cls, lanes: Sequence[Lane]) -> Ranks:
        """Rank the pieces of the lanes."""
        best_first = [(lane.key, piece) for lane in lanes for piece in lane.pieces]
        best_first.sort(key=lambda entry: entry[1].candidate.order)
        return cls(best_first, {id(piece): rank for rank, (_, piece) in enumerate(best_first)})
