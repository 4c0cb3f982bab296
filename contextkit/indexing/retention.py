"""Retention: delete records that are too old or too many.

Records past the age limit go first, then the oldest of those past the number. A source with
`contextkit_index` deletes its records itself and is not pruned.
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
    """What of a source's records is kept.

    Attributes:
        keep_days: records that came to be longer ago than so many days go; None or infinite:
            none does.
        keep_records: of the others so many are kept, the newest; None: all of them.
    """

    keep_days: float | None = None
    keep_records: int | None = None

    @property
    def is_endless(self) -> bool:
        """Whether nothing ever goes."""
        return self.keep_records is None and (self.keep_days is None or math.isinf(self.keep_days))

    def oldest(self, now: datetime) -> datetime | None:
        """What came to be before this goes; None where nothing is too old."""
        if self.keep_days is None:
            return None
        try:
            return now - timedelta(days=self.keep_days)
        except OverflowError:
            return None


@frozen(kw_only=True)
class Pruned:
    """What went of one source's records, or would go.

    Attributes:
        too_old: how many were older than `keep_days`.
        too_many: how many of the others were beyond `keep_records`.
        left: how many there are afterwards.
    """

    too_old: int = 0
    too_many: int = 0
    left: int = 0


def retention_of(registry: SourceRegistry, source: str) -> Retention:
    """What is kept of a source's records: as configured, else as the source says itself."""
    settings, info = registry.config.source(source), registry.info(source)
    return Retention(
        keep_days=info.keep_days if settings.keep_days is None else settings.keep_days,
        keep_records=info.keep_records if settings.keep_records is None else settings.keep_records,
    )


def prune_sources(
    registry: SourceRegistry, records: Iterable[Records], *, dry_run: bool = False
) -> dict[str, Pruned]:
    """Prune the sources of which not everything is kept, but for those that index.

    Args:
        registry: the sources.
        records: of each source, the project's and the user's.
        dry_run: True to delete nothing and only count.

    Returns:
        Source -> what went.
    """
    return dict(_pruned(registry, records, dry_run=dry_run))


def _pruned(
    registry: SourceRegistry, records: Iterable[Records], *, dry_run: bool
) -> Iterator[tuple[str, Pruned]]:
    for one in records:
        retention = retention_of(registry, one.source)
        if retention.is_endless or registry.implements(one.source, "contextkit_index"):
            continue
        counted = registry.info(one.source).count_filters
        parts = [prune(scope, retention, counted=counted, dry_run=dry_run) for scope in one.scopes]
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
    spare: float = 0.0,
    dry_run: bool = False,
    now: datetime | None = None,
) -> Pruned:
    """Delete what of some records is not kept.

    Args:
        records: one scope of a source (`Records.scopes`).
        retention: what is kept.
        counted: selects the records that count as one, as `SourceInfo.count_filters`; what
            belongs to them goes with them, being as old.
        spare: by so much of itself may `keep_records` be exceeded before any goes, 0..1: many
            deletions at once cost a store less.
        dry_run: True to delete nothing and only count.
        now: what ages are counted to, aware; default: the time.
    """
    counted = counted or {}
    oldest = retention.oldest(now or datetime.now(UTC))
    too_old = 0
    in_time: dict[str, Any] = dict(counted)
    if oldest is not None:
        gone = Range(lt=oldest)
        too_old = records.count({**counted, "created_at": gone})
        in_time["created_at"] = Range(gte=oldest)
        if not dry_run:
            records.delete_where({"created_at": gone})
    left = records.count(in_time)
    too_many = 0
    most = retention.keep_records
    if most is not None and left > most * (1 + spare):
        newest = records.newest(most, in_time)
        if len(newest) < most:
            # Somebody else has deleted some meanwhile.
            return Pruned(too_old=too_old, left=len(newest))
        beyond = Range(gte=oldest, lt=newest[-1].created_at)
        too_many = records.count({**counted, "created_at": beyond})
        if not dry_run:
            records.delete_where({"created_at": beyond})
    return Pruned(too_old=too_old, too_many=too_many, left=left - too_many)
