"""Find a request's entities, by mentions and by search."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from attrs import frozen

from contextkit import (
    ContextItem,
    ContextRequest,
    Hit,
    InvalidRequestError,
    RecordsView,
)
from contextkit.concurrency import in_thread
from contextkit_entities.entity import BY_HAND, ENTITY, FROM_CODE, MODULE, Entity
from contextkit_entities.mentions import Mentions, mentions_in
from contextkit_entities.words import key_of

_MENTION = 2.0
_FROM_CODE = 5
_LEAST_FROM_CODE = 0.6
"""Least score of an entity from the code.

The code source finds code: an entity beside it says little, and must answer most of the query.
"""

_HIGHLY_SALIENT = ("9", "10")
"""Field `band` of the entities that may be shown without a mention."""
_MOST_SALIENT = 10
_SALIENT_FIT = 1 / 3
"""Fit of an entity that is only salient.

A good match of the search comes before it.
"""

_MOST_MENTIONED = 2_000
_TITLE = 60


@frozen
class Found:
    """An entity that answers a request.

    Attributes:
        entity: the entity.
        fit: 1 where the request mentions it; else half of the search's score, as a mention counts
            double; a third for an entity that is only highly salient.
        mentioned: whether the request mentions it.
    """

    entity: Entity
    fit: float
    mentioned: bool

    @property
    def relevance(self) -> float:
        """Return the fit, reduced by low salience, 0..1.

        The reduction is half at most.
        """
        return self.fit * (0.5 + 0.5 * self.entity.salience)


async def find_entities(request: ContextRequest, records: RecordsView) -> list[Found]:
    """Return the entities that a request mentions or matches.

    They are sorted best first, each once.

    Args:
        request: the request, without its filters on types.
        records: the records of the source `entities`.
    """
    filters = {**request.filters, "kind": ENTITY}
    mentions = mentions_in(_query_and_names(request))
    named, *hits = await asyncio.gather(
        in_thread(lambda: mentioned(mentions, records, filters)),
        _search(request, records, {**filters, "origin": BY_HAND}, request.limit),
        _search(request, records, {**filters, "origin": FROM_CODE}, _FROM_CODE),
    )
    from_code = [hit for hit in hits[1] if hit.relevance >= _LEAST_FROM_CODE]
    return _best_first(named, [*hits[0], *from_code])[: request.limit]


def with_salient(
    found: Sequence[Found], records: RecordsView, filters: Mapping[str, Any]
) -> list[Found]:
    """Add up to ten highly salient entities, best first; blocks.

    An entity is highly salient if it was given a salience of 0.9 or more. Entities from the code
    have a computed salience, and need a mention or a match.

    Args:
        found: the entities found for the request.
        records: the records of the source `entities`.
        filters: the request's filters, without those on types of entities.
    """
    if filters.get("origin", BY_HAND) != BY_HAND:
        return list(found)
    salient = {"origin": BY_HAND, "kind": ENTITY, "band": _HIGHLY_SALIENT}
    scanned = islice(records.scan({**filters, **salient}), _MOST_MENTIONED)
    known = {each.entity.id for each in found}
    others = [each for each in map(Entity.from_record, scanned) if each.id not in known]
    others.sort(key=lambda each: (-each.salience, each.id))
    added = [Found(each, _SALIENT_FIT, mentioned=False) for each in others[:_MOST_SALIENT]]
    return sorted([*found, *added], key=lambda each: (-each.relevance, each.entity.id))


def _query_and_names(request: ContextRequest) -> str:
    """Return the query, followed by names that plugins add.

    Plugins know that the query means these names.
    """
    more = [name for name in request.signals.entities if name not in request.query]
    return "\n".join([request.query, *more])


async def _search(
    request: ContextRequest, records: RecordsView, filters: Mapping[str, Any], limit: int
) -> list[Hit]:
    if request.filters.get("origin", filters["origin"]) != filters["origin"]:
        return []
    return await records.search(request.query, limit=limit, filters=filters)


def mentioned(mentions: Mentions, records: RecordsView, filters: Mapping[str, Any]) -> list[Entity]:
    """Return the entities that have a mentioned name; blocks.

    Of entities from code, a name that is an everyday word (`run`, `Store`) counts only where it is
    written as code, in its own case; that of a module (`click`) also where the query speaks of
    using or importing something.
    """
    if not mentions.keys:
        return []
    wanted = {**filters, "names": mentions.keys}
    found = islice(records.scan(wanted), _MOST_MENTIONED)
    entities = [Entity.from_record(record) for record in found]
    meant = {each.id: _meant_keys(each, mentions) for each in entities}
    longest = mentions.longest(key for keys in meant.values() for key in keys)
    return [each for each in entities if longest.intersection(meant[each.id])]


def _meant_keys(entity: Entity, mentions: Mentions) -> list[str]:
    keys = [key for key in entity.keys if key in mentions.spans]
    name = entity.name
    plain = name.isalpha() and (name.islower() or name.istitle())
    meant = name in mentions.as_code or (entity.type == MODULE and mentions.of_modules)
    if entity.origin == FROM_CODE and plain and not meant:
        keys = [key for key in keys if key != key_of(name)]
    return keys


def _best_first(named: Iterable[Entity], hits: Iterable[Hit]) -> list[Found]:
    found = [Found(entity, 1.0, mentioned=True) for entity in named]
    searched = ((Entity.from_record(hit.record), hit.relevance) for hit in hits)
    found += [Found(entity, fit / _MENTION, mentioned=False) for entity, fit in searched]
    best: dict[str, Found] = {}
    for each in found:
        known = best.get(each.entity.id)
        if known is None or _rank(each) > _rank(known):
            best[each.entity.id] = each
    return sorted(best.values(), key=lambda each: (-each.relevance, each.entity.id))


def _rank(found: Found) -> tuple[bool, float]:
    # If an id is in both scopes, the project's entity is used.
    return found.entity.scope == "project", found.fit


def entity_item(found: Found) -> ContextItem:
    """Return an entity as an item of the source `entities`."""
    entity = found.entity
    return ContextItem(
        source="entities",
        content=entity.text,
        relevance=found.relevance,
        id=entity.id,
        kind="entity",
        title=entity.name[:_TITLE],
        # Two entities of one name are distinct: an id in backticks is no ordinary word.
        text="\n".join([f"`{entity.id}`", entity.text, *entity.aliases]),
        # No time: facts about an entity do not age.
        salience=entity.salience,
        location=entity.location or f"entity {entity.id}",
        metadata={**entity.as_dict(), "mentioned": found.mentioned},
    )


def filter_texts(filters: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a filter.

    Raises `InvalidRequestError` where it has anything else.
    """
    value = filters.get(name, ())
    texts = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise InvalidRequestError(f"filter {name}: expected texts, got {text!r}")
    return texts
