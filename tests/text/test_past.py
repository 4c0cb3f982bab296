"""Questions about the past, and the periods that they name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from contextkit.text.past import Period, asks_for_the_past, named_periods
from tests.growing import assert_linear

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def day(month: int, number: int = 1, year: int = 2026) -> datetime:
    """Midnight of a day."""
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "Which database did we use before?",
        "what did we use before MySQL?",
        "who was the previous owner of billing?",
        "who used to own billing",
        "When did we switch to pnpm?",
        "what was replaced by Argo CD?",
        "Welche Datenbank hatten wir früher?",
        "以前はどのデータベースを使っていましたか",
    ],
)
def test_questions_about_the_past_are_recognised(question: str) -> None:
    """By what they ask for: before, previous, used to, when did."""
    assert asks_for_the_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which database do we use?",
        "What should I run before I push?",
        "Who owns billing?",
        "move the parser to another module",
        "replace the old parser",
        "",
    ],
)
def test_other_questions_are_not(question: str) -> None:
    """Though they have such a word in another sense."""
    assert not asks_for_the_past(question)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what did we use in March?", [Period(day(3), day(4))]),
        ("what did we use in August?", [Period(day(8, 1, 2025), day(9, 1, 2025))]),
        ("on 7 May 2026", [Period(day(5, 7), day(5, 8))]),
        ("2025-12-31 or 2025-12", [
            Period(day(12, 31, 2025), day(1)),
            Period(day(12, 1, 2025), day(1)),
        ]),
        ("what did we decide last week?", [Period(day(5, 11), day(5, 18))]),
        ("on 29 February", []),
        ("in December 9999", []),
        ("what do we use?", []),
    ],
)  # fmt: skip
def test_a_named_day_or_month_is_a_period(question: str, expected: list[Period]) -> None:
    """Without a year it is the latest that has begun."""
    assert named_periods(question, NOW) == expected


def test_a_period_meets_what_was_true_in_it() -> None:
    """The end of each is excluded."""
    march = Period(day(3), day(4))
    assert march.meets(day(1), None)
    assert march.meets(day(3, 31), None)
    assert march.meets(day(1), day(3, 2))
    assert not march.meets(day(1), day(3))
    assert not march.meets(day(4), None)


def test_reading_takes_time_in_proportion() -> None:
    """Whatever a question repeats."""
    assert_linear(asks_for_the_past, lambda size: "was " * (size // 4))
    assert_linear(lambda text: named_periods(text, NOW), lambda size: "in May " * (size // 7))
