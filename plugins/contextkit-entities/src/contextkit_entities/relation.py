"""A relation between two entities."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from attrs import field, frozen

from contextkit import USER, Record
from contextkit.models import belongs_to_user
from contextkit.text import one_line
from contextkit_entities.entity import BY_HAND, FROM_CODE, measure_in

RELATION = "relation"
"""The field `kind` of a relation's record."""

BANDS = tuple(str(tenth) for tenth in range(10, -1, -1))
"""Field `band` of relations' records, by tenths of the weight.

The highest weight comes first. The store indexes only words. With this field, the relations of
highest weight are read first.
"""

DEFAULT_WEIGHT = 1.0
_DEFAULT_TYPE = "related to"


def relation_id(source_id: str, kind: str, target_id: str, origin: str = BY_HAND) -> str:
    """Return the id of a relation of that type.

    A relation made by hand and one from the code are two records: neither replaces the other.
    """
    made = f"{source_id} --[{kind}]--> {target_id}"
    return made if origin == BY_HAND else f"{origin}:{made}"


@frozen(kw_only=True)
class Relation:
    """A relation.

    Attributes:
        source_id: the id of the entity that it starts from.
        target_id: the id of the entity that it leads to.
        source: the name of its start.
        target: the name of its target.
        type: its type, such as `uses`.
        weight: its strength, 0..1.
        properties: its properties: texts, numbers, truth values.
        origin: `hand`, or `code` for a relation found in the code.
        created_at: when it was first stored.
        project: the project that it belongs to; `USER` for the user's.
        outcome: the result of storing it.
    """

    source_id: str
    target_id: str
    source: str
    target: str
    type: str
    weight: float = DEFAULT_WEIGHT
    properties: Mapping[str, Any] = field(factory=dict)
    origin: str = BY_HAND
    created_at: datetime
    project: str = USER
    outcome: Literal["stored", "updated", "unchanged"] = field(default="unchanged", eq=False)

    @property
    def id(self) -> str:
        """Return the id, made of its ends and its type.

        Two entities have at most one relation of each type.
        """
        return relation_id(self.source_id, self.type, self.target_id, self.origin)

    @property
    def text(self) -> str:
        """Return the relation as text, with names for ids."""
        return f"{self.source} --[{self.type}]--> {self.target}"

    @property
    def triple(self) -> tuple[str, str, str]:
        """Return its source, type and target."""
        return self.source_id, self.type, self.target_id

    @classmethod
    def from_record(cls, record: Record) -> Relation:
        """Build a relation from its record, leaving out invalid parts."""
        fields = record.fields
        properties = fields.get("properties")
        source_id, target_id = (str(fields.get(name) or "") for name in ("source_id", "target_id"))
        return cls(
            source_id=source_id,
            target_id=target_id,
            source=one_line(str(fields.get("source") or source_id)),
            target=one_line(str(fields.get("target") or target_id)),
            type=one_line(str(fields.get("type") or _DEFAULT_TYPE)),
            weight=measure_in(fields, "weight", DEFAULT_WEIGHT),
            properties=dict(properties) if isinstance(properties, Mapping) else {},
            origin=FROM_CODE if fields.get("origin") == FROM_CODE else BY_HAND,
            created_at=record.created_at,
            project=record.project,
        )

    def as_record(self) -> Record:
        """Return the record to store."""
        return Record(
            id=self.id,
            text=self.text,
            created_at=self.created_at,
            fields={
                "kind": RELATION,
                "origin": self.origin,
                "source_id": self.source_id,
                "target_id": self.target_id,
                "ends": list(dict.fromkeys((self.source_id, self.target_id))),
                "source": self.source,
                "target": self.target,
                "type": self.type,
                "weight": self.weight,
                "band": str(int(self.weight * 10)),
                "properties": dict(self.properties),
            },
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the relation as JSON values, for people's scripts."""
        return {
            "source": self.source,
            "type": self.type,
            "target": self.target,
            "source_id": self.source_id,
            "target_id": self.target_id,
            "weight": self.weight,
            "properties": dict(self.properties),
            "origin": self.origin,
            "scope": "user" if belongs_to_user(self.project) else "project",
            "created_at": self.created_at.isoformat(),
        }
