"""Shortening a memory: what is said of it goes first, then the end of its text."""

from __future__ import annotations

from collections.abc import Callable

from contextkit import ContextItem
from contextkit.models import Style
from contextkit.truncation import truncate
from contextkit_memories.formatting import ABOUT

__all__ = ["shortened"]

_NOTE = "(truncated)"
"""Without the id: no agent can open it, and it takes as many tokens as a line of the text."""


def shortened(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """A formatted memory within `max_tokens`.

    Args:
        item: the memory, its content as it was formatted.
        style: the style that it was formatted in.
        max_tokens: what the result may take, in tokens of `count`.
        count: text -> tokens.

    Returns:
        The memory's whole text without its category and importance, where that fits; else
        its beginning and a note; None for an XML element, and for a text of another shape.
    """
    if style == "xml":
        return None
    if style == "plain":
        return truncate(item.content, max_tokens, count, _NOTE)
    text, _, about = item.content.rpartition("\n")
    if not text or not about.startswith(ABOUT):
        return None
    return truncate(text, max_tokens, count, f"*{_NOTE}*")
