"""Read dates in queries, and times on the command line.

Records from a date that a query names are likelier to answer it. Recognised are `7 May 2023`,
`May 7th`, `May 2023`, `in May`, `2023-05-07` and `2023-05`, with English and German months. A part
that is missing, such as the year, matches any value. Since `May` and `March` are also verbs, they
need a day, a year or a word such as `in` beside them. `yesterday`, `last week`, `last month`,
`the last two weeks` and `three days ago` are counted from now.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from attrs import frozen

from contextkit.errors import InvalidRequestError

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar",
            "february februar",
            "march märz",
            "april",
            "may mai",
            "june juni",
            "july juli",
            "august",
            "september",
            "october oktober",
            "november",
            "december dezember",
        ),
        start=1,
    )
    for name in names.split()
}
_VERBS = {"may", "march"}
_OF_TIME = (
    "in|of|on|by|since|from|until|till|before|after|during|between|around|through|early|mid|late"
    "|this|last|past|previous|next"
)
_NAMED = re.compile(
    r"(?:\b(?:(?P<before>\d{1,2})(?:st|nd|rd|th|\.)?(?: of)?"
    rf"|(?P<of_time>{_OF_TIME})|(?P<of_any>and|or|to|the)) )?"
    rf"\b(?P<month>{'|'.join(_MONTHS)})\b"
    r"(?: (?P<behind>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>\d{4})\b)?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_SAME_WEEK = 0.7
_SAME_MONTH = 0.4
_JUST_AFTER = 0.5
_DAYS_AFTER = 7
_DAYS_AFTER_A_MONTH = 14
_DAYS_BESIDE = 2

_COUNTS = {
    word: number
    for number, words in enumerate(("a an one", "two", "three", "four", "five", "six"), start=1)
    for word in words.split()
}
_RELATIVE = re.compile(
    r"\b(?:(?P<day>today|yesterday)|(?P<which>this|last|past|previous) (?P<span>week|month|year)"
    rf"|(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}) (?P<unit>day|week|month)s? ago"
    rf"|(?:last|past) (?P<many>\d{{1,3}}|{'|'.join(_COUNTS)}) (?P<units>day|week|month)s)\b",
    re.IGNORECASE,
)
_DAYS = {"day": 1, "week": 7, "month": 30}

_AGO = re.compile(r"(\d{1,9})\s*([mhdw])", re.IGNORECASE)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@frozen
class NamedDate:
    """A date as a query names it.

    Attributes:
        month: 1..12.
        day, year: None if the query does not name them.
    """

    month: int
    day: int | None = None
    year: int | None = None


@frozen
class NamedPeriod:
    """A time that a query counts from now; first and last day."""

    first: date
    last: date


def named_dates(query: str, now: datetime | None = None) -> list[NamedDate | NamedPeriod]:
    """Return the valid dates in a query.

    Args:
        query: the query.
        now: the time to count back from; default: now.
    """
    today = (now or datetime.now(UTC)).astimezone(UTC).date()
    named = [
        NamedDate(_MONTHS[found["month"].lower()], _number(day), _number(found["year"]))
        for found in _NAMED.finditer(query)
        for day in [found["before"] or found["behind"]]
        if _is_month(found)
    ]
    named += [
        NamedDate(int(month), _number(day), int(year))
        for year, month, day in _NUMBERS.findall(query)
    ]
    periods = [_period(found, today) for found in _RELATIVE.finditer(query)]
    return [*(each for each in named if _exists(each)), *periods]


def _is_month(found: re.Match[str]) -> bool:
    """Whether a month's name is no verb, as in "May we march through the list?"."""
    month = found["month"]
    if month == "may" or month.lower() not in _VERBS:
        return month != "may"
    of_any = found["of_any"] and month.istitle()
    return bool(found["before"] or found["behind"] or found["year"] or found["of_time"] or of_any)


def without_periods(query: str) -> str:
    """Remove the times that are counted from now.

    A record from last week seldom has the words "last week", and others may.
    """
    return _RELATIVE.sub(" ", query).strip() or query


def _period(found: re.Match[str], today: date) -> NamedPeriod:
    if found["day"]:
        day = today - timedelta(days=found["day"].lower() == "yesterday")
        return NamedPeriod(day, day)
    if found["count"]:
        count, days = found["count"].lower(), _DAYS[found["unit"].lower()]
        middle = today - timedelta(days=days * int(_COUNTS.get(count, count)))
        around = timedelta(days=days // 2)
        return NamedPeriod(middle - around, middle + around)
    if found["many"]:
        many, days = found["many"].lower(), _DAYS[found["units"].lower()]
        return NamedPeriod(today - timedelta(days=days * int(_COUNTS.get(many, many))), today)
    start = _start_of(found["span"].lower(), today)
    if found["which"].lower() == "this":
        return NamedPeriod(start, today)
    last = start - timedelta(days=1)
    return NamedPeriod(_start_of(found["span"].lower(), last), last)


def _start_of(span: str, day: date) -> date:
    if span == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if span == "month" else day.replace(month=1, day=1)


def closeness(named: Sequence[NamedDate | NamedPeriod], moment: datetime) -> float:
    """Rate a moment's closeness to the nearest date, 0..1.

    People often write about a day some days later, so moments shortly after a date count too.
    """
    day = moment.astimezone(UTC).date()
    return max((_near(each, day) for each in named), default=0.0)


def _near_period(period: NamedPeriod, day: date) -> float:
    away = max(period.first - day, day - period.last).days
    return 1.0 if away <= 0 else _JUST_AFTER if away <= _DAYS_BESIDE else 0.0


def _near(named: NamedDate | NamedPeriod, day: date) -> float:
    if isinstance(named, NamedPeriod):
        return _near_period(named, day)
    same_month = day.month == named.month and named.year in {None, day.year}
    if named.day is None:
        if same_month:
            return 1.0
        months = (day.month - named.month) % 12
        follows = months == 1 and named.year in {None, day.year - (day.month == 1)}
        return _JUST_AFTER if follows and day.day <= _DAYS_AFTER_A_MONTH else 0.0
    years = {named.year} if named.year is not None else {day.year, day.year - 1}
    since = [
        (day - date(year, named.month, named.day)).days
        for year in years
        if year > 0 and _exists(NamedDate(named.month, named.day, year))
    ]
    if any(0 <= days <= 1 for days in since):
        return 1.0
    if any(-1 <= days <= _DAYS_AFTER for days in since):
        return _SAME_WEEK
    return _SAME_MONTH if same_month else 0.0


def _exists(named: NamedDate) -> bool:
    try:
        # A day without a year may be in a leap year.
        date(2024 if named.year is None else named.year, named.month, named.day or 1)
    except ValueError:
        return False
    return True


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def parse_since(text: str, now: datetime | None = None, *, name: str = "since") -> datetime:
    """Parse a point in time.

    The result has a time zone.

    Args:
        text: ISO 8601, as in `2026-05-01` or `2026-05-01T12:00Z`, in this machine's time zone
            by default; or a number of minutes, hours, days or weeks ago: `30m`, `12h`, `7d`,
            `2w`.
        now: the time to count back from; default: now.
        name: what the error calls the text, such as an option.

    Raises:
        InvalidRequestError: the text is none of these.
    """
    text = text.strip()
    ago = _AGO.fullmatch(text)
    try:
        if ago:
            unit = _UNITS[ago[2].lower()]
            return (now or datetime.now(UTC)) - timedelta(**{unit: int(ago[1])})
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidRequestError(
            f"{name} must be a date as in 2026-05-01, or how long ago as in 12h, 30d or 8w, "
            f"got {text!r}"
        ) from error
