"""A value: a cluster's common ground, quoted from one experience."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args

from attrs import frozen

from contextkit.models import Record

Axis = Literal["full", "strategy", "surprise", "root_cause"]
AXES: tuple[Axis, ...] = get_args(Axis)


@frozen(kw_only=True)
class Member:
    """An experience of a cluster.

    Attributes:
        ghap_id: the experience's id.
        similarity: the cosine of its vector and the cluster's centroid, 0..1.
    """

    ghap_id: str
    similarity: float


@frozen(kw_only=True)
class Value:
    """The common ground of a cluster of experiences.

    Attributes:
        id: `value_…`; the same as long as axis and members are.
        axis: the axis whose texts were clustered.
        cluster_id: the axis and the cluster's number on it, the largest first.
        text: the text of the member nearest to the centroid, unchanged.
        ghap_id: the experience that the text is from.
        members: every experience of the cluster, the nearest to the centroid first.
        domains: the members' domains, sorted.
        strategies: the members' strategies, sorted.
        created_at: when a refresh first found it.
    """

    id: str
    axis: Axis
    cluster_id: str
    text: str
    ghap_id: str
    members: tuple[Member, ...]
    domains: tuple[str, ...]
    strategies: tuple[str, ...]
    created_at: datetime

    @property
    def similarity_to_centroid(self) -> float:
        """Return the similarity of the quoted experience."""
        return next(m.similarity for m in self.members if m.ghap_id == self.ghap_id)


def value_id(axis: Axis, ghap_ids: Sequence[str]) -> str:
    """Return the id of these experiences' value, in any order."""
    named = "\0".join([axis, *sorted(ghap_ids)])
    return f"value_{hashlib.sha256(named.encode()).hexdigest()[:16]}"


def to_record(value: Value) -> Record:
    """Return its record.

    Domains, strategies and the word `principles` are searched beside the text.
    """
    return Record(
        id=value.id,
        text=value.text,
        fields={
            "value_id": value.id,
            "axis": value.axis,
            "cluster_id": value.cluster_id,
            "cluster_size": len(value.members),
            "similarity_to_centroid": value.similarity_to_centroid,
            "ghap_id": value.ghap_id,
            "ghap_ids": [member.ghap_id for member in value.members],
            "member_similarities": [member.similarity for member in value.members],
            "domains": list(value.domains),
            "strategies": list(value.strategies),
        },
        keywords=" ".join(["principles", *value.domains, *value.strategies]),
        created_at=value.created_at,
    )
