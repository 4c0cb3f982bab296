"""Read a whole store and compare its parts."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import Factory, define

from contextkit.errors import RecordDamagedError
from contextkit.models.record import Record
from contextkit.store.base import HasPoints, RecordStore
from contextkit.store.payloads import read_payload
from contextkit.text.keywords import AnyKeywordVector, embed_keywords

_BATCH = 256
_CLOSE = 0.01
"""Tolerance: engines keep only some digits of a vector's numbers."""


@define
class Verified:
    """The result of verifying a store.

    Attributes:
        records: the number of sound records.
        damaged: the names of the damaged ones.
        miscounted: sources whose index has another number of records than were read.
        other_vectors: the names of records whose vectors do not fit their text.
    """

    records: int = 0
    damaged: Sequence[str] = ()
    miscounted: list[str] = Factory(list)
    other_vectors: list[str] = Factory(list)


def verify(store: RecordStore) -> Verified:
    """Read and compare all records, indexes and vectors.

    Other processes may use the store meanwhile. What seems wrong is read again while they wait.

    Raises `StoreError` if the store cannot be read at all.
    """
    verified, counted = Verified(), Counter[tuple[str, str]]()
    records = _all(store, verified)
    while batch := list(itertools.islice(records, _BATCH)):
        verified.records += len(batch)
        counted.update((record.source, record.project) for record in batch)
    if isinstance(store, HasPoints):
        verified.other_vectors += _with_other_vectors(store)
    if any(_miscounted(store, counted, verified)):
        with store.hold():
            counted = Counter((each.source, each.project) for each in _all(store, verified))
            verified.records = counted.total()
            verified.miscounted += _miscounted(store, counted, verified)
    return verified


def _miscounted(
    store: RecordStore, counted: Counter[tuple[str, str]], verified: Verified
) -> Iterator[str]:
    for (source, project), read in sorted(counted.items()):
        found = store.count(source, [project], {})
        # Damaged records are counted too; the scope that they belong to is unknown.
        if not read <= found <= read + len(verified.damaged):
            yield f"{source} in '{project}': {found:,} of {read:,}"
    total = store.count(None, None, {})
    if total != verified.records + len(verified.damaged):
        yield f"all: {total:,} of {verified.records:,}"


def _all(store: RecordStore, verified: Verified) -> Iterator[Record]:
    try:
        yield from store.scan(None, None, {})
    except RecordDamagedError as error:
        verified.damaged = error.records


def _with_other_vectors(store: HasPoints) -> Iterator[str]:
    # Damaged records are named already.
    with contextlib.suppress(RecordDamagedError):
        for batch in store.scan_points():
            for point in batch.points:
                record = read_payload(point.id, point.payload)
                wanted = embed_keywords(record.searched_text)
                dense = [] if point.dense is None else [point.dense]
                if not _same(wanted, point.keywords) or not all(map(_sane, dense)):
                    yield f"{record.source} record {record.id!r}"


def _same(one: AnyKeywordVector, other: AnyKeywordVector) -> bool:
    ours = dict(zip(one.indices, one.values, strict=True))
    theirs = dict(zip(other.indices, other.values, strict=True))
    return ours.keys() == theirs.keys() and all(
        math.isclose(ours[word], theirs[word], rel_tol=_CLOSE) for word in ours
    )


def _sane(vector: Sequence[float]) -> bool:
    """Whether a vector has length 1, as stored ones do."""
    return math.isclose(math.hypot(*vector), 1.0, abs_tol=0.1)
