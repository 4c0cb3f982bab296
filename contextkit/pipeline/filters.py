"""Apply the request's own filters.

Filters are pushed down to the store where possible, and checked again on the results.

A source may apply the filters as it likes. Items that do not meet them are dropped before anything
is ranked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from attrs import evolve, frozen

from contextkit.models.candidate import Candidate, Scores
from contextkit.models.copying import copied
from contextkit.models.items import ContextItem
from contextkit.models.record import NO_TIME, Range, Record
from contextkit.models.request import ContextRequest
from contextkit.models.source import SourceInfo
from contextkit.pipeline.gather import Answer, Question
from contextkit.pipeline.select import Dropped
from contextkit.sources.validity import Validity, with_validity


@frozen
class Filtered:
    """The answers after filtering, and the items that were dropped."""

    answers: list[Answer]
    dropped: list[Dropped]


def with_filters(
    request: ContextRequest, info: SourceInfo, source: str, sources: Collection[str]
) -> ContextRequest:
    """Narrow a source's request by filters applied later.

    The record fields that the source declares become filters, unless the request has a filter on
    the same field. The limit grows by the number of items that are left out.

    Args:
        request: as the source's section has it.
        info: the source's own description.
        source: its name.
        sources: all sources' names.
    """
    return copied(
        request,
        filters={**_on_records(request, info), **request.filters},
        limit=request.limit + request.further + _excludable(request, source, sources),
    )


def _on_records(request: ContextRequest, info: SourceInfo) -> dict[str, Any]:
    filters: dict[str, Any] = {}
    if request.kinds and info.kind_field:
        filters[info.kind_field] = list(request.kinds)
    if request.entity_types and info.entity_type_field:
        filters[info.entity_type_field] = list(request.entity_types)
    # A lasting record may have been written down after it became true.
    until = None if info.updates else request.as_of
    if info.dated and (request.since is not None or until is not None):
        filters["created_at"] = Range(gte=request.since, lte=until)
    return filters


def _excludable(request: ContextRequest, source: str, sources: Collection[str]) -> int:
    """Count the excluded ids that may belong to this source."""
    others = [name for name in sources if name != source]
    return sum(1 for name in request.exclude if name.partition(":")[0] not in others)


def filter_items(
    questions: Sequence[Question], answers: Sequence[Answer], infos: Sequence[SourceInfo]
) -> Filtered:
    """Drop items that fail their request's filters.

    Items beyond their section's limit are dropped next.

    Args:
        questions: one per section.
        answers: one per question, in the same order.
        infos: the description of each one's source.
    """
    filtered = Filtered([], [])
    for question, answer, info in zip(questions, answers, infos, strict=True):
        reasons = [refusal(item, question.request, info) for item in answer.items]
        wanted = [i for i, why in zip(answer.items, reasons, strict=True) if why is None]
        filtered.answers.append(_without(answer, tuple(wanted[: question.limit])))
        filtered.dropped.extend(
            Dropped(_unranked(item, answer.section.key), "filtered", why)
            for item, why in zip(answer.items, reasons, strict=True)
            if why is not None
        )
    return filtered


def _without(answer: Answer, items: tuple[ContextItem, ...]) -> Answer:
    if answer.items and not items:
        reason = "all results were removed by the request's filters"
        return evolve(answer, items=(), state="empty", reason=reason)
    return evolve(answer, items=items) if len(items) != len(answer.items) else answer


def _unranked(item: ContextItem, section: str) -> Candidate:
    scores = Scores(relevance=item.relevance, match=0.0, salience=0.0, recency=0.0, priority=0.0)
    return Candidate(item=item, section=section, scores=scores)


def refusal(item: ContextItem, request: ContextRequest, info: SourceInfo) -> str | None:
    """Return the reason why a request excludes an item.

    Returns None where it does not.
    """
    if item.id in request.exclude or f"{item.source}:{item.id}" in request.exclude:
        return "the request excludes its id"
    kind = item.kind or item.source
    if request.kinds and kind not in request.kinds:
        return f"its kind is '{kind}', not {_or(request.kinds)}"
    made = item.created_at
    if request.since and made is not None and made != NO_TIME and made < request.since:
        return f"its date is {made:%Y-%m-%d %H:%M %Z}, before {request.since:%Y-%m-%d %H:%M %Z}"
    if made is not None and made != NO_TIME:
        span = Validity(item.valid_from or made, item.valid_until)
        if (refused := span.refusal(request)) is not None:
            return refused
    if request.entity_types and info.entity_type_field:
        entity_type = item.metadata.get(info.entity_type_field)
        if entity_type not in request.entity_types:
            named = f"'{entity_type}'" if entity_type else "none"
            return f"its entity type is {named}, not {_or(request.entity_types)}"
    return None


def record_refusal(record: Record, request: ContextRequest, info: SourceInfo) -> str | None:
    """Return the reason why a request excludes a record.

    Only fields that the source declares for its items are compared. Returns None where the request
    accepts the record.
    """
    fields = record.fields
    kind = str(fields.get(info.kind_field, "")) if info.kind_field else ""
    item = ContextItem(
        record.source,
        record.text,
        0.0,
        id=record.id,
        kind=kind,
        created_at=record.created_at if info.dated else None,
        metadata=fields,
    )
    item = with_validity(item, record)
    return refusal(item, request if kind else evolve(request, kinds=()), info)


def _or(names: Sequence[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)
