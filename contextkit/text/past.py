"""Find questions about the past, and the periods that they name."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from attrs import frozen

from contextkit.text.dates import NamedDate, NamedPeriod, named_dates

_READ_CHARACTERS = 2000
_PAST = re.compile(
    r"(?<!\w)(?:"
    r"(?:did|was|were|had|have|has|used)\b[^.?!\n]{0,80}\b(?:before|earlier)"
    r"|previous(?:ly)?|former(?:ly)?|used to|originally|at first|back then|in the past"
    r"|history of|historically|until (?:when|recently)|since when|no longer|any ?more"
    r"|when did|(?:did|has|have) .{0,40}\bchanged?|(?:changed|switched|moved|migrated) (?:from|to)"
    r"|(?:was|were|has|have|been|did) .{0,40}\breplaced?|old(?:er)? (?:value|version|one|setting)s?"
    r"|früher|vorher|zuvor|ehemals|ehemalige[rsn]?|damals|seit wann|ursprünglich"
    r"|auparavant|avant cela|autrefois|anciennement|antes|anteriormente|previamente"
    r")(?!\w)|以前|之前|原来|かつて|元々",
    re.IGNORECASE,
)


@frozen
class Period:
    """A span of time.

    Attributes:
        start, end: aware; the end is excluded.
    """

    start: datetime
    end: datetime

    def meets(self, start: datetime, end: datetime | None) -> bool:
        """Whether another span shares a moment; None never ends."""
        return start < self.end and (end is None or end > self.start)


def asks_for_the_past(query: str) -> bool:
    """Whether a question is about what was true before."""
    return _PAST.search(query[:_READ_CHARACTERS]) is not None


def named_periods(query: str, now: datetime | None = None) -> list[Period]:
    """Return the days, weeks and months that a query names.

    Without a year, the latest one that began before `now` counts.
    """
    moment = now or datetime.now(UTC)
    dates = named_dates(query[:_READ_CHARACTERS], moment)
    return [found for each in dates if (found := _period(each, moment)) is not None]


def _period(named: NamedDate | NamedPeriod, now: datetime) -> Period | None:
    if isinstance(named, NamedPeriod):
        first, last = (datetime.combine(day, time(), UTC) for day in (named.first, named.last))
        return Period(first, last + timedelta(days=1))
    years = [named.year] if named.year is not None else [now.year, now.year - 1]
    for year in years:
        try:
            start = datetime(year, named.month, named.day or 1, tzinfo=UTC)
        except ValueError:
            # The year has no such day.
            continue
        if start <= now:
            return Period(start, _end_of(start, whole_month=named.day is None))
    return None


def _end_of(start: datetime, *, whole_month: bool) -> datetime:
    if not whole_month:
        return start + timedelta(days=1)
    later = start + timedelta(days=32)
    return later.replace(day=1)
