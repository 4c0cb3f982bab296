"""Scores: relevance first, small boosts for what else is known, one order for all."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contextkit import ContextItem, Section
from contextkit.gather import Answer
from contextkit.ranking import Candidate, Scores, rank, recency

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
UNIT = st.floats(0, 1)


def answer(source: str, *items: ContextItem) -> Answer:
    """What a source answered."""
    section = Section(source=source)
    return Answer(section=section, items=items, state="ok", milliseconds=1.0, breaker="closed")


def ranked(*items: ContextItem) -> list[str]:
    """The ids of one source's items, best first."""
    return [c.item.id for c in rank([answer("a", *items)], [50], NOW)]


def test_the_score_is_relevance_with_small_boosts() -> None:
    """`(relevance + 0.10 salience + 0.05 recency) / 1.15`."""
    scores = Scores(relevance=0.5, salience=1.0, recency=0.2)
    assert scores.score == pytest.approx((0.5 + 0.10 + 0.01) / 1.15)


@given(UNIT, UNIT, UNIT)
def test_a_score_is_within_bounds(relevance: float, salience: float, recent: float) -> None:
    """Whatever its parts are."""
    assert 0 <= Scores(relevance=relevance, salience=salience, recency=recent).score <= 1


ANY_SCORES = st.builds(Scores, relevance=UNIT, salience=UNIT, recency=UNIT)


@given(ANY_SCORES, ANY_SCORES)
def test_boosts_never_carry_a_bad_match_past_a_good_one(first: Scores, second: Scores) -> None:
    """A relevance that is better by more than all boosts together wins."""
    assume(first.relevance > second.relevance + 0.15 + 1e-9)
    assert first.score > second.score


def test_salience_and_age_decide_between_equal_matches() -> None:
    """The more salient, the more recent first; unknown is in the middle."""
    assert ranked(
        ContextItem("a", "1", 0.5, id="low", salience=0.1),
        ContextItem("a", "2", 0.5, id="unknown"),
        ContextItem("a", "3", 0.5, id="high", salience=0.9),
    ) == ["high", "unknown", "low"]
    assert ranked(
        ContextItem("a", "1", 0.5, id="old", created_at=NOW - timedelta(days=300)),
        ContextItem("a", "2", 0.5, id="undated"),
        ContextItem("a", "3", 0.5, id="new", created_at=NOW),
    ) == ["new", "undated", "old"]


@pytest.mark.parametrize(
    ("days", "expected"), [(0, 1.0), (30, 0.5), (60, 0.25), (15, 0.5**0.5), (-5, 1.0)]
)
def test_recency_is_a_true_half_life(days: float, expected: float) -> None:
    """Half of it is left after thirty days; the future counts as now."""
    created = NOW - timedelta(days=days)
    assert recency(created, NOW) == pytest.approx(expected)


def test_recency_knows_time_zones_and_ages() -> None:
    """Ages are counted between moments, not between clock faces, and may be any."""
    elsewhere = NOW.astimezone(timezone(timedelta(hours=-7)))
    assert recency(elsewhere, NOW) == 1.0
    assert recency(datetime.min.replace(tzinfo=UTC), NOW) == pytest.approx(0.0)
    assert recency(NOW - timedelta(days=7), NOW, half_life_days=7) == pytest.approx(0.5)


def test_ties_go_to_the_priority_then_by_name() -> None:
    """So that the order is the same every time."""
    answers = [answer("b", ContextItem("b", "x", 0.5, id="1"))]
    answers.append(answer("c", ContextItem("c", "x", 0.5, id="1")))
    answers.append(answer("a", *(ContextItem("a", "x", 0.5, id=i) for i in "21")))
    found = [(c.item.source, c.item.id) for c in rank(answers, [50, 90, 50], NOW)]
    assert found == [("c", "1"), ("a", "1"), ("a", "2"), ("b", "1")]


@given(st.lists(st.tuples(st.sampled_from("abc"), UNIT, UNIT), max_size=20), st.randoms())
def test_the_order_does_not_depend_on_that_of_the_answers(
    drawn: list[tuple[str, float, float]], rng: random.Random
) -> None:
    """Which source answered first is nothing that a reader should see."""
    items = [
        ContextItem(source, str(number), relevance, id=str(number), salience=salience)
        for number, (source, relevance, salience) in enumerate(drawn)
    ]

    def order(shuffled: list[ContextItem]) -> list[str]:
        return [c.item.id for c in rank([answer("a", *shuffled)], [50], NOW)]

    expected = order(items)
    rng.shuffle(items)
    assert order(items) == expected


def test_a_candidate_knows_its_section() -> None:
    """An item may be found for several sections of one source."""
    section = Section(source="a", key="surprise")
    found = Answer(
        section=section,
        items=(ContextItem("a", "x", 0.5),),
        state="ok",
        milliseconds=1.0,
        breaker="closed",
    )
    (candidate,) = rank([found], [70], NOW)
    assert candidate == Candidate(
        item=found.items[0],
        section="surprise",
        scores=Scores(relevance=0.5, salience=0.5, recency=0.5),
        priority=70,
    )
