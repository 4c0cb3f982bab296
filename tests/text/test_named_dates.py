"""Dates that a query names, and how near a moment is to them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from contextkit.text.dates import NamedDate, closeness, named_dates


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What did Ada do on 7 May 2023?", [NamedDate(5, 7, 2023)]),
        ("on May 7th, 2023", [NamedDate(5, 7, 2023)]),
        ("in May 2023, or in june", [NamedDate(5, None, 2023), NamedDate(6)]),
        ("am 3. März", [NamedDate(3, 3)]),
        ("since 2023-05-07 or 2023-06", [NamedDate(5, 7, 2023), NamedDate(6, None, 2023)]),
        ("may I ask who may come?", []),
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
