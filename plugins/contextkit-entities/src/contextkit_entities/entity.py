"""An entity: something with a name, and its properties."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, Self

from attrs import Factory, field, frozen

from contextkit import Record
from contextkit.sources import Entry, choice, line, number, part
from contextkit.text import one_line
from contextkit_entities.errors import InvalidEntityError
from contextkit_entities.words import (
    key_of,
    name_keys,
    stored_aliases,
    stored_name,
    stored_properties,
    stored_type,
)

ENTITY = "entity"
"""The field `kind` of an entity's record."""

BY_HAND: Literal["hand"] = "hand"
FROM_CODE: Literal["code"] = "code"
MODULE = "module"
"""Type of external modules that the code imports."""

DEFAULT_SALIENCE = 0.5
DEFAULT_TYPE = "concept"


def id_of(name: str) -> str:
    """Return the id of a hand-made entity of that name."""
    return key_of(name).replace(" ", "-")


@frozen(kw_only=True)
class Entity(Entry):
    """A named thing.

    Attributes:
        id: its name's words with hyphens between; one from code begins with `code:` or `module:`.
        name: its name.
        type: its type: `service`, `person`, `class`, `file`.
        properties: its properties: texts, numbers, truth values.
        aliases: other names of it.
        keys: its lookup keys; default: the keys of its names.
        salience: its importance regardless of the query, 0..1.
        origin: `hand`, or `code` for an entity found in the code.
        location: its location, such as `path:line`, or None.
    """

    noun = "entity"
    shown = (
        "id", "name", "type", "properties", "aliases", "salience", "origin", "location", "scope",
        "created_at",
    )  # fmt: skip
    invalid = InvalidEntityError

    name: str = part(stored_name, about="what it is called")
    type: str = part(
        stored_type,
        DEFAULT_TYPE,
        about="what it is: service, person, …",
        flags="-t --type",
    )
    properties: Mapping[str, Any] = part(stored_properties, Factory(dict))
    aliases: tuple[str, ...] = part(
        stored_aliases, (), about="other names of it", flags="-a --alias"
    )
    keys: tuple[str, ...] = field()
    salience: float = part(
        number("salience"), DEFAULT_SALIENCE, about="how much it matters, 0 to 1"
    )
    origin: Literal["hand", "code"] = part(choice("origin", ("hand", "code")), BY_HAND)
    location: str | None = part(line("a location", 4_000), None)

    @keys.default
    def _keys_of_names(self) -> tuple[str, ...]:
        return name_keys((self.name, *self.aliases))

    @property
    def text(self) -> str:
        """Return its own words: name, type and properties."""
        said = (f"{key}: {value}" for key, value in self.properties.items())
        return "\n".join([self.name, self.type, *said])

    @property
    def search_words(self) -> str:
        """Return its aliases, which are searched beside its text."""
        return " ".join(self.aliases)

    def derived_fields(self) -> Mapping[str, Any]:
        """Return the fields that mark an entity, its keys, and its salience in tenths."""
        return {"kind": ENTITY, "names": list(self.keys), "band": str(int(self.salience * 10))}

    @classmethod
    def new_id(cls, given: Mapping[str, Any], created_at: datetime) -> str:  # noqa: ARG003
        """Return its name's words as its id."""
        return id_of(given["name"])

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Build an entity from its record, leaving out invalid parts."""
        # There are thousands from the code: no value is validated like one that a user gives.
        fields = record.fields
        properties = fields.get("properties")
        location = fields.get("location")
        return cls(
            id=record.id,
            name=one_line(str(fields.get("name") or record.id)),
            type=one_line(str(fields.get("type") or DEFAULT_TYPE)),
            properties=dict(properties) if isinstance(properties, Mapping) else {},
            aliases=texts_in(fields, "aliases"),
            keys=texts_in(fields, "names"),
            salience=measure_in(fields, "salience", DEFAULT_SALIENCE),
            origin=FROM_CODE if fields.get("origin") == FROM_CODE else BY_HAND,
            location=location if isinstance(location, str) and location else None,
            created_at=record.created_at,
            project=record.project,
        )


def texts_in(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the texts of a list in a record's fields."""
    value = fields.get(name)
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(each for each in value if isinstance(each, str) and each)


def measure_in(fields: Mapping[str, Any], name: str, default: float) -> float:
    """Return a field's number within 0..1, or the default."""
    value = fields.get(name)
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= 1 else default
