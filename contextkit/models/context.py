"""The result of an assembly: text, items, and their origins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import field, fields, frozen, has

from contextkit.models.items import ContextItem
from contextkit.models.trace import ItemTrace, Trace
from contextkit.text.clean import visible
from contextkit.text.tokens import counter_called


@frozen(kw_only=True)
class ContextSource:
    """The origin of one item of a context.

    Attributes:
        source: the source.
        id: the item's id there.
        name: its short name.
        type: its kind (`function`, `memory`, `commit`).
        location: the place of the whole item, such as `path:line`, or None.
        relevance: its relevance, 0..1.
    """

    source: str
    id: str
    name: str
    type: str
    location: str | None
    relevance: float

    @classmethod
    def of(cls, item: ContextItem) -> ContextSource:
        """Describe the origin of an item."""
        return cls(
            source=item.source,
            id=item.id,
            name=item.title or item.id,
            type=item.kind or item.source,
            location=item.location,
            relevance=item.relevance,
        )


@frozen(kw_only=True)
class ContextComponent:
    """One part of a context's text.

    Attributes:
        type: an item's kind, or `custom` for the host's own text.
        source: its source; "" for the host's own text.
        id: the item's id there; "" for the host's own text.
        content: its text in the context.
        tokens: the tokens of the content; None if unknown: for the host's own text if a plugin's
            tokenizer counts, and without a trace.
        score: the item's score, 0..1, or None.
    """

    type: str
    source: str
    id: str
    content: str
    tokens: int | None
    score: float | None

    @classmethod
    def of(cls, item: ContextItem, row: ItemTrace | None) -> ContextComponent:
        """Describe an item, with its entry in the trace."""
        return cls(
            type=item.kind or item.source,
            source=item.source,
            id=item.id,
            content=item.content,
            tokens=row.tokens if row else None,
            score=row.scores["score"] if row else None,
        )

    @classmethod
    def of_host(cls, text: str, counter: str | None) -> ContextComponent:
        """Describe the host's own text, counted with the context's counter."""
        count = counter_called(counter) if counter else None
        tokens = count(text) if count else None
        return cls(type="custom", source="", id="", content=text, tokens=tokens, score=None)


@frozen
class FormattedContext:
    """A context ready for injection.

    Attributes:
        markdown: the rendered text, in the requested style.
        items: the items in the text, in its order, with contents as shown.
        token_count: the tokens of the rendered text.
        sources_used: source name -> number of items in the text.
        budget_exceeded: whether the text exceeds `max_tokens` (only with `overflow="soft"`).
        truncated_items: ids of the items that were shortened or summarised.
        trace: what each stage did to each source and item; set on every assembled context.
        additional: the request's `additional_context` as it is in the text, or "".
        _ongoing: the state for `update_context`; not in JSON, and only valid in this process.
    """

    markdown: str
    items: list[ContextItem]
    token_count: int
    sources_used: dict[str, int]
    budget_exceeded: bool = False
    truncated_items: list[str] = field(factory=list)
    trace: Trace = field(default=None, repr=False, eq=False, kw_only=True)
    additional: str = field(default="", kw_only=True)
    _ongoing: object = field(default=None, repr=False, eq=False, kw_only=True)

    @property
    def truncated(self) -> bool:
        """Whether an item was shortened or dropped for the budget.

        `summary` gives the details.
        """
        return bool(self.truncated_items) or any(
            row.verdict == "over_budget" for row in (self.trace.items if self.trace else ())
        )

    @property
    def strategy(self) -> Mapping[str, Any]:
        """Name and numbers of the strategy; empty without a trace."""
        return self.trace.strategy if self.trace else {}

    @property
    def summary(self) -> str | None:
        """Describe how the budget shortened the context, or None."""
        # A context built by hand has no trace.
        rows = self.trace.items if self.trace else ()
        left_out = sum(1 for row in rows if row.verdict == "over_budget")
        summarised = sum(1 for row in rows if row.verdict == "compressed")
        excerpts = sum(1 for row in rows if row.verdict == "excerpt")
        counts = {
            "summarised": summarised,
            "shown in part": excerpts,
            "shortened": len(self.truncated_items) - summarised - excerpts,
            "left out": left_out,
        }
        parts = [f"{count} {what}" for what, count in counts.items() if count]
        return f"to hold the budget: {', '.join(parts)}" if parts else None

    @property
    def sources(self) -> list[ContextSource]:
        """The origins of the items, in text order."""
        return [ContextSource.of(item) for item in self.items]

    @property
    def components(self) -> list[ContextComponent]:
        """The parts of the text: items, then the host's text."""
        tokens: dict[tuple[str, str], list[ItemTrace]] = {}
        for row in self.trace.items if self.trace else ():
            if row.tokens:
                tokens.setdefault((row.source, row.id), []).append(row)
        components = []
        for item in self.items:
            rows = tokens.get((item.source, item.id))
            components.append(ContextComponent.of(item, rows.pop(0) if rows else None))
        if self.additional:
            counter = self.trace.counter if self.trace else None
            components.append(ContextComponent.of_host(self.additional, counter))
        return components

    @property
    def metadata(self) -> dict[str, Any]:
        """Facts about the assembly.

        `query`; `intent`; `considered`, source -> number of returned items; `searched`, the
        searched sources; `milliseconds`. Empty for a context built by hand.
        """
        if not self.trace:
            return {}
        return {
            "query": self.trace.query,
            "intent": self.trace.signals.intent,
            "considered": dict(self.trace.considered),
            "searched": list(self.trace.considered),
            "milliseconds": round(self.trace.milliseconds, 3),
        }

    def search_results(self) -> list[dict[str, Any]]:
        """The items as `search_result` content blocks of Claude's Messages API.

        Claude cites such blocks automatically. They contain the text without its headings and its
        footer.
        """
        return [
            {
                "type": "search_result",
                "source": visible(item.location or f"{item.source}:{item.id}"),
                "title": visible(item.title or item.id),
                "content": [{"type": "text", "text": item.content}],
                "citations": {"enabled": True},
            }
            for item in self.items
            if item.content.strip()
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole result as JSON values."""
        derived = {"sources": self.sources, "truncated": self.truncated, "summary": self.summary}
        return {**_as_json(self), **_as_json(derived)}


def _as_json(value: Any) -> Any:
    """Convert a value to JSON.

    A source's metadata may contain any object.
    """
    if has(type(value)) and not isinstance(value, Sequence):
        names = [field.name for field in fields(type(value)) if not field.name.startswith("_")]
        return {name: _as_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _as_json(inner) for key, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return [_as_json(inner) for inner in value]
    return _scalar(value)


def _scalar(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    is_json = value is None or isinstance(value, (str, int, float))
    infinite = isinstance(value, float) and not math.isfinite(value)
    return value if is_json and not infinite else str(value)
