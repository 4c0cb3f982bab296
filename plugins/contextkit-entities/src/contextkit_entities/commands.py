"""The commands `contextkit entities ...`."""

from __future__ import annotations

from typing import Any

import click

from contextkit.cli import Session, json_option, part_options, pass_session
from contextkit_entities.book import EntityBook
from contextkit_entities.entity import Entity
from contextkit_entities.settings import DEPTH, MOST_DEPTH
from contextkit_entities.showing import (
    entity_lines,
    entity_text,
    forgotten_line,
    relation_line,
    stored_line,
)

_Properties = dict[str, str | None]


def _pairs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> _Properties:
    """Parse `KEY=VALUE` as properties; without a value, remove the property."""
    found: _Properties = {}
    for pair in given:
        key, parted, value = pair.partition("=")
        if not parted or not key.strip():
            raise click.BadParameter(f"expected KEY=VALUE, got {pair!r}")
        found[key] = value or None
    return found


_properties = click.option(
    "-p",
    "--property",
    "properties",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_pairs,
    help="A property; KEY= removes it. Repeatable.",
)


@click.group()
def entities() -> None:
    """Record entities and their relations.

    \b
    Example: contextkit entities show Billing
    """


@entities.command()
@click.argument("name")
@part_options(Entity, "type")
@_properties
@part_options(Entity, "aliases", "salience")
@click.option("--global", "shared", is_flag=True, help="For all your projects.")
@json_option
@pass_session
def add(session: Session, /, name: str, shared: bool, as_json: bool, **given: Any) -> None:
    """Add or change the entity NAME.

    \b
    Example: contextkit entities add Billing --type service --property owner=Ana
    """
    kind, given["aliases"] = given.pop("type"), given["aliases"] or None
    entity = EntityBook.of(session.kit).add(name, kind, **given, shared=shared)
    session.emit({**entity.as_dict(), "outcome": entity.outcome}, stored_line(entity), as_json)


@entities.command()
@click.argument("source")
@click.argument("kind", metavar="TYPE")
@click.argument("target")
@click.option("--weight", type=float, help="Strength, 0 to 1; default: 1.")
@_properties
@json_option
@pass_session
def relate(
    session: Session,
    source: str,
    kind: str,
    target: str,
    weight: float | None,
    properties: _Properties,
    as_json: bool,
) -> None:
    """Add the relation TYPE from SOURCE to TARGET.

    \b
    Example: contextkit entities relate Billing "depends on" Stripe
    """
    book = EntityBook.of(session.kit)
    relation = book.relate(source, kind, target, weight=weight, properties=properties)
    data = {**relation.as_dict(), "outcome": relation.outcome}
    session.emit(data, relation_line(relation), as_json)


@entities.command("list")
@click.option("-t", "--type", "kind", help="Only entities of this type.")
@click.option(
    "--from-code", is_flag=True, help="Entities from the code instead of those made by hand."
)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@json_option
@pass_session
def list_entities(
    session: Session, kind: str | None, from_code: bool, limit: int, as_json: bool
) -> None:
    """List entities, most salient first.

    \b
    Example: contextkit entities list --type service
    """
    book = EntityBook.of(session.kit)
    found = book.list(kind=kind, from_code=from_code, limit=limit)
    total = book.count(kind=kind, from_code=from_code)
    session.emit([each.as_dict() for each in found], entity_lines(found, total), as_json)


@entities.command()
@click.argument("name")
@click.option("--depth", type=click.IntRange(1, MOST_DEPTH), default=DEPTH, show_default=True)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@json_option
@pass_session
def show(session: Session, name: str, depth: int, limit: int, as_json: bool) -> None:
    """Show the entity NAME and its relations.

    \b
    Example: contextkit entities show Billing --depth 1
    """
    book = EntityBook.of(session.kit)
    entity, steps = book.find(name), book.related(name, depth=depth, limit=limit)
    relations = [{**step.relation.as_dict(), "depth": step.depth} for step in steps]
    data = {**entity.as_dict(), "relations": relations}
    session.emit(data, entity_text(entity, steps), as_json)


@entities.command()
@click.argument("name")
@json_option
@pass_session
def forget(session: Session, name: str, as_json: bool) -> None:
    """Delete the entity NAME and its relations.

    \b
    Example: contextkit entities forget Billing
    """
    entity, relations = EntityBook.of(session.kit).forget(name)
    data = {**entity.as_dict(), "relations": relations}
    session.emit(data, forgotten_line(entity, relations), as_json)


@entities.command()
@click.argument("source")
@click.argument("kind", metavar="TYPE")
@click.argument("target")
@json_option
@pass_session
def unrelate(session: Session, source: str, kind: str, target: str, as_json: bool) -> None:
    """Delete the relation TYPE from SOURCE to TARGET.

    \b
    Example: contextkit entities unrelate Billing "depends on" Stripe
    """
    relation = EntityBook.of(session.kit).unrelate(source, kind, target)
    session.emit(relation.as_dict(), f"Removed: {relation.text}", as_json)
