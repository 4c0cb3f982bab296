"""Fitting with the list of sources, where that is wanted and takes little enough."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.composing.text import Composer
from contextkit.fitting.fit import Fitted, Lane, fit, fit_all
from contextkit.tokens import TokenCounter

__all__ = ["fit_with_list"]

_LIST_PART = 4
"""The list of sources takes no more of the budget than one part in so many."""


def fit_with_list(
    lanes: Sequence[Lane], composer: Composer, count: TokenCounter
) -> tuple[Composer, Fitted]:
    """What got in, with the list of sources if it is wanted and takes little enough."""
    request = composer.request
    fitting = fit_all if request.overflow == "soft" else fit
    fitted = fitting(lanes, request.max_tokens, composer.text, count)
    if composer.include_sources:
        listed = count(composer.source_list(fitted.placed))
        fits = fitted.text and listed * _LIST_PART <= request.max_tokens
        if not fits or not _shows_the_best(fitted, lanes):
            bare = composer.without_sources()
            without = fitting(lanes, request.max_tokens, bare.text, count)
            if not fits or _shows_the_best(without, lanes):
                return bare, without
    return composer, fitted


def _shows_the_best(fitted: Fitted, lanes: Sequence[Lane]) -> bool:
    best = min(
        (piece for lane in lanes for piece in lane.pieces[:1]),
        key=lambda piece: piece.candidate.order,
        default=None,
    )
    placed = (entry.piece for entries in fitted.placed.values() for entry in entries)
    return best is None or any(piece is best for piece in placed)
