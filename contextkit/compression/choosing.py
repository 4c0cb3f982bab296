"""Which pieces are summarised: the weakest of each section that has too much, first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from contextkit.budget import allotments
from contextkit.placing import Lane, Piece

__all__ = ["PART_KEPT", "too_much"]

PART_KEPT = 3
"""A summary takes one token of so many (seed 3)."""

_CONSIDERED = 2
"""How many times what its section may use is summarised or shown; what is behind that is left."""


def too_much(
    lanes: Sequence[Lane],
    headings: Mapping[str, int],
    max_tokens: int,
    may_be: Callable[[Piece], bool],
) -> list[Piece]:
    """The pieces to summarise, the weakest first; none where all of them fit whole.

    Args:
        lanes: the sections.
        headings: tokens that each section's heading takes.
        max_tokens: the budget, headings included.
        may_be: whether a piece can be summarised.
    """
    showing = [lane for lane in lanes if lane.pieces]
    wanted = {
        lane.key: headings[lane.key] + sum(piece.tokens for piece in lane.pieces)
        for lane in showing
    }
    if sum(wanted.values()) <= max_tokens:
        return []
    allotted = allotments({lane.key: lane.weight for lane in showing}, wanted, max_tokens)
    chosen: list[Piece] = []
    for lane in showing:
        room = allotted[lane.key] - headings[lane.key]
        pool = _pool(lane.pieces, _CONSIDERED * room)
        excess = sum(piece.tokens for piece in pool) - room
        for piece in reversed(pool):
            if excess > 0 and may_be(piece):
                chosen.append(piece)
                excess -= piece.tokens - piece.tokens // PART_KEPT
    return chosen


def _pool(pieces: Sequence[Piece], most: int) -> list[Piece]:
    """The best pieces that take no more than that together; the best one at least."""
    pool: list[Piece] = []
    for piece in pieces:
        # What was summarised already makes no room for more to be considered.
        most -= (piece.summary_of or piece).tokens
        if most < 0 and pool:
            break
        pool.append(piece)
    return pool
