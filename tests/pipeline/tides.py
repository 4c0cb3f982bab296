"""Sources of different texts about tides, and what a trace says of them."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

from contextkit import (
    ContextItem,
    FormattedContext,
)
from contextkit.models.trace import ItemTrace, SourceTrace
from tests.making import make_plugin

SENTENCES = [
    "The harbour master closes the gate two hours before low water.",
    "Spring tides come with the new moon and with the full moon.",
    "A neap tide leaves the inner basin almost dry at the eastern wall.",
    "Storm surges are announced by a red lamp on the signal tower.",
    "The tide table of the lighthouse counts from the winter solstice.",
]


WORDS = sorted({word.strip(".").lower() for sentence in SENTENCES for word in sentence.split()})


def text(source: str, number: int) -> str:
    """A text that is like no other."""
    chosen = random.Random(f"{source} {number}").sample(WORDS, 12)
    return f"{' '.join(chosen).capitalize()}."


def items(source: str, number: int = 3, relevance: float = 0.9) -> list[ContextItem]:
    """Different items of a source, best first."""
    return [
        ContextItem(source, text(source, n), relevance - n / 100, id=f"{n}") for n in range(number)
    ]


def source_of(name: str, number: int = 3, **hooks: Any) -> ModuleType:
    """A source that finds so many items."""
    return make_plugin(items(name, number), **hooks)


def traced(context: FormattedContext, section: str) -> SourceTrace:
    """What the trace says of a section."""
    return next(source for source in context.trace.sources if source.section == section)


def verdicts(context: FormattedContext) -> dict[tuple[str, str], ItemTrace]:
    """What the trace says of each item."""
    return {(item.source, item.id): item for item in context.trace.items}
