"""`contextkit explain`: the trace of a context as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import click

from contextkit.cli.assemble import checked_sources, warn_of_troubles
from contextkit.cli.index import index_first
from contextkit.cli.options import no_index_option, query_from, request_options
from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.strategies import in_numbers

if TYPE_CHECKING:
    from contextkit.models.context import FormattedContext
    from contextkit.models.trace import ItemTrace, SourceTrace, Trace
    from contextkit.pipeline.explain import ItemExplanation
    from contextkit.text.signals import QuerySignals

_SOURCES = ["SOURCE", "STATE", "MS", "CANDIDATES", "SHARE", "USED", "GAVE", "TOOK", ""]
_COMPONENTS = ("match", "relevance", "salience", "recency", "priority")
_OF_SOME_CONTEXTS = ("history", "decay", "rerank")
_ITEM = ("SOURCE", "ID", "TITLE", "OUTCOME")
_ID_WIDTH = 48
_TITLE_WIDTH = 40
_SIGNALS_WIDTH = 200


@click.command(
    epilog="""\b
Examples:
  contextkit explain "how is the token budget split?"
  contextkit explain "why do we retry?" --item contextkit/budget/shares.py:13
  contextkit explain "why do we retry?" --max-tokens 500 --json
"""
)
@click.argument("query")
@click.option("--item", help="Explain one item, by id, title or location.")
@request_options()
@no_index_option
@json_option
@pass_session
def explain(
    session: Session,
    /,
    query: str,
    item: str | None,
    no_index: bool,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    """Explain what a context contains and what it leaves out.

    It lists each source and each item that was found for a QUERY.

    SHARE is the source's part of the budget, by weight and by how well it answers; in brackets by
    weight alone. GAVE and TOOK are the tokens that it gave to and got from other sources. An
    item's SCORE is computed from the columns after it; MATCH is its RELEVANCE on the scale of all
    sources.
    """
    query = query_from(query)
    options["sources"] = checked_sources(session, query, options)
    if not no_index:
        index_first(session, options["sources"], query)
    options["record_use"] = False
    context = session.kit.assemble_context_sync(query, **options)
    warn_of_troubles(session, context)
    if item is not None:
        found = session.kit.explain_item_sync(item, query, **options)
        lines = "\n".join(_describe(explanation) for explanation in found)
        session.emit([attrs.asdict(explanation) for explanation in found], lines, as_json)
        return
    whole = context.as_dict()
    data = {"query": query, **{key: whole[key] for key in ("token_count", "sources_used", "trace")}}
    session.emit(data, "\n".join(_tables(context)), as_json)


def _describe(explanation: ItemExplanation) -> str:
    if explanation.id is None:
        return f"{explanation.asked}: {explanation.words}"
    return f"{explanation.source} {explanation.id}: {explanation.words}"


def _tables(context: FormattedContext) -> Iterator[str]:
    trace = context.trace
    yield (
        f"{context.token_count} of {trace.max_tokens} tokens used, counted by {trace.counter}; "
        f"{len(context.items)} of {len(trace.items)} candidates got in"
    )
    times = ", ".join(f"{stage} {value:.1f}" for stage, value in trace.stages.items())
    yield f"{trace.milliseconds:.1f} ms: {times}"
    yield f"strategy {trace.strategy['name']}: {in_numbers(trace.strategy)}"
    yield _signals(trace.signals)
    if trace.redactions:
        yield f"secrets replaced in the items: {trace.redactions}"
    yield f"\n{table(_SOURCES, _source_rows(trace))}"
    if trace.items:
        more = [n for n in _OF_SOME_CONTEXTS if any(n in row.scores for row in trace.items)]
        shown = [*_COMPONENTS, *more]
        heading = ["SCORE", *(name.upper() for name in shown), *_ITEM]
        yield f"\n{table(heading, [_item_row(row, shown) for row in trace.items])}"


def _signals(signals: QuerySignals) -> str:
    """Format a query's signals on one line."""
    parts = {
        "names": signals.entities,
        "keywords": signals.keywords,
        "kinds that matter": signals.kinds,
    }
    said = [f"{what} {', '.join(names)}" for what, names in parts.items() if names]
    return _cut(f"intent {'; '.join([signals.intent, *said])}", _SIGNALS_WIDTH)


def _source_rows(trace: Trace) -> list[Sequence[str]]:
    return [
        [
            row.section,
            row.state,
            f"{row.milliseconds:.1f}",
            str(row.candidates),
            _share(row),
            *map(str, (row.used, row.given, row.taken)),
            row.reason or "",
        ]
        for row in trace.sources
    ]


def _share(row: SourceTrace) -> str:
    if row.fixed_share is None:
        return str(row.share)
    return f"{row.share} ({row.fixed_share} by weight)"


def _item_row(row: ItemTrace, components: Sequence[str]) -> Sequence[str]:
    became = row.verdict.replace("_", " ")
    words = f"{became}: {row.reason}" if row.verdict != "duplicate" else row.reason
    if row.also_in:
        others = ", ".join(f"{other.source} {other.location or other.id}" for other in row.also_in)
        words += f"; also in {others}"
    return [
        f"{row.scores['score']:.3f}",
        *(f"{row.scores[name]:.2f}" if name in row.scores else "" for name in components),
        row.source,
        _cut(row.id, _ID_WIDTH),
        _cut(row.title, _TITLE_WIDTH),
        words,
    ]


def _cut(text: str, width: int) -> str:
    """Shorten a text to one line by cutting its middle."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    head = (width - 1) // 2
    return f"{line[:head]}…{line[len(line) - (width - 1 - head) :]}"
