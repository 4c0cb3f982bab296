"""Answer requests of both sources: entities, and relations around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from contextkit import ContextItem, ContextRequest, InvalidRequestError, RecordsView
from contextkit.concurrency import in_thread
from contextkit_entities.entity import Entity
from contextkit_entities.finding import (
    Found,
    entity_item,
    filter_texts,
    find_entities,
    with_salient,
)
from contextkit_entities.settings import MOST_DEPTH
from contextkit_entities.walking import Bounds, Step, walk
from contextkit_entities.words import key_of

ENTITIES = "entities"
"""The source that stores entities and relations."""

_STARTS = 10
_SEARCHED_STARTS = 3
_TITLE = 80
_TYPES = "entity_types"


async def ask_for_entities(request: ContextRequest) -> list[ContextItem]:
    """Return the entities for a request, best first.

    The filters `entity_types` and `type` restrict the types of entities, in any case. The filter
    `depth` is for relations.
    """
    filters = _without(request.filters, _TYPES, "type", "depth")
    wanted = [*_types(request.filters, _TYPES), *_types(request.filters, "type")]
    if wanted:
        filters["type"] = wanted
    if request.records.known_empty:
        return []
    found = await find_entities(evolve(request, filters=filters), request.records)
    salient = await in_thread(lambda: with_salient(found, request.records, filters))
    return [entity_item(each) for each in salient[: request.limit]]


async def ask_for_relations(request: ContextRequest) -> list[ContextItem]:
    """Return the relations around a request's entities, best first.

    Its `entity_types` restrict the type of at least one end, and its `depth` overrides the setting
    of that name. Filters of these names work as well, and `type` restricts the types of relations.

    Raises `InvalidRequestError` if one of these is invalid.
    """
    entities = request.records.others(ENTITIES)
    types = [*_types(request.filters, _TYPES), *map(_as_type, request.entity_types)]
    kinds = _types(request.filters, "type")
    # If only some types are wanted, more relations are walked than shown.
    enough = Bounds().enough if types or kinds else request.limit
    bounds = Bounds(depth=_depth(request), least=request.min_relevance, enough=enough)
    filters = _without(request.filters, _TYPES, "type", "depth")
    if entities.known_empty:
        return []
    found = await find_entities(evolve(request, filters=filters), entities)
    steps = await in_thread(lambda: walk(entities, _starts(found), bounds))
    steps = [step for step in steps if not kinds or step.relation.type in kinds]
    if types:
        steps = await in_thread(lambda: _of_types(entities, steps, types))
    aliases = {each.entity.id: each.entity.aliases for each in found}
    return [_item(step, aliases) for step in steps[: request.limit]]


def _starts(found: Sequence[Found]) -> dict[str, float]:
    """Return the walk's starts: mentioned entities, else the best hits."""
    named = [each for each in found if each.mentioned][:_STARTS]
    return {each.entity.id: each.fit for each in named or found[:_SEARCHED_STARTS]}


def _of_types(records: RecordsView, steps: Sequence[Step], types: Sequence[str]) -> list[Step]:
    ends = {end for step in steps for end in (step.relation.source_id, step.relation.target_id)}
    entities = map(Entity.from_record, records.get(*sorted(ends)))
    wanted = {entity.id for entity in entities if entity.type in types}
    return [s for s in steps if wanted & {s.relation.source_id, s.relation.target_id}]


def _item(step: Step, aliases: Mapping[str, Sequence[str]]) -> ContextItem:
    relation = step.relation
    ends = (relation.source_id, relation.target_id)
    # A question may give an entity's alias, which no relation shows.
    also = " ".join(alias for end in ends for alias in aliases.get(end, ()))
    return ContextItem(
        source="relations",
        content=relation.text,
        relevance=min(1.0, step.score),
        id=relation.id,
        kind="relation",
        title=relation.text[:_TITLE],
        # Two relations that differ in one name are distinct: in backticks no name is an ordinary
        # word.
        text=f"`from:{relation.source_id}` `{relation.type}` `to:{relation.target_id}` {also}",
        salience=relation.weight,
        metadata={**relation.as_dict(), "depth": step.depth},
    )


def _depth(request: ContextRequest) -> int:
    usual = request.settings["depth"] if request.depth is None else request.depth
    wanted = request.filters.get("depth", min(usual, MOST_DEPTH))
    if type(wanted) is not int or not 0 <= wanted <= MOST_DEPTH:
        raise InvalidRequestError(
            f"filter depth: expected a whole number from 0 to {MOST_DEPTH}, got {wanted!r}"
        )
    return wanted


def _types(filters: Mapping[str, Any], name: str) -> list[str]:
    return [_as_type(text) for text in filter_texts(filters, name)]


def _as_type(text: str) -> str:
    return key_of(text.replace("_", " "))


def _without(filters: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if name not in names}
