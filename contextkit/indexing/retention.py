"""Delete records past their retention limits.

Records that are too old are deleted first, then the oldest surplus ones. Sources that index the
workspace are exempt: they keep what the workspace has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import frozen

from contextkit.logs import get_logger
from contextkit.models.record import Filters, Range
from contextkit.models.records import Records
from contextkit.plugin.manager import SourceRegistry

_log = get_logger(__name__)


@frozen(kw_only=True)
class Retention:
    """The retention limits of a source's records.

    Attributes:
        keep_days: maximum age in days; None or infinite: no limit.
        keep_records: maximum number of records, the newest; None: no limit.
    """

    keep_days: float | None = None
    keep_records: int | None = None

    @property
    def is_endless(self) -> bool:
        """Whether there is no limit."""
        return self.keep_records is None and (self.keep_days is None or math.isinf(self.keep_days))

    def oldest(self, now: datetime) -> datetime | None:
        """The time before which records are too old.

        Returns None without a limit.
        """
        if self.keep_days is None:
            return None
        try:
            return now - timedelta(days=self.keep_days)
        except OverflowError:
            return None


@frozen(kw_only=True)
class Pruned:
    """The records of one source affected by pruning.

    Attributes:
        too_old: the number of records older than `keep_days`.
        too_many: the number of further records beyond `keep_records`.
        left: the number of remaining records.
    """

    too_old: int = 0
    too_many: int = 0
    left: int = 0


def retention_of(registry: SourceRegistry, source: str) -> Retention:
    """Return a source's limits: as configured, else its own defaults."""
    settings, info = registry.config.source(source), registry.info(source)
    return Retention(
        keep_days=info.keep_days if settings.keep_days is None else settings.keep_days,
        keep_records=info.keep_records if settings.keep_records is None else settings.keep_records,
    )


def prune_sources(
    registry: SourceRegistry, records: Iterable[Records], *, dry_run: bool = False
) -> dict[str, Pruned]:
    """Prune all sources with limits that do not index.

    Args:
        registry: the sources.
        records: the project's and the user's records of each source.
        dry_run: only count, delete nothing.

    Returns:
        Source -> the result.
    """
    return dict(_pruned(registry, records, dry_run=dry_run))


def _pruned(
    registry: SourceRegistry, records: Iterable[Records], *, dry_run: bool
) -> Iterator[tuple[str, Pruned]]:
    for one in records:
        retention = retention_of(registry, one.source)
        if retention.is_endless or registry.implements(one.source, "contextkit_index"):
            continue
        info = registry.info(one.source)
        parts = [
            prune(
                scope,
                retention,
                counted=info.count_filters,
                limited=info.prune_filters,
                dry_run=dry_run,
            )
            for scope in one.scopes
        ]
        pruned = Pruned(
            too_old=sum(part.too_old for part in parts),
            too_many=sum(part.too_many for part in parts),
            left=sum(part.left for part in parts),
        )
        if not dry_run and (pruned.too_old or pruned.too_many):
            _log.info(
                "records_pruned",
                source=one.source,
                too_old=pruned.too_old,
                too_many=pruned.too_many,
                left=pruned.left,
            )
        yield one.source, pruned


def prune(
    records: Records,
    retention: Retention,
    *,
    counted: Filters | None = None,
    limited: Filters | None = None,
    spare: float = 0.0,
    dry_run: bool = False,
    now: datetime | None = None,
) -> Pruned:
    """Delete the records past their retention limits.

    Args:
        records: one scope of a source (`Records.scopes`).
        retention: the limits.
        counted: selects the records that count, as `SourceInfo.count_filters`; the records
            that belong to them have the same age and are deleted with them.
        limited: selects the records that the limits hold for, as `SourceInfo.prune_filters`;
            the others are neither counted nor deleted.
        spare: share by which `keep_records` may be exceeded before records are deleted, 0..1;
            a store deletes many records at once more efficiently.
        dry_run: only count, delete nothing.
        now: the time at which ages are measured, with a time zone; default: the current time.
    """
    limited = limited or {}
    counted = _both(counted or {}, limited)
    oldest = retention.oldest(now or datetime.now(UTC))
    too_old = 0
    in_time: dict[str, Any] = dict(counted)
    if oldest is not None:
        gone = Range(lt=oldest)
        too_old = records.count({**counted, "created_at": gone})
        in_time["created_at"] = Range(gte=oldest)
        # A store that was written to must be closed, which takes longer than a search.
        deleted = {**limited, "created_at": gone}
        if not dry_run and (too_old or records.count(deleted)):
            records.delete_where(deleted)
    left = records.count(in_time)
    too_many = 0
    most = retention.keep_records
    if most is not None and left > most * (1 + spare):
        newest = records.newest(most, in_time)
        if len(newest) < most:
            # Another process has deleted some meanwhile.
            return Pruned(too_old=too_old, left=len(newest))
        beyond = Range(gte=oldest, lt=newest[-1].created_at)
        too_many = records.count({**counted, "created_at": beyond})
        if not dry_run:
            records.delete_where({**limited, "created_at": beyond})
    return Pruned(too_old=too_old, too_many=too_many, left=left - too_many)


def _both(one: Filters, other: Filters) -> Filters:
    """Join filters whose common fields have lists of values."""
    common = {
        name: [each for each in one[name] if each in other[name]]
        for name in one.keys() & other.keys()
    }
    return {**one, **other, **common}
