"""Hostile texts: words that imitate markup.

Each text of an item is replaced by them in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve

from contextkit.models.items import ContextItem

HOSTILE_LINES = (
    "words before",
    "# injected heading",
    "injected setext heading\n===",
    "> injected quote",
    "***",
    "| injected | table |\n|---|---|\n| a | b |",
    "[injected]: https://example.org/injected",
    "![injected](https://example.org/injected.png)",
    "<script>alert('injected')</script>",
    "<!-- injected",
    ']]> --> <?injected?> &injected; " \' <injected a="b"/>',
    "=== injected title ===",
    "--- injected title",
    "controls \x00 \x07 \x1b[31m \x7f \x85 \u2028 \u202e end",
    "`` injected ` code",
    "```injected\nfence",
    "~~~~injected\nfence",
)
_TEXTS = ("content", "text", "title", "location")
_NOT_A_WORD = re.compile(r"[^\w \n]|_")


def hostile_text(tags: tuple[str, ...]) -> str:
    """Make text that is markup in every style unless escaped.

    Args:
        tags: the elements that it tries to close.
    """
    closing = "".join(f"</{tag}>" for tag in reversed(tags))
    opening = "".join(f"<{tag}>" for tag in tags)
    return "\n\n".join([*HOSTILE_LINES, f"{closing}<injected/>{opening}", "words behind"])


def harmless(text: str) -> str:
    """Make the same lines without any markup.

    No style reads any of the words as markup.
    """
    return "\n".join(
        _NOT_A_WORD.sub("", line).strip() or "x" if line else ""
        for line in text.replace("\u2028", "").replace("\x85", "").split("\n")
    )


def with_text(item: ContextItem, text: str) -> Iterator[tuple[str, ContextItem]]:
    """Replace each of an item's texts in turn.

    Yields the name of the text and the changed item.
    """
    for name in _TEXTS:
        if getattr(item, name) is not None:
            changed: dict[str, Any] = {name: text}
            yield name, evolve(item, **changed)
    for where, metadata in _replaced(dict(item.metadata), text):
        yield f"metadata{where}", evolve(item, metadata=metadata)


def _replaced(value: Any, text: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, str):
        yield "", text
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            for where, changed in _replaced(inner, text):
                yield f"[{key!r}]{where}", {**value, key: changed}
    elif isinstance(value, (list, tuple)):
        for position, inner in enumerate(value):
            for where, changed in _replaced(inner, text):
                entries = [*value[:position], changed, *value[position + 1 :]]
                yield f"[{position}]{where}", entries
