"""Distil the experiences of one axis into values.

Each cluster is represented by one member's text. Only public fields of an experience's record are
read: `ghap_id`, `axis`, `domain`, `strategy`, `outcome_status`, `outcome_result` and `lesson`
{what_worked, takeaway}.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import frozen

from contextkit.models import Record
from contextkit.text import one_line
from contextkit_values.clustering import centroid_similarities, clusters
from contextkit_values.model import Axis, Member, Value, value_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@frozen(kw_only=True)
class Lived:
    """A resolved experience on one axis.

    Attributes:
        ghap_id: its id.
        text: its text on the axis, which the vector is made from.
        words: the text to show if it represents its cluster; may be empty.
        domain: its domain.
        strategy: its strategy.
    """

    ghap_id: str
    text: str
    words: str
    domain: str
    strategy: str


def resolved_experiences(records: Iterable[Record], axis: Axis) -> list[Lived]:
    """Return an axis's resolved experiences by id, each once.

    Open ones teach nothing yet. Records without an id or a text are skipped.
    """
    found: dict[str, Lived] = {}
    # If the project and the user both have an id, the project's is used.
    for record in sorted(records, key=lambda record: record.project):
        fields = record.fields
        ghap_id = fields.get("ghap_id")
        if isinstance(ghap_id, str) and record.text and fields.get("outcome_status") != "open":
            found[ghap_id] = Lived(
                ghap_id=ghap_id,
                text=record.text,
                words=_words(record, axis),
                domain=str(fields.get("domain") or ""),
                strategy=str(fields.get("strategy") or ""),
            )
    return [found[ghap_id] for ghap_id in sorted(found)]


def _words(record: Record, axis: Axis) -> str:
    """Return the lesson or the axis's text, on one line.

    The lesson is used on the axis `full`.
    """
    if axis == "full":
        return one_line(_lesson(record.fields))
    return "; ".join(filter(None, map(one_line, record.text.splitlines())))


def _lesson(fields: Any) -> str:
    lesson = fields.get("lesson")
    taught = lesson if isinstance(lesson, dict) else {}
    told = taught.get("takeaway") or taught.get("what_worked") or fields.get("outcome_result")
    return str(told or "")


def distilled(
    axis: Axis,
    experiences: Sequence[Lived],
    vectors: NDArray[np.float32],
    *,
    min_cluster_size: int,
    min_similarity: float,
    now: datetime,
) -> list[Value]:
    """Return an axis's values, that of the largest cluster first.

    Args:
        axis: the axis.
        experiences: its resolved experiences.
        vectors: the unit vector of each one's text.
        min_cluster_size: the fewest experiences of a cluster, from 2.
        min_similarity: the mean cosine that each member must have with the others, 0..1.
        now: the `created_at` of new values.
    """
    # A text without words has no direction, and belongs to no cluster.
    rows = [row for row, vector in enumerate(vectors) if vector.any()]
    known = [experiences[row] for row in rows]
    found = clusters(
        vectors[rows], min_cluster_size=min_cluster_size, min_similarity=min_similarity
    )
    values = []
    for number, cluster in enumerate(found):
        similarities = centroid_similarities(vectors[rows], cluster)
        members = sorted(
            zip([known[row] for row in cluster], similarities, strict=True),
            key=lambda pair: (-pair[1], pair[0].ghap_id),
        )
        values.append(_value(axis, f"{axis}_{number}", members, now))
    return [value for value in values if value.text]


def _value(
    axis: Axis, cluster_id: str, members: Sequence[tuple[Lived, float]], now: datetime
) -> Value:
    nearest = next((lived for lived, _ in members if lived.words), members[0][0])
    return Value(
        id=value_id(axis, [lived.ghap_id for lived, _ in members]),
        axis=axis,
        cluster_id=cluster_id,
        text=nearest.words,
        ghap_id=nearest.ghap_id,
        members=tuple(Member(ghap_id=m.ghap_id, similarity=s) for m, s in members),
        domains=_distinct(lived.domain for lived, _ in members),
        strategies=_distinct(lived.strategy for lived, _ in members),
        created_at=now,
    )


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({word for word in words if word}))
