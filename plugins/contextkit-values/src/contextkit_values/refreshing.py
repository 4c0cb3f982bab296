"""Rebuild values from experiences, only on demand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from attrs import evolve

from contextkit.logs import get_logger
from contextkit.models import IndexReport, Record, Records
from contextkit_values.clustering import MIN_CLUSTER_SIZE, MIN_SIMILARITY
from contextkit_values.distilling import distilled, resolved_experiences
from contextkit_values.errors import NoDenseVectorsError, ValuesError
from contextkit_values.model import AXES, Value, to_record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_log = get_logger(__name__)


class DenseEmbedder(Protocol):
    """Makes the vectors to cluster, like the models of `contextkit.embedding`."""

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return one unit vector per text; None without model."""


def refresh(
    experiences: Records,
    values: Records,
    embedder: DenseEmbedder,
    *,
    min_cluster_size: int = MIN_CLUSTER_SIZE,
    min_similarity: float = MIN_SIMILARITY,
    now: datetime | None = None,
) -> IndexReport:
    """Replace a project's values by newly distilled ones; blocks.

    They are made from the experiences that the project sees now; where it has other users, from
    the project's own alone, as those users read the values. On each axis the resolved
    experiences are clustered by the vectors of their texts. A value whose members stayed the same
    keeps its id and its `created_at`; new values are stored before obsolete ones are deleted, so
    that the project is never without any. The same experiences give the same values.

    Args:
        experiences: the records of the source `experiences`.
        values: the records of the source `values`.
        embedder: makes the vectors.
        min_cluster_size: the fewest experiences of a value, from 2.
        min_similarity: the mean cosine that each member must have with the others, 0..1.
        now: the `created_at` of new values; default: now.

    Returns:
        How many values are new, changed, gone and the same; its notes say for each axis
        what was found, or why nothing was.

    Raises:
        NoDenseVectorsError: there is no model; nothing was changed.
        ValuesError: an option is invalid.
    """
    _check_options(min_cluster_size, min_similarity)
    at = now or datetime.now(UTC)
    if experiences.has_other_users:
        experiences = experiences.scopes[0]
    found: list[Value] = []
    notes: list[str] = []
    for axis in AXES:
        lived = resolved_experiences(experiences.scan({"axis": axis}), axis)
        if len(lived) < min_cluster_size:
            notes.append(f"{axis}: {_counted(len(lived))}, fewer than {min_cluster_size}")
            continue
        vectors = embedder.dense([each.text for each in lived])
        if vectors is None:
            raise NoDenseVectorsError
        new = distilled(
            axis,
            lived,
            vectors,
            min_cluster_size=min_cluster_size,
            min_similarity=min_similarity,
            now=at,
        )
        found += new
        joined = sum(len(value.members) for value in new)
        in_values = "1 value" if len(new) == 1 else f"{len(new)} values"
        notes.append(f"{axis}: {_counted(len(lived))}, {joined} of them in {in_values}")
    return _replaced(values, found, notes)


def _check_options(min_cluster_size: int, min_similarity: float) -> None:
    if min_cluster_size < 2:
        raise ValuesError(f"min_cluster_size: expected a whole number from 2: {min_cluster_size}")
    if not 0.0 <= min_similarity <= 1.0:
        raise ValuesError(f"min_similarity: expected a number within 0..1: {min_similarity}")


def _counted(count: int) -> str:
    return "1 resolved experience" if count == 1 else f"{count} resolved experiences"


def _replaced(records: Records, values: Sequence[Value], notes: Sequence[str]) -> IndexReport:
    there = {each.id: each for each in records.scan() if each.project == records.project}
    wanted = [_with_first_time(to_record(value), there) for value in values]
    changed = [record for record in wanted if not _same(record, there.get(record.id))]
    gone = sorted(there.keys() - {record.id for record in wanted})
    records.put(changed)
    if gone:
        records.delete_where({"value_id": gone})
    added = sum(record.id not in there for record in changed)
    _log.info("values_refreshed", values=len(wanted), added=added, removed=len(gone))
    return IndexReport(
        added=added,
        updated=len(changed) - added,
        removed=len(gone),
        unchanged=len(wanted) - len(changed),
        notes=tuple(notes),
    )


def _with_first_time(record: Record, there: dict[str, Record]) -> Record:
    before = there.get(record.id)
    return record if before is None else evolve(record, created_at=before.created_at)


def _same(record: Record, before: Record | None) -> bool:
    return (
        before is not None
        and record.searched_text == before.searched_text
        and dict(record.fields) == dict(before.fields)
    )
