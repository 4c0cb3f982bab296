"""Explain why an item is in a context or not."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Literal

from attrs import evolve, frozen

from contextkit.concurrency import in_thread
from contextkit.models.items import ContextItem
from contextkit.models.record import Record
from contextkit.models.request import ContextRequest, Recipe
from contextkit.models.trace import ItemTrace, SourceTrace, Trace
from contextkit.pipeline.filters import record_refusal, refusal
from contextkit.pipeline.pipeline import Pipeline
from contextkit.pipeline.recipes import section_requests

Outcome = Literal["in", "dropped", "not_retrieved", "not_found_by_query", "not_asked", "unknown"]

_MOST_ANSWERS = 5
_WIDE_LIMIT = 1000
_WIDE_SECONDS = 10.0
_ANSWERED = ("ok", "empty", "below_floor")


@frozen(kw_only=True)
class ItemExplanation:
    """The outcome for one item, and its reason.

    Attributes:
        asked: the id, title or location that was asked about.
        outcome: `in` the context; `dropped` by a stage, or by the request's filters;
            `not_retrieved`: its source finds it below its limit; `not_found_by_query`: there
            is such a record, and the query does not find it; `not_asked`: its source was not
            asked, or gave no answer; `unknown`: no source knows it.
        words: the answer, for a person.
        source, id: the item's, or None where it is unknown.
        trace: its line in the trace, where it has one.
    """

    asked: str
    outcome: Outcome
    words: str
    source: str | None = None
    id: str | None = None
    trace: ItemTrace | None = None


async def explain_item(
    pipeline: Pipeline, request: ContextRequest, recipe: Recipe, trace: Trace, asked: str
) -> list[ItemExplanation]:
    """Explain an item's outcome in each section that found it.

    Args:
        pipeline: what assembled the context.
        request: the context's request.
        recipe: the context's recipe.
        trace: the context's trace.
        asked: an item's id, the beginning of one, its title, or its location with or
            without the line.

    Returns:
        One answer at least; of many items that are called so, the best five.
    """
    rows = _named(trace.items, asked)
    if rows:
        return [_of_candidate(asked, row, trace) for row in rows[:_MOST_ANSWERS]]
    beyond = await _beyond_the_limit(pipeline, request, recipe, asked)
    return (
        beyond[:_MOST_ANSWERS]
        or await _in_the_store(pipeline, request, trace, asked)
        or [_unknown(asked, trace)]
    )


def _named(rows: Sequence[ItemTrace], asked: str) -> list[ItemTrace]:
    """Find trace rows by id, title or location.

    An exact id comes first, then a title or location, then the beginning of one.
    """
    for fits in (
        lambda row: row.id == asked,
        lambda row: asked in {row.title, row.location, _path(row.location)},
        lambda row: row.id.startswith(asked),
    ):
        if found := [row for row in rows if fits(row)]:
            return found
    return []


def _path(location: str | None) -> str | None:
    path, _, line = (location or "").rpartition(":")
    return path if line.isdigit() else location


def _of_candidate(asked: str, row: ItemTrace, trace: Trace) -> ItemExplanation:
    inside = row.verdict in {"kept", "excerpt", "truncated", "compressed"}
    words = {
        "kept": f"It is in the context in full, with {row.tokens} tokens",
        "excerpt": f"It is in the context with {row.reason}",
        "truncated": f"It is in the context, {row.reason}",
        "compressed": f"It is in the context, {row.reason}",
        "duplicate": f"It was dropped as a {row.reason}, which scored better and stayed",
        "below_floor": f"It was found, but its {row.reason}",
        "over_limit": f"It was found, but {row.reason}",
        "over_budget": _over_budget(row, trace),
        "weak": f"It was found, and left out: {row.reason}",
        "filtered": f"It was found, and left out: {row.reason}",
    }[row.verdict]
    if row.verdict == "filtered":
        return _answer(asked, row, f"{words}.", "dropped")
    rank = trace.items.index(row) + 1
    score = f"score {row.scores['score']:.3f}, number {rank} of {len(trace.items)} candidates"
    return _answer(asked, row, f"{words} ({score}).", "in" if inside else "dropped")


def _answer(asked: str, row: ItemTrace, words: str, outcome: Outcome) -> ItemExplanation:
    return ItemExplanation(
        asked=asked, outcome=outcome, words=words, source=row.source, id=row.id, trace=row
    )


def _over_budget(row: ItemTrace, trace: Trace) -> str:
    if not row.whole_tokens:
        return f"It was found, but {row.reason}"
    shown = [other for other in trace.items if other.tokens and other.section == row.section]
    words = f"It was found, but in a context of {trace.max_tokens} tokens {row.reason}"
    if not shown:
        return f"{words}, and nothing of its section got in"
    weakest = min(other.scores["score"] for other in shown)
    return f"{words}, and the {len(shown)} of its section that got in score {weakest:.3f} or more"


async def _beyond_the_limit(
    pipeline: Pipeline, request: ContextRequest, recipe: Recipe, asked: str
) -> list[ItemExplanation]:
    """Search for an item among results beyond the sources' limits."""
    sources = {section.source for section in recipe.sections}
    wide = evolve(
        request,
        limits=dict.fromkeys(sources, _WIDE_LIMIT),
        timeouts=dict.fromkeys(sources, _WIDE_SECONDS),
        deadline=_WIDE_SECONDS,
    )
    found = []
    asked_of = await pipeline.ask(wide, recipe)
    sections = [question.section for question, _ in asked_of]
    records = [question.request.records for question, _ in asked_of]
    requests = section_requests(pipeline.registry, sections, request, records)
    for (question, answer), limit in zip(asked_of, [r.limit for r in requests], strict=True):
        for place, item in enumerate(answer.items, 1):
            if _is(item, asked):
                words = (
                    f"'{item.source}' finds it in place {place} with relevance "
                    f"{item.relevance:.3f}; the limit is {limit} items"
                )
                info = pipeline.registry.info(item.source)
                refused = refusal(item, question.request, info)
                if refused:
                    words += f", and the request leaves it out: {refused}"
                elif place <= limit:
                    # With more time and a wider limit, the source may answer differently.
                    words += "; it was not among them when the context was assembled"
                found.append(
                    ItemExplanation(
                        asked=asked,
                        outcome="dropped" if refused else "not_retrieved",
                        words=f"{words}.",
                        source=item.source,
                        id=item.id,
                    )
                )
    return found


def _is(item: ContextItem, asked: str) -> bool:
    return asked in {item.id, item.title, item.location, _path(item.location)}


async def _in_the_store(
    pipeline: Pipeline, request: ContextRequest, trace: Trace, asked: str
) -> list[ItemExplanation]:
    """Search all sources' records, including disabled ones, for an id."""
    names = [plugin.name for plugin in pipeline.registry.plugins]
    points = [
        Record(id=asked, text="", source=name, project=project).point_id
        for name in names
        for project in pipeline.records(
            name, request.project, request.user, request.workspace
        ).projects
    ]
    records = await in_thread(lambda: pipeline.store.get(points))
    traced = {source.source: source for source in trace.sources}
    return [
        _of_record(asked, record, traced.get(record.source), pipeline, request)
        for record in records
    ]


def _of_record(
    asked: str,
    record: Record,
    traced: SourceTrace | None,
    pipeline: Pipeline,
    request: ContextRequest,
) -> ItemExplanation:
    name = record.source
    refused = traced and record_refusal(record, request, pipeline.registry.info(name))
    if refused:
        words = f"It is a record of '{name}', and the request leaves it out: {refused}."
    elif traced is None:
        status = next(p for p in pipeline.registry.plugins if p.name == name)
        why = status.reason or "the request did not name it"
        words = f"It is a record of '{name}', which was not asked: {why}."
    elif traced.state not in _ANSWERED:
        words = f"It is a record of '{name}', which gave no answer: {traced.reason}."
    else:
        words = (
            f"It is a record of '{name}', and this query does not find it among the first "
            f"{_WIDE_LIMIT}: it has none of the query's words, and nothing near in meaning."
        )
    asked_and_answered = traced is not None and traced.state in _ANSWERED
    found: Outcome = "not_found_by_query" if asked_and_answered else "not_asked"
    return ItemExplanation(
        asked=asked,
        outcome="dropped" if refused else found,
        words=words,
        source=name,
        id=record.id,
    )


def _unknown(asked: str, trace: Trace) -> ItemExplanation:
    near = difflib.get_close_matches(asked, [row.id for row in trace.items], n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return ItemExplanation(
        asked=asked,
        outcome="unknown",
        words=f"No source has an item of that id, title or location.{hint}",
    )
