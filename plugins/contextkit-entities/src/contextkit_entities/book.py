"""Store, relate, find and delete entities of project and user."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from contextkit import InvalidRequestError, Record, Records
from contextkit.models import belongs_to_user
from contextkit.sources import Book, changed, checked_limit
from contextkit_entities.entity import BY_HAND, ENTITY, FROM_CODE, Entity, id_of
from contextkit_entities.errors import (
    AmbiguousEntityError,
    InvalidEntityError,
    UnknownEntityError,
    UnknownRelationError,
)
from contextkit_entities.relation import RELATION, Relation, relation_id
from contextkit_entities.settings import DEPTH, MOST_DEPTH
from contextkit_entities.walking import Bounds, Step, walk
from contextkit_entities.words import (
    key_of,
    name_keys,
    stored_measure,
    stored_properties,
    stored_type,
)

_Steps = list[Step]


class EntityBook(Book[Entity]):
    """The entities and relations that one project sees.

    These are its own and the user's. An entity is identified by its name, by an alias, or by its
    id.

    ```python
    book = EntityBook.of(kit)
    book.add("Billing", "service", properties={"owner": "Ana"}, salience=0.8)
    book.add("Stripe", "service")
    book.relate("Billing", "depends on", "Stripe")
    ```
    """

    source, entry = "entities", Entity

    def add(
        self,
        name: str,
        kind: str | None = None,
        *,
        properties: Mapping[str, Any] | None = None,
        aliases: Iterable[str] | None = None,
        salience: float | None = None,
        shared: bool = False,
    ) -> Entity:
        """Store an entity, or change one of the same name.

        An entity is changed only within the same scope.

        Arguments that are None get their default in a new entity, and leave an existing one as it
        is.

        Args:
            name: its name, up to 200 characters.
            kind: its type, up to 40 characters; default `concept`.
            properties: its properties: name -> text, number or truth value. They are merged with
                the existing ones; None removes one.
            aliases: other names of it, up to 20.
            salience: its importance regardless of the query, 0..1; default 0.5.
            shared: True for an entity of the user, seen in every project.

        Returns:
            The entity as it is stored; its `outcome` tells whether it is new.

        Raises:
            InvalidEntityError: a part has an invalid value; nothing was stored.
        """
        given = Entity.checked(
            {"name": name, "type": kind, "aliases": aliases, "salience": salience}
        )
        scope = self.scope(shared)
        with self.turn():
            entity_id = Entity.new_id(given, datetime.now(UTC))
            known = _entity_in(scope, entity_id)
            before = known.properties if known else {}
            given["properties"] = stored_properties(properties or {}, before)
            if known is None:
                entity = self.new(entity_id, given, scope)
            else:
                # Its relations contain its name as it was first written.
                keys = name_keys((known.name, *given.get("aliases", known.aliases)))
                entity = changed(known, {**given, "name": known.name, "keys": keys})
            if entity.outcome != "unchanged":
                scope.put([entity.as_record()])
        return entity

    def relate(
        self,
        source: str,
        kind: str,
        target: str,
        *,
        weight: float | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> Relation:
        """Store a relation between two entities.

        An existing relation of the same type between them is changed.

        It belongs to the user if both entities do, else to the project. On a host with many users,
        an end that belongs to a user makes the relation that user's, because everyone sees the
        project's.

        Args:
            source: the entity that it starts from.
            kind: its type, up to 40 characters, such as `uses`.
            target: the entity that it leads to.
            weight: its strength, 0..1; default 1.
            properties: its properties, as in `add`.

        Returns:
            The relation as it is stored; its `outcome` tells whether it is new.

        Raises:
            InvalidEntityError: a part has an invalid value; nothing was stored.
            UnknownEntityError: an end is not a known entity.
            AmbiguousEntityError: the name of an end fits several entities.
        """
        given: dict[str, Any] = {"type": stored_type(kind)}
        if weight is not None:
            given["weight"] = stored_measure("weight", weight)
        with self.turn():
            ends = self.find(source), self.find(target)
            scope = self._scope_between(ends)
            known = _relation_in(scope, relation_id(ends[0].id, given["type"], ends[1].id))
            before = known.properties if known else {}
            given["properties"] = stored_properties(properties or {}, before)
            relation = _related(known, ends, given, scope.project)
            if relation.outcome != "unchanged":
                scope.put([relation.as_record()])
        return relation

    def find(self, name: str) -> Entity:
        """Return the entity with this id, name or alias.

        Entities made by hand come before those from code.

        Raises:
            UnknownEntityError: no entity matches.
            AmbiguousEntityError: several entities have this name.
        """
        if exact := self._with_id(name) or self._with_id(id_of(name)):
            return exact
        key = key_of(name)
        same = self.records.scan({"kind": ENTITY, "names": [key]}) if key else iter(())
        every = {entity.id: entity for entity in map(Entity.from_record, same)}
        found = list(every.values())
        for narrower in (
            [each for each in found if each.origin == BY_HAND],
            [each for each in found if each.name == name],
        ):
            found = narrower or found
        if not found:
            raise UnknownEntityError(name)
        if len(found) > 1:
            raise AmbiguousEntityError(name, sorted(entity.id for entity in found))
        return found[0]

    def list(
        self, limit: int = 20, *, kind: str | None = None, from_code: bool = False, **filters: Any
    ) -> builtins.list[Entity]:
        """List entities, the most salient first.

        Args:
            limit: the most entities to return.
            kind: only entities of this type.
            from_code: list entities from the code instead of those made by hand.
            filters: the filters of `Book.list`.

        Raises:
            InvalidEntityError: the type is invalid.
            InvalidRequestError: the limit is below 1.
        """
        found = self.records.scan({**filters, **_filters(kind, from_code)})
        every = map(Entity.from_record, found)
        return sorted(every, key=lambda it: (-it.salience, it.id))[: checked_limit(limit)]

    def count(self, *, kind: str | None = None, from_code: bool = False, **filters: Any) -> int:
        """Count the entities; takes the arguments of `list`."""
        return self.records.count({**filters, **_filters(kind, from_code)})

    def related(self, name: str, *, depth: int = DEPTH, limit: int = 20) -> _Steps:
        """Return the relations around an entity, the most relevant first.

        Args:
            name: the entity.
            depth: 1 for its own relations, up to 5.
            limit: the most relations to return.

        Raises:
            UnknownEntityError: no entity has this name.
            AmbiguousEntityError: several entities have this name.
            InvalidRequestError: depth or limit is invalid.
        """
        checked_limit(limit)
        if not 1 <= depth <= MOST_DEPTH:
            raise InvalidRequestError(f"depth must be within 1 and {MOST_DEPTH}, got {depth}")
        entity = self.find(name)
        return walk(self.records, {entity.id: 1.0}, Bounds(depth=depth, enough=limit))[:limit]

    def forget(self, name: str) -> tuple[Entity, int]:
        """Delete an entity made by hand, with its relations.

        Returns:
            What was forgotten, and how many relations.

        Raises:
            UnknownEntityError: no entity has this name.
            AmbiguousEntityError: several entities have this name.
            InvalidEntityError: it comes from the code, which would bring it back.
        """
        with self.turn():
            entity = self.find(name)
            if entity.origin == FROM_CODE:
                raise InvalidEntityError(
                    f"{entity.id} comes from the code and goes when the code does; "
                    f'[sources.entities] code_source = "" switches all of those off'
                )
            scope = self.scope(shared=entity.project != self.records.project)
            relations = 0
            # An entity of the same id in the other scope keeps its relations.
            if len(self.records.get(entity.id)) == 1:
                relations = self.records.count({"kind": RELATION, "ends": [entity.id]})
                for each in (self.records, self.records.shared):
                    each.delete_where({"kind": RELATION, "ends": [entity.id]})
            scope.scopes[0].delete(entity.id)
        return entity, relations

    def unrelate(self, source: str, kind: str, target: str) -> Relation:
        """Delete a relation.

        Raises:
            UnknownRelationError: the two have no relation of this type.
            InvalidEntityError: it comes from the code, which would bring it back.
            UnknownEntityError: an end is not a known entity.
            AmbiguousEntityError: the name of an end fits several entities.
        """
        with self.turn():
            ends = self.find(source).id, stored_type(kind), self.find(target).id
            found = self.records.get(relation_id(*ends))
            if not found:
                if self.records.get(relation_id(*ends, FROM_CODE)):
                    raise InvalidEntityError(
                        f"{source} --[{kind}]--> {target} comes from the code and goes when the "
                        f"code does"
                    )
                raise UnknownRelationError(f"{source} --[{kind}]--> {target}")
            self.records.delete(found[0].id)
        return Relation.from_record(found[0])

    def _scope_between(self, ends: Iterable[Entity]) -> Records:
        of_user = [belongs_to_user(end.project) for end in ends]
        enough = any(of_user) if self.records.has_other_users else all(of_user)
        return self.records.shared if enough else self.records

    def _with_id(self, entity_id: str) -> Entity | None:
        found = [r for r in self.records.get(entity_id) if _is_entity(r)] if entity_id else []
        own = [record for record in found if record.project == self.records.project]
        return Entity.from_record((own or found)[0]) if found else None


def _is_entity(record: Record) -> bool:
    return record.fields.get("kind") == ENTITY


def _entity_in(scope: Records, entity_id: str) -> Entity | None:
    found = [r for r in scope.get(entity_id) if r.project == scope.project and _is_entity(r)]
    return Entity.from_record(found[0]) if found else None


def _relation_in(scope: Records, asked: str) -> Relation | None:
    found = [record for record in scope.get(asked) if record.project == scope.project]
    return Relation.from_record(found[0]) if found else None


def _related(
    known: Relation | None, ends: tuple[Entity, Entity], given: dict[str, Any], project: str
) -> Relation:
    if known is None:
        return Relation(
            source_id=ends[0].id,
            target_id=ends[1].id,
            source=ends[0].name,
            target=ends[1].name,
            created_at=datetime.now(UTC),
            project=project,
            outcome="stored",
            **given,
        )
    after = evolve(known, source=ends[0].name, target=ends[1].name, **given)
    return known if after == known else evolve(after, outcome="updated")


def _filters(kind: str | None, from_code: bool) -> dict[str, Any]:
    filters: dict[str, Any] = {"kind": ENTITY, "origin": FROM_CODE if from_code else BY_HAND}
    if kind is not None:
        filters["type"] = stored_type(kind)
    return filters
