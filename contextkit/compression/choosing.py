"""Which pieces are summarised: the weakest of each section that has too much, first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from contextkit.fitting.budget import allotments
from contextkit.fitting.pieces import Lane, Piece

__all__ = ["too_much"]

_PART_KEPT = 3
"""A summary takes one token of so many (seed 3)."""

_MARGIN = 50

_CONSIDERED = 2
"""How many times what its section may use is summarised or shown; what is behind that is left."""


def too_much(
    lanes: Sequence[Lane],
    headings: Mapping[str, int],
    max_tokens: int,
    may_be: Callable[[Piece], bool],
) -> list[tuple[Piece, int]]:
    """The pieces to summarise, the weakest first, and the tokens that each may take.

    That is a third of what it takes whole; for the last of a section it is what there is room
    for, so that no summary is shorter than it must be. None where all pieces fit whole.

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
    chosen: list[tuple[Piece, int]] = []
    for lane in showing:
        room = allotted[lane.key] - headings[lane.key]
        pool = _pool(lane.pieces, _CONSIDERED * room)
        excess = sum(piece.tokens for piece in pool) - room
        if excess > 0:
            # Parts do not add up to the token, and what is too long by one is no summary.
            excess += room // _MARGIN
        for piece in reversed(pool):
            if excess > 0 and may_be(piece):
                most = max(piece.tokens // _PART_KEPT, piece.tokens - excess)
                chosen.append((piece, most))
                excess -= piece.tokens - most
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
