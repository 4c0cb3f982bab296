"""Entities and relations as text, for people and agents."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit_entities.entity import Entity
from contextkit_entities.relation import Relation
from contextkit_entities.walking import Step

_DID = {"stored": "Added", "updated": "Updated", "unchanged": "Already there:"}
_RELATED = {"stored": "Related:", "updated": "Updated:", "unchanged": "Already there:"}


def stored_line(entity: Entity) -> str:
    """Describe the result of adding an entity."""
    whose = "all your projects" if entity.scope == "user" else "this project"
    return f"{_DID[entity.outcome]} {entity.name} ({entity.type}, {whose})"


def relation_line(relation: Relation) -> str:
    """Describe the result of relating two entities."""
    return f"{_RELATED[relation.outcome]} {relation.text}"


def forgotten_line(entity: Entity, relations: int) -> str:
    """Describe the result of deleting an entity."""
    also = {0: "", 1: " and 1 relation"}.get(relations, f" and {relations} relations")
    return f"Forgot {entity.name}{also}"


def entity_lines(entities: Sequence[Entity], total: int) -> str:
    """List entities, one per line, and the total if larger."""
    width = max((len(entity.type) for entity in entities), default=0)
    lines = [
        f"{each.salience:.2f}  {each.type:<{width}}  {each.name}{_known(each)}" for each in entities
    ]
    if total > len(entities):
        lines.append(f"{len(entities)} of {total} entities")
    return "\n".join(lines) or "No entities."


def entity_text(entity: Entity, steps: Sequence[Step]) -> str:
    """Show an entity with the relations around it."""
    aliases = f"\nalso called: {', '.join(entity.aliases)}" if entity.aliases else ""
    where = f"\nin: {entity.location}" if entity.location else ""
    head = f"{entity.name} ({entity.type}, salience {entity.salience:.2f}){_known(entity)}"
    return f"{head}{aliases}{where}\n{related_lines(steps)}"


def related_lines(steps: Sequence[Step]) -> str:
    """List relations, one per line, farther ones indented."""
    lines = [f"{'  ' * step.depth}{step.relation.text}" for step in steps]
    return "\n".join(lines) or "  No relations."


def _known(entity: Entity) -> str:
    said = ", ".join(f"{key}: {value}" for key, value in entity.properties.items())
    return f" ({said})" if said else ""
