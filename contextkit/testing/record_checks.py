"""Check a source's dedupe keys and index runs."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.models.items import ContextItem, IndexReport
from contextkit.models.record import Record
from contextkit.plugin.checks import checked_keys
from contextkit.testing.subject import NotConformingError, Subject

_KEYS = "contextkit_dedup_keys"


def check_dedup_keys(subject: Subject) -> None:
    """Check that each item has one set of dedupe keys.

    The keys must not depend on the other items of the batch.
    """
    items = subject.found()
    if not subject.has(_KEYS):
        return
    together = _keys(subject, items)
    if together is None:
        return
    _keys(subject, ())
    if _keys(subject, items) != together:
        raise NotConformingError(
            f"{_KEYS} gives other keys for the same items at the second call: "
            f"make them of what the item is"
        )
    for item, keys in zip(items, together, strict=True):
        if "" in keys:
            raise NotConformingError(
                f"{_KEYS}: item {item.id!r} has an empty key, which would join it to others: "
                f"leave it out"
            )
        if _keys(subject, [item]) != (keys,):
            raise NotConformingError(
                f"{_KEYS} gives item {item.id!r} other keys when it is alone: "
                f"make them of the item itself"
            )


def _keys(subject: Subject, items: Sequence[ContextItem]) -> tuple[tuple[str, ...], ...] | None:
    result = subject.call(_KEYS, items=list(items))
    return None if result is None else checked_keys(subject.name, result, len(items))


def check_index(subject: Subject) -> None:
    """Check that a second index run does nothing.

    The workspace is unchanged between the runs.
    """
    if not subject.has("contextkit_index"):
        return
    _index(subject)
    before, revision = _stored(subject), subject.kit.store.revision(subject.name)
    report = _index(subject)
    changed = {name: getattr(report, name) for name in ("added", "updated", "removed")}
    for name, number in changed.items():
        if number:
            raise NotConformingError(
                f"contextkit_index reports {number} {name} in a second run, where nothing "
                f"changed: keep in indexer.state what tells"
            )
    if _stored(subject) != before:
        raise NotConformingError(
            "contextkit_index changes records in a second run, where nothing changed: give a "
            "record the id and the created_at of what it is made of"
        )
    if subject.kit.store.revision(subject.name) != revision:
        raise NotConformingError(
            "contextkit_index writes the same records again in a second run, where nothing "
            "changed: whatever is written costs time, and what caches have kept of the source"
        )


def _index(subject: Subject) -> IndexReport:
    outcome = subject.kit.index([subject.name])[subject.name]
    if outcome.report is None:
        raise NotConformingError(f"contextkit_index fails: {outcome.problem}")
    return outcome.report


def _stored(subject: Subject) -> dict[str, Record]:
    records = subject.kit.records(subject.name).scan()
    return {record.point_id: record for record in records}
