"""Fit the host's own text and the list of sources.

The host's text gets its tokens before any item.

The text is the last section of the context. The list is left out where it would take more than a
quarter of the budget, or the place of the best item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from contextkit.budget.fit import Fitted, fit, fit_all
from contextkit.budget.pieces import Lane
from contextkit.models.items import Detail, Style
from contextkit.models.request import ContextRequest
from contextkit.pipeline.compose import ADDITIONAL_TITLE, Composer
from contextkit.pipeline.format import shortened_line
from contextkit.pipeline.render import heading
from contextkit.text.clean import legible, visible
from contextkit.text.styles import style_of
from contextkit.text.tokens import TokenCounter
from contextkit.text.truncation import truncate

_ATTEMPTS = 24
_CAREFUL_ATTEMPTS = 16

Fit = Callable[[Composer], tuple[Composer, Fitted]]
"""Fits items into the budget of a composer's request."""


@frozen
class Whole:
    """A fitted context with the host's own text.

    Attributes:
        composer: composed the text.
        fitted: the placed items, and the whole text.
        notes: how the host's text was shortened, if it was.
    """

    composer: Composer
    fitted: Fitted
    notes: tuple[str, ...] = ()


def with_additional(composer: Composer, count: TokenCounter, fit: Fit) -> Whole:
    """Fit a context that ends with the host's `additional_context`.

    That text has its tokens before any item has. Where it is larger than the budget, it is
    shortened and stands there alone, unless the budget may be exceeded; where not even its
    beginning fits, there is nothing.

    Args:
        composer: composes the request's texts.
        count: tokens of a text.
        fit: fits the items into the rest of the budget.
    """
    request = composer.request
    given = request.additional_context.strip()
    if not given:
        return Whole(*fit(composer))
    whole = _shown(given, request.style, request.detail)
    text = whole if request.overflow == "soft" else _within(composer, whole, count)
    with_text = evolve(composer, additional=text)
    if not text:
        note = f"the additional context does not fit into {request.max_tokens} tokens"
        return Whole(*_alone(with_text, count), (note,))
    if text != whole:
        # No item takes the room that the cut leaves, because a larger budget would drop it again.
        return Whole(*_alone(with_text, count), (_note(whole, text, count),))
    return Whole(*_beside(with_text, count, fit))


def left_for_items(request: ContextRequest, count: TokenCounter) -> int:
    """Count the budget's tokens left beside the host's text.

    The result is at least 1.
    """
    given = request.additional_context.strip()
    if not given:
        return request.max_tokens
    shown = _shown(given, request.style, request.detail)
    return max(1, request.max_tokens - _taken(shown, request.style, count))


def _taken(shown: str, style: Style, count: TokenCounter) -> int:
    return count(f"{heading(ADDITIONAL_TITLE, style)}\n\n{shown}\n\n")


def _shown(text: str, style: Style, detail: Detail) -> str:
    """The host's text, escaped for the style."""
    own = style_of(style)
    words = legible(text)
    return visible(own.entry(own.line(words)) if detail == "compact" else own.text(words))


def _within(composer: Composer, whole: str, count: TokenCounter) -> str:
    """Cut the host's text to the whole budget.

    Returns "" where too little would be left.
    """
    request, budget = composer.request, composer.request.max_tokens
    text, limit = whole, count(whole)
    while text:
        excess = count(evolve(composer, additional=text).text({})) - budget
        if excess <= 0:
            return text
        # The cut is one token smaller than the excess, because the tokens of parts do not add up
        # exactly.
        limit -= max(1, excess - 1)
        text = _shorter(whole, limit, count, request) if limit > 0 else ""
    return ""


def _shorter(whole: str, limit: int, count: TokenCounter, request: ContextRequest) -> str:
    style = style_of(request.style)
    if request.detail != "compact":
        return truncate(whole, limit, count, style.note("truncated"))
    if style.bullet:
        return shortened_line(whole, limit, count, style)
    return truncate(whole, limit, count)


def _note(whole: str, text: str, count: TokenCounter) -> str:
    return f"the additional context was shortened from {count(whole)} to {count(text)} tokens"


def _beside(composer: Composer, count: TokenCounter, fit: Fit) -> tuple[Composer, Fitted]:
    """Fit items beside the host's text, and compose both."""
    request = composer.request
    room = request.max_tokens - _taken(composer.additional, request.style, count)
    soft = request.overflow == "soft"
    room = max(1, room) if soft else room
    for attempt in range(_ATTEMPTS):
        if room < 1:
            break
        within = evolve(composer, request=evolve(request, max_tokens=room), additional="")
        fitting, fitted = fit(within)
        found = evolve(fitting, request=request, additional=composer.additional)
        text = found.text(_shown_of(fitted))
        tokens = count(text)
        if soft or tokens <= request.max_tokens:
            return found, evolve(fitted, text=text, tokens=tokens)
        # Reduce the budget token by token at first, so that no item that fits into a smaller one
        # is missed.
        room -= 1 if attempt < _CAREFUL_ATTEMPTS else tokens - request.max_tokens
    return _alone(composer, count)


def _alone(composer: Composer, count: TokenCounter) -> tuple[Composer, Fitted]:
    text = composer.text({})
    return composer, Fitted({}, {}, text, count(text))


def _shown_of(fitted: Fitted) -> Mapping[str, Any]:
    return {key: entries for key, entries in fitted.placed.items() if entries}


_LIST_PART = 4
"""The list of sources takes no more of the budget than one part in so many."""


def fit_with_list(
    lanes: Sequence[Lane], composer: Composer, count: TokenCounter
) -> tuple[Composer, Fitted]:
    """Fit the items, and the list of sources if possible.

    The list appears only if the request wants it and it is small enough.
    """
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
