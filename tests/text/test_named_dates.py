"""Dates that a query names, and how near a moment is to them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from contextkit.text.dates import NamedDate, NamedPeriod, closeness, named_dates


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What did Ada do on 7 May 2023?", [NamedDate(5, 7, 2023)]),
        ("on May 7th, 2023", [NamedDate(5, 7, 2023)]),
        ("in May 2023, or in june", [NamedDate(5, None, 2023), NamedDate(6)]),
        ("am 3. März", [NamedDate(3, 3)]),
        ("since 2023-05-07 or 2023-06", [NamedDate(5, 7, 2023), NamedDate(6, None, 2023)]),
        ("may I ask who may come?", []),
        ("May we use asyncio here? The server MAY refuse.", []),
        ("March through the list, and march on", []),
        ("between March and May, or early May", [NamedDate(3), NamedDate(5), NamedDate(5)]),
        ("the March release of May 2023", [NamedDate(3), NamedDate(5, None, 2023)]),
        ("on 31 February, on 2023-13-01, version 1.2.3", []),
    ],
)
def test_dates_are_read_from_a_query(query: str, expected: list[NamedDate]) -> None:
    """With or without day and year; what is no date, such as the verb may, is passed over."""
    assert named_dates(query) == expected


@pytest.mark.parametrize(
    ("query", "moment", "expected"),
    [
        ("in May 2023", "2023-05-31", 1.0),
        ("in May", "2021-05-02", 1.0),
        ("in May 2023", "2023-06-09", 0.5),
        ("in December 2022", "2023-01-09", 0.5),
        ("in May 2023", "2023-06-20", 0.0),
        ("in May 2023", "2022-05-02", 0.0),
        ("on 7 May", "2023-05-08", 1.0),
        ("on 7 May", "2023-05-12", 0.7),
        ("on 7 May", "2023-05-28", 0.4),
        ("on 30 December", "2023-01-02", 0.7),
        ("on 29 February", "2023-03-02", 0.0),
        ("on 7 May", "2023-08-07", 0.0),
    ],
)
def test_a_moment_is_as_near_as_the_date_says(query: str, moment: str, expected: float) -> None:
    """The day itself and the week behind it, the month, the first half of the next month."""
    at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert closeness(named_dates(query), at) == expected


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("what did we do today?", "2026-11-25", "2026-11-25"),
        ("what failed yesterday?", "2026-11-24", "2026-11-24"),
        ("what did we decide last week?", "2026-11-16", "2026-11-22"),
        ("what did we change this week?", "2026-11-23", "2026-11-25"),
        ("in the last two weeks", "2026-11-11", "2026-11-25"),
        ("the past 3 days", "2026-11-22", "2026-11-25"),
        ("last month's incident", "2026-10-01", "2026-10-31"),
        ("the previous year", "2025-01-01", "2025-12-31"),
        ("three days ago", "2026-11-22", "2026-11-22"),
        ("2 weeks ago", "2026-11-08", "2026-11-14"),
        ("a month ago", "2026-10-11", "2026-11-10"),
    ],
)
def test_times_are_counted_from_now(query: str, first: str, last: str) -> None:
    """A day within the period is near; one just beside it is half as near."""
    (named,) = dates = named_dates(query, datetime(2026, 11, 25, 23, tzinfo=UTC))
    assert named == NamedPeriod(date.fromisoformat(first), date.fromisoformat(last))
    for away, expected in ((0, 1.0), (2, 0.5), (3, 0.0)):
        moment = datetime.fromisoformat(f"{last}T12:00Z") + timedelta(days=away)
        assert closeness(dates, moment) == expected
