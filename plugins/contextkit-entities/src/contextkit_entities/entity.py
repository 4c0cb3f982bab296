"""An entity: something that has a name, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from attrs import field, frozen

from contextkit import USER, Record
from contextkit.models.record import belongs_to_user
from contextkit.text.markup import one_line
from contextkit_entities.words import key_of, name_keys

__all__ = [
    "BY_HAND",
    "DEFAULT_SALIENCE",
    "DEFAULT_TYPE",
    "ENTITY",
    "FROM_CODE",
    "MODULE",
    "Entity",
    "id_of",
    "measure_in",
    "texts_in",
]

ENTITY = "entity"
"""The field `kind` of an entity's record."""

BY_HAND = "hand"
FROM_CODE = "code"
MODULE = "module"
"""The type of what the code imports of others."""

DEFAULT_SALIENCE = 0.5
DEFAULT_TYPE = "concept"


def id_of(name: str) -> str:
    """The id of the entity that is made by hand under that name."""
    return key_of(name).replace(" ", "-")


@frozen(kw_only=True)
class Entity:
    """An entity.

    Attributes:
        id: its name's words with hyphens between; one from code begins with `code:` or `module:`.
        name: what it is called.
        type: what it is: `service`, `person`, `class`, `file`.
        properties: what is known of it: texts, numbers, truths.
        aliases: other names of it.
        keys: what it is looked up by; default: the keys of its names.
        salience: how much it matters whatever is asked, 0..1.
        origin: `hand`, or `code` for one that was found in the code.
        location: where it is, such as `path:line`, or None.
        created_at: when it was first stored.
        project: whose it is; `USER` for the user's.
        outcome: what storing it did.
    """

    id: str
    name: str
    type: str
    properties: Mapping[str, Any] = field(factory=dict)
    aliases: tuple[str, ...] = ()
    keys: tuple[str, ...] = field()
    salience: float = DEFAULT_SALIENCE
    origin: str = BY_HAND
    location: str | None = None
    created_at: datetime
    project: str = USER
    outcome: Literal["stored", "updated", "unchanged"] = field(default="unchanged", eq=False)

    @keys.default
    def _keys_of_names(self) -> tuple[str, ...]:
        return name_keys((self.name, *self.aliases))

    @property
    def scope(self) -> Literal["user", "project"]:
        """Whether the user or the project has it."""
        return "user" if belongs_to_user(self.project) else "project"

    @property
    def text(self) -> str:
        """Its own words: name, type and properties."""
        said = (f"{key}: {value}" for key, value in self.properties.items())
        return "\n".join([self.name, self.type, *said])

    @classmethod
    def from_record(cls, record: Record) -> Entity:
        """The entity that a record was made from; what is amiss in the record is left out."""
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

    def as_record(self) -> Record:
        """The record that it is stored as."""
        return Record(
            id=self.id,
            text=self.text,
            keywords=" ".join(self.aliases),
            created_at=self.created_at,
            fields={
                "kind": ENTITY,
                "origin": self.origin,
                "name": self.name,
                "type": self.type,
                "properties": dict(self.properties),
                "aliases": list(self.aliases),
                "names": list(self.keys),
                "salience": self.salience,
                "location": self.location,
            },
        )

    def as_dict(self) -> dict[str, Any]:
        """The entity as JSON values, for people's scripts."""
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "properties": dict(self.properties),
            "aliases": list(self.aliases),
            "salience": self.salience,
            "origin": self.origin,
            "location": self.location,
            "scope": self.scope,
            "created_at": self.created_at.isoformat(),
        }


def texts_in(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list in a record's fields."""
    value = fields.get(name)
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(each for each in value if isinstance(each, str) and each)


def measure_in(fields: Mapping[str, Any], name: str, default: float) -> float:
    """A number within 0..1 in a record's fields, or the default."""
    value = fields.get(name)
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= 1 else default
