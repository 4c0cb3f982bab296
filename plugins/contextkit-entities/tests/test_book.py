"""Entities and relations as a person keeps them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextKit, InvalidRequestError, Record, Records
from contextkit_entities import (
    AmbiguousEntityError,
    Entity,
    EntityBook,
    InvalidEntityError,
    Relation,
    UnknownEntityError,
    UnknownRelationError,
)


def test_an_entity_is_stored_once(book: EntityBook) -> None:
    """Its name again changes what is given and keeps the rest."""
    first = book.add("Billing  Service", "Service", properties={"owner": "Ana", "port": 80})
    assert (first.id, first.name, first.type) == ("billing-service", "Billing Service", "service")
    assert (first.salience, first.outcome, first.scope) == (0.5, "stored", "project")
    assert book.add("Billing Service").outcome == "unchanged"
    again = book.add(
        "billing-service", properties={"owner": "Bo", "port": None}, aliases=["bs"], salience=1
    )
    assert again.outcome == "updated"
    assert dict(again.properties) == {"owner": "Bo"}
    assert (again.type, again.salience, again.created_at) == ("service", 1.0, first.created_at)
    assert book.count() == 1
    assert book.find("BS") == book.find("billing service") == book.find("billing-service") == again


def test_a_relation_is_stored_once(book: EntityBook) -> None:
    """Between two entities there is one of each type; it knows their names."""
    book.add("A", "service", aliases=["Alpha"])
    book.add("B")
    first = book.relate("alpha", "Depends_On", "B", weight=0.5, properties={"since": 2024})
    assert first.text == "A --[depends on]--> B"
    assert (first.weight, first.outcome) == (0.5, "stored")
    assert book.relate("A", "depends on", "b").outcome == "unchanged"
    again = book.relate("A", "depends on", "B", weight=1)
    assert (again.outcome, again.weight, dict(again.properties)) == ("updated", 1, {"since": 2024})
    book.relate("B", "depends on", "A")
    book.relate("A", "uses", "B")
    assert len(book.related("A", depth=1)) == 3
    assert book.unrelate("A", "depends on", "B").text == "A --[depends on]--> B"
    with pytest.raises(UnknownRelationError, match=r"no relation A --\[depends on\]--> B: `"):
        book.unrelate("A", "depends on", "B")


def test_scopes(book: EntityBook, records: Records) -> None:
    """A relation is the user's where both ends are; the project's entity stands for both."""
    ana = book.add("Ana", "person", shared=True)
    book.add("Bo", "person", shared=True)
    book.add("Billing")
    assert ana.scope == "user"
    assert book.relate("Ana", "knows", "Bo").project == ""
    assert book.relate("Ana", "owns", "Billing").project == records.project
    other = EntityBook(records.shared)
    assert [step.relation.type for step in other.related("Ana")] == ["knows"]
    book.add("Ana", "robot")
    assert book.find("ana").type == "robot"
    assert other.find("ana").type == "person"
    forgotten, relations = book.forget("ana")
    assert (forgotten.type, relations) == ("robot", 0)
    assert book.find("ana").type == "person"
    assert book.forget("ana")[1] == 2
    assert book.related("Bo") == book.related("Billing") == []


@pytest.mark.parametrize("on_server", [False, True], ids=["host", "server"])
def test_what_is_one_of_many_users_is_nobody_elses(records: Records, on_server: bool) -> None:
    """A relation of theirs, too, though its other end is the project's."""
    ada, bob = (
        EntityBook(evolve(records, own=f"user:{name}") if on_server else evolve(records, user=name))
        for name in ("ada", "bob")
    )
    assert ada.add("Love", shared=True).scope == "user"
    ada.add("House", shared=True)
    ada.add("Billing")
    assert ada.relate("Love", "lives in", "House").as_dict()["scope"] == "user"
    assert ada.relate("Love", "owns", "Billing").as_dict()["scope"] == "user"
    assert {step.relation.type for step in ada.related("Love")} == {"lives in", "owns"}
    assert bob.related("Billing") == []
    assert ada.unrelate("Love", "owns", "Billing").type == "owns"
    assert ada.forget("Love")[1] == 1


def test_forgetting_takes_the_relations_along(book: EntityBook) -> None:
    """And nothing else."""
    for name in "ABC":
        book.add(name)
    book.relate("A", "uses", "B")
    book.relate("B", "uses", "C")
    entity, relations = book.forget("B")
    assert (entity.name, relations) == ("B", 2)
    assert [each.name for each in book.list()] == ["A", "C"]
    assert book.related("A") == []
    with pytest.raises(UnknownEntityError, match="no entity is called 'B': `contextkit entities"):
        book.forget("B")


def test_listing(book: EntityBook) -> None:
    """The most salient first, of one type where that is asked."""
    for name, salience in (("A", 0.1), ("B", 0.9), ("C", 0.5)):
        book.add(name, "x" if name == "A" else "y y", salience=salience)
    assert [each.name for each in book.list()] == ["B", "C", "A"]
    assert [each.name for each in book.list(limit=1)] == ["B"]
    assert [each.name for each in book.list(kind="Y_Y")] == ["B", "C"]
    assert (book.count(kind="x"), book.count(), book.count(from_code=True)) == (1, 3, 0)


def test_an_alias_of_several_is_ambiguous(book: EntityBook) -> None:
    """The ids are named; a name of its own is not ambiguous."""
    for number in range(7):
        book.add(f"Service {number}", aliases=["svc"])
    with pytest.raises(AmbiguousEntityError, match=r"7 entities are called 'svc'.*service-4, …$"):
        book.find("svc")
    assert book.find("service-3").name == "Service 3"


def _entity(**given: Any) -> dict[str, Any]:
    return {"name": "A", **given}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (_entity(name=""), "a name has 1 to 200 characters, '' has 0"),
        (_entity(name="?"), "an entity's name has a letter or a digit"),
        (_entity(name="a" * 201), "a name has 1 to 200 characters"),
        (_entity(name=5), "a name must be a text, got 5"),
        (_entity(name="a\ud800"), "valid Unicode: character 1 is half a surrogate pair"),
        (_entity(kind="?"), "a type has a letter or a digit"),
        (_entity(kind="x" * 41), "a type has 1 to 40 characters"),
        (_entity(aliases="abc"), "aliases must be a list of names, got 'abc'"),
        (_entity(aliases=["?"]), "an alias has a letter or a digit"),
        (_entity(aliases=[str(n) for n in range(21)]), "at most 20 aliases, got 21"),
        (_entity(aliases=[5]), "an alias must be a text, got 5"),
        (_entity(properties=["x"]), "properties must be name -> value"),
        (_entity(properties={"x": [1]}), "property 'x' is a text, a number, or true or false"),
        (_entity(properties={"x": float("nan")}), "property 'x' is a text, a number"),
        (_entity(properties={"x": 2**63}), "property 'x' is a text, a number"),
        (_entity(properties={"x": "y" * 501}), "property 'x' has 1 to 500 characters"),
        (_entity(properties={"": "y"}), "a property's name has 1 to 60 characters"),
        (_entity(properties={str(n): n for n in range(21)}), "properties: at most 20, got 21"),
        (_entity(salience=1.1), "salience must be within 0..1, got 1.1"),
        (_entity(salience=True), "salience must be a number within 0..1, got True"),
    ],
)
def test_what_an_entity_may_not_be(book: EntityBook, given: Any, message: str) -> None:
    """Each part is checked, and nothing is stored."""
    with pytest.raises(InvalidEntityError, match=message.replace("?", r"\?")):
        book.add(given.pop("name"), given.pop("kind", None), **given)
    assert book.count() == 0


def test_what_a_relation_may_not_be(book: EntityBook) -> None:
    """Its ends must be known, its type and weight make sense."""
    book.add("A")
    with pytest.raises(UnknownEntityError, match="'Gone'"):
        book.relate("A", "uses", "Gone")
    with pytest.raises(InvalidEntityError, match=r"weight must be a number within 0\.\.1, got -1"):
        book.relate("A", "uses", "A", weight=-1)
    with pytest.raises(InvalidEntityError, match="a type has 1 to 40 characters"):
        book.relate("A", "", "A")
    with pytest.raises(InvalidRequestError, match="depth must be within 1 and 5, got 6"):
        book.related("A", depth=6)
    for call in (book.list, lambda limit: book.related("A", limit=limit)):
        with pytest.raises(InvalidRequestError, match="limit must be at least 1, got 0"):
            call(limit=0)
    assert [step.relation.text for step in book.related("A")] == []


def test_an_entity_related_to_itself(book: EntityBook) -> None:
    """It is one relation, and the walk ends."""
    book.add("A")
    book.relate("A", "calls", "A")
    assert [step.depth for step in book.related("A", depth=5)] == [1]


def test_records_of_others_are_read_with_care(records: Records) -> None:
    """What is amiss in an imported record is left out."""
    records.put([Record(id="odd", text="odd", fields={"salience": 7, "properties": 5, "names": 1})])
    entity = Entity.from_record(records.get("odd")[0])
    assert (entity.name, entity.type, entity.salience) == ("odd", "concept", 0.5)
    assert (entity.properties, entity.keys, entity.location) == ({}, (), None)
    relation = Relation.from_record(Record(id="r", text="r", fields={"weight": "x"}))
    assert (relation.text, relation.weight) == (" --[related to]--> ", 1.0)


ADDING = """
import sys
from contextkit import ContextKit
from contextkit_entities import EntityBook
who, folder = sys.argv[1:]
with ContextKit.open(folder, settings={"embedding.model": "none"}, environment={}) as kit:
    book = EntityBook.of(kit)
    for number in range(10):
        book.add(f"{who} {number}")
        book.add("Shared", properties={f"{who} {number}": number})
        book.relate(f"{who} {number}", "uses", "Shared")
"""


def test_two_processes_add_at_once(
    tmp_path: Path, kit: ContextKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost, not even of what both of them change."""
    command = [sys.executable, "-c", ADDING]
    running = [subprocess.Popen([*command, who, str(tmp_path)]) for who in ("left", "right")]
    assert [process.wait(timeout=100) for process in running] == [0, 0]
    book = EntityBook.of(kit)
    assert book.count() == 21
    assert len(book.find("Shared").properties) == 20
    assert len(book.related("Shared", depth=1, limit=100)) == 20
