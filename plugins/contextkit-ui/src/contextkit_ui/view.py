"""Convert a context and its trace to the page's data.

No other module works on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from attrs import define, field, frozen

from contextkit import ContextItem, ContextRequest, FormattedContext
from contextkit.agent import SourceRegistry
from contextkit.models import (
    ItemTrace,
    Provenance,
    SourceState,
    SourceTrace,
    Successor,
    Trace,
    Verdict,
)
from contextkit_ui.model import Bar, ContextView, Group, ItemView, Link, SourceView, TextPart

HUES = 8
"""Number of colours in the style sheet.

The ninth source has the first colour again.
"""

_STATES: Mapping[SourceState, str] = {
    "ok": "answered",
    "empty": "found nothing",
    "below_floor": "nothing relevant enough",
    "failed": "failed",
    "timed_out": "timed out",
    "cut_off": "cut off at the deadline",
    "breaker_open": "skipped",
}
_GROUPS: Mapping[Verdict, tuple[str, str]] = {
    "duplicate": ("Duplicates", "They repeat a better item."),
    "over_budget": (
        "Over budget",
        "They matched, but the budget, or their source's share of it, was used up.",
    ),
    "over_limit": (
        "Beyond the limit",
        "Too many better items were found.",
    ),
    "below_floor": ("Not relevant enough", "Their relevance is below the minimum."),
    "filtered": ("Filtered", "The request's filters removed them."),
}
_IN_TEXT: frozenset[Verdict] = frozenset({"kept", "excerpt", "truncated", "compressed"})
_ASKING = "gather"
"""The stage that queries all sources, concurrently."""


@frozen
class Hues:
    """A fixed colour for each source.

    It is the same whichever sources are queried.

    Attributes:
        names: the sources, in the order of the colours.
    """

    names: Sequence[str]

    def __getitem__(self, source: str) -> int:
        return self.names.index(source) % HUES if source in self.names else HUES - 1


def hues_of(registry: SourceRegistry) -> Hues:
    """Return the installed sources' colours, disabled ones included."""
    return Hues([p.name for p in registry.plugins if p.is_source is not False])


def view_of(request: ContextRequest, context: FormattedContext, hues: Hues) -> ContextView:
    """Return the page's data for a context.

    Args:
        request: the request for the context.
        context: the context, with its trace.
        hues: the sources' colours.
    """
    trace = context.trace
    rows = _Rows(trace, hues)
    shown = list(_joined(trace, context.items))
    contents = dict(shown)
    used = sum(source.used for source in trace.sources)
    in_text = [rows.view(index, item) for index, item in shown]
    return ContextView(
        query=request.query,
        style=request.style,
        detail=request.detail,
        shares=request.shares,
        max_tokens=trace.max_tokens,
        token_count=context.token_count,
        frame=max(0, context.token_count - used),
        free=max(0, trace.max_tokens - context.token_count),
        exceeded=context.budget_exceeded,
        counter=trace.counter,
        milliseconds=round(sum(trace.stages.values()), 3),
        candidates=len(trace.items),
        sources=tuple(_source(source, in_text, hues) for source in trace.sources),
        items=tuple(in_text),
        left_out=tuple(_groups(rows, contents)),
        timeline=tuple(_timeline(trace, hues)),
        notes=trace.notes,
        text=tuple(_parts(context.markdown, in_text)),
    )


def _joined(trace: Trace, items: Sequence[ContextItem]) -> Iterator[tuple[int, ContextItem]]:
    """Yield the text's items with their trace rows' indexes.

    Items are in the order of the text.
    """
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, row in enumerate(trace.items):
        if row.verdict in _IN_TEXT:
            rows[row.source, row.id].append(index)
    for item in items:
        yield rows[item.source, item.id].pop(0), item


@define
class _Rows:
    """Builds the rows and the links between them."""

    trace: Trace
    hues: Hues
    _best: dict[tuple[str, str], int] = field(init=False)

    @_best.default
    def _best_of_each(self) -> dict[tuple[str, str], int]:
        """Map each item to its row's index.

        Of several, that of the row in the text is used, else the best.
        """
        rows = list(enumerate(self.trace.items))
        rows.sort(key=lambda entry: (entry[1].verdict in _IN_TEXT, -entry[0]))
        return {(row.source, row.id): index for index, row in rows}

    def view(self, index: int, item: ContextItem | None) -> ItemView:
        row = self.trace.items[index]
        scores = dict(row.scores)
        score = scores.pop("score")
        return ItemView(
            anchor=_anchor(index),
            rank=index + 1,
            source=row.source,
            section=row.section,
            id=row.id,
            title=row.title,
            kind=item.kind if item else "",
            location=row.location,
            hue=self.hues[row.source],
            verdict=row.verdict,
            reason=row.reason,
            tokens=row.tokens,
            whole_tokens=row.whole_tokens,
            score=score,
            components=scores,
            content=item.content if item else None,
            duplicate_of=self._link(row.duplicate_of) if row.duplicate_of else None,
            also_in=tuple(self._link(other) for other in row.also_in),
            superseded_by=self._newer(row, row.superseded_by) if row.superseded_by else None,
        )

    def _link(self, other: Provenance) -> Link:
        index = self._best.get((other.source, other.id))
        return Link(
            source=other.source,
            id=other.id,
            label=other.location or other.id,
            hue=self.hues[other.source],
            anchor=None if index is None else _anchor(index),
            in_text=index is not None and self.trace.items[index].verdict in _IN_TEXT,
        )

    def _newer(self, row: ItemTrace, newer: Successor) -> Link:
        return self._link(Provenance(row.source, newer.id, newer.location))


def _anchor(index: int) -> str:
    return f"item-{index + 1}"


def _source(source: SourceTrace, in_text: Sequence[ItemView], hues: Hues) -> SourceView:
    return SourceView(
        section=source.section,
        source=source.source,
        hue=hues[source.source],
        state=source.state,
        words=_STATES[source.state],
        reason=source.reason,
        milliseconds=source.milliseconds,
        candidates=source.candidates,
        shown=sum(1 for item in in_text if item.section == source.section),
        share=source.share,
        fixed_share=source.fixed_share,
        used=source.used,
        given=source.given,
        taken=source.taken,
    )


def _groups(rows: _Rows, contents: Mapping[int, ContextItem]) -> Iterator[Group]:
    left_out = [
        rows.view(index, None) for index in range(len(rows.trace.items)) if index not in contents
    ]
    for verdict, (title, words) in _GROUPS.items():
        items = tuple(item for item in left_out if item.verdict == verdict)
        if items:
            yield Group(verdict=verdict, title=title, words=words, items=items)


def _timeline(trace: Trace, hues: Hues) -> Iterator[Bar]:
    start = 0.0
    for stage, milliseconds in trace.stages.items():
        yield Bar(label=stage, kind="stage", start=round(start, 3), milliseconds=milliseconds)
        for source in trace.sources if stage == _ASKING else ():
            yield Bar(
                label=source.section,
                kind="source",
                start=round(start, 3),
                milliseconds=source.milliseconds,
                hue=hues[source.source],
            )
        start += milliseconds


def _parts(text: str, in_text: Sequence[ItemView]) -> Iterator[TextPart]:
    """Split the text where its items begin and end.

    The line end after an item is a part of its own.
    """
    done = 0
    for item in in_text:
        content = item.content or ""
        begin = text.find(content, done) if content.strip() else -1
        if begin < 0:
            continue
        if begin > done:
            yield TextPart(text=text[done:begin])
        done = begin + len(content)
        done += text.startswith("\n", done)
        yield TextPart(text=text[begin:done], anchor=item.anchor, hue=item.hue)
    if done < len(text):
        yield TextPart(text=text[done:])
