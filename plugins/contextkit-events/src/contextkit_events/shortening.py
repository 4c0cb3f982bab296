"""Shortening an event: its output goes first, and no stump of its first line is shown."""

from __future__ import annotations

from collections.abc import Callable

from contextkit import ContextItem
from contextkit.models import Style
from contextkit.truncation import truncate

__all__ = ["shortened"]

_LEAST_LETTERS = 28
"""What a shortened first line keeps, label included: four or five words."""


def shortened(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """A formatted event within `max_tokens`.

    Args:
        item: the event, its content as it was formatted.
        style: the style that it was formatted in.
        max_tokens: what the result may take, in tokens of `count`.
        count: text -> tokens.

    Returns:
        Its beginning and a note; "" where that is a moment and hardly a word of what happened
        then, which is worth less than the note, or a part of a path; None for an XML element.
    """
    if style == "xml":
        return None
    note = "(truncated)" if style == "plain" else "*(truncated)*"
    text = truncate(item.content, max_tokens, count, note)
    least = _letters(item.content.partition("\n")[0])
    if not item.metadata.get("path"):
        least = min(_LEAST_LETTERS, least)
    return text if _letters(text.removesuffix(note)) >= least else ""


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
