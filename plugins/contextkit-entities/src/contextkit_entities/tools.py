"""Agent tools to remember, relate, find and forget entities.

Among them are `remember_entity`, `relate_entities` and `find_related`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, cast

from contextkit import Tool, ToolResult
from contextkit.sources import OUTCOME, gives, takes_parts
from contextkit_entities.book import EntityBook
from contextkit_entities.entity import Entity
from contextkit_entities.relation import Relation
from contextkit_entities.showing import (
    entity_text,
    forgotten_line,
    relation_line,
    stored_line,
)

if TYPE_CHECKING:
    from contextkit import ContextKit


_Name = Annotated[str, "the entity's name, alias or id"]
_Properties = Annotated[
    dict[str, str | int | float | bool | None] | None,
    "what is known of it; null takes a property away",
]


class _Relation(TypedDict):
    source: str
    type: str
    target: str
    source_id: str
    target_id: str
    weight: float
    properties: dict[str, Any]
    origin: Literal["hand", "code"]
    scope: Literal["project", "user"]
    created_at: str


class _Step(_Relation):
    depth: Annotated[int, "1 for a relation of the entity itself"]


class _StoredRelation(_Relation):
    outcome: Literal["stored", "updated", "unchanged"]


class _Related(TypedDict):
    entity: Entity
    relations: Annotated[list[_Step], "those that say most of it first"]


def _relation(relation: Relation) -> _Relation:
    return cast("_Relation", relation.as_dict())


@gives({**Entity.json_types(), "outcome": OUTCOME})
@takes_parts(Entity, "name", "type", "aliases", "salience")
def _remember(
    kit: ContextKit,
    properties: _Properties = None,
    for_all_projects: Annotated[bool, "true for what is the user's everywhere"] = False,
    **given: Any,
) -> Any:
    name, kind = given.pop("name"), given.pop("type", None)
    entity = EntityBook.of(kit).add(
        name, kind, properties=properties, **given, shared=for_all_projects
    )
    return ToolResult({**entity.as_dict(), "outcome": entity.outcome}, stored_line(entity))


def _relate(
    kit: ContextKit,
    source: _Name,
    type: Annotated[str, "what the relation is: uses, depends on, owned by, …"],  # noqa: A002
    target: _Name,
    weight: Annotated[float | None, "how strong it is, 0 to 1; default: 1"] = None,
    properties: _Properties = None,
) -> ToolResult[_StoredRelation]:
    book = EntityBook.of(kit)
    relation = book.relate(source, type, target, weight=weight, properties=properties)
    data = {**relation.as_dict(), "outcome": relation.outcome}
    return ToolResult(cast("_StoredRelation", data), relation_line(relation))


def _find(
    kit: ContextKit,
    entity: _Name,
    depth: Annotated[int, "1 for its own relations, 2 for those of what they lead to"] = 1,
    limit: Annotated[int, "how many relations at most"] = 20,
) -> ToolResult[_Related]:
    book = EntityBook.of(kit)
    found, steps = book.find(entity), book.related(entity, depth=depth, limit=limit)
    relations = [cast("_Step", {**s.relation.as_dict(), "depth": s.depth}) for s in steps]
    data = {"entity": found.as_dict(), "relations": relations}
    return ToolResult(cast("_Related", data), entity_text(found, steps))


@gives({**Entity.json_types(), "relations": Annotated[int, "how many relations went with it"]})
def _forget(kit: ContextKit, entity: _Name) -> Any:
    forgotten, relations = EntityBook.of(kit).forget(entity)
    data = {**forgotten.as_dict(), "relations": relations}
    return ToolResult(data, forgotten_line(forgotten, relations))


def _unrelate(
    kit: ContextKit,
    source: _Name,
    type: Annotated[str, "the relation's type"],  # noqa: A002
    target: _Name,
) -> ToolResult[_Relation]:
    relation = EntityBook.of(kit).unrelate(source, type, target)
    return ToolResult(_relation(relation), f"Removed: {relation.text}")


TOOLS = (
    Tool(
        name="remember_entity",
        description=(
            "Store something that has a name (a service, a person, a table, an idea) and what is "
            "known of it. The same name again changes the one that is there. What the code "
            "defines and imports is known already."
        ),
        run=_remember,
    ),
    Tool(
        name="relate_entities",
        description="Store how one entity stands to another. Both must be known.",
        run=_relate,
    ),
    Tool(
        name="find_related",
        description=(
            "What is known of an entity, and what it is related to: what uses a class, what a "
            "file imports, what a service depends on."
        ),
        run=_find,
        read_only=True,
    ),
    Tool(
        name="forget_entity",
        description="Delete an entity for good, with its relations.",
        run=_forget,
        destructive=True,
    ),
    Tool(
        name="unrelate_entities",
        description="Delete one relation between two entities for good.",
        run=_unrelate,
        destructive=True,
    ),
)
"""Agent tools for entities."""
