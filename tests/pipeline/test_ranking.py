"""Scores: relevance first, small boosts for what else is known, one order for all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest
from attrs import evolve
from hypothesis import assume, given, strategies as st

from contextkit import ContextItem, Section, SourceInfo
from contextkit.models.candidate import Scores
from contextkit.models.strategy import Strategy
from contextkit.pipeline.gather import Answer
from contextkit.pipeline.rank import rank, recency

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
UNIT = st.floats(0, 1)
CALIBRATED = SourceInfo(scale="calibrated")


def answer(source: str, *items: ContextItem) -> Answer:
    """What a source answered."""
    section = Section(source=source)
    return Answer(section=section, items=items, state="ok", milliseconds=1.0, breaker="closed")


def ranked(*items: ContextItem) -> list[str]:
    """The ids of one source's items, best first."""
    return [c.item.id for c in rank([answer("a", *items)], [CALIBRATED], NOW)]


def test_the_score_is_relevance_with_small_boosts() -> None:
    """`(match + 0.10 salience + 0.05 recency + 0.02 priority) / 1.17`."""
    scores = Scores(relevance=0.3, match=0.5, salience=1.0, recency=0.2, priority=0.5)
    assert scores.score == pytest.approx((0.5 + 0.10 + 0.01 + 0.01) / 1.17)


ANY_SCORES = st.builds(
    Scores, relevance=UNIT, match=UNIT, salience=UNIT, recency=UNIT, priority=UNIT
)


@given(ANY_SCORES, ANY_SCORES)
def test_boosts_never_carry_a_bad_match_past_a_good_one(first: Scores, second: Scores) -> None:
    """A match that is better by more than all boosts together wins."""
    assume(first.match > second.match + 0.17 + 1e-9)
    assert first.score > second.score


def matches(*given: tuple[SourceInfo, Sequence[float]]) -> list[list[float]]:
    """The matches of each source's items, in the order of their relevances."""
    answers = [
        answer(f"s{n}", *(ContextItem(f"s{n}", str(i), r, id=str(i)) for i, r in enumerate(found)))
        for n, (_, found) in enumerate(given)
    ]
    candidates = rank(answers, [info for info, _ in given], NOW)
    by_id = {(c.section, c.item.id): round(c.scores.match, 4) for c in candidates}
    return [[by_id[f"s{n}", str(i)] for i in range(len(g[1]))] for n, g in enumerate(given)]


def test_raw_scores_of_two_sources_never_stand_side_by_side() -> None:
    """A source of its own scale counts by its order: level with the others, a place at a time."""
    own = SourceInfo()
    (calibrated, boastful, shy) = matches(
        (CALIBRATED, [0.6, 0.4]), (own, [0.99, 0.99, 0.99]), (own, [0.03, 0.02])
    )
    assert calibrated == [0.6, 0.4]
    assert boastful == [0.6, round(0.6 * 10 / 11, 4), round(0.6 * 10 / 12, 4)]
    assert shy == [0.6, round(0.6 * 10 / 11, 4)]


def test_the_common_level_is_the_median_of_the_calibrated_sources_best() -> None:
    """Sources that found nothing do not pull it down; without any it is one."""
    own = SourceInfo()
    found = matches(
        (CALIBRATED, [0.9]),
        (CALIBRATED, [0.2, 0.1]),
        (CALIBRATED, [0.4]),
        (CALIBRATED, []),
        (own, [0.5]),
    )
    assert found[-1] == [0.4]
    assert matches((own, [0.2, 0.7])) == [[round(10 / 11, 4), 1.0]]


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
    assert recency(created, NOW, 30) == pytest.approx(expected)


def test_recency_knows_time_zones_and_ages() -> None:
    """Ages are counted between moments, not between clock faces, and may be any."""
    elsewhere = NOW.astimezone(timezone(timedelta(hours=-7)))
    assert recency(elsewhere, NOW, 30) == 1.0
    assert recency(datetime.min.replace(tzinfo=UTC), NOW, 30) == pytest.approx(0.0)
    assert recency(NOW - timedelta(days=7), NOW, half_life_days=7) == pytest.approx(0.5)


def test_ties_go_to_the_priority_then_by_name() -> None:
    """So that the order is the same every time."""
    answers = [answer("b", ContextItem("b", "x", 0.5, id="1"))]
    answers.append(answer("c", ContextItem("c", "x", 0.5, id="1")))
    answers.append(answer("a", *(ContextItem("a", "x", 0.5, id=i) for i in "21")))
    found = [
        (c.item.source, c.item.id)
        for c in rank(answers, [CALIBRATED, evolve(CALIBRATED, priority=51), CALIBRATED], NOW)
    ]
    assert found == [("c", "1"), ("a", "1"), ("a", "2"), ("b", "1")]


def in_a_row(*relevances: float) -> list[ContextItem]:
    """Items of one sequence, one beside the other; ids are their positions."""
    return [
        ContextItem("a", f"{n}", relevance, id=f"{n}", sequence="s", position=n)
        for n, relevance in enumerate(relevances)
    ]


def test_neighbours_raise_the_match() -> None:
    """`1 - (1 - match) (1 - support)` takes the place of the match; the trace shows both."""
    scores = Scores(relevance=0.5, match=0.5, salience=0, recency=0, priority=0, support=0.4)
    assert scores.score == pytest.approx(0.7 / 1.17)
    assert scores.as_dict()["support"] == 0.4
    assert "support" not in evolve(scores, support=0.0).as_dict()


def test_a_hint_raises_the_score_and_not_the_relevance() -> None:
    """It decides between items that match; one that does not match stays below the floor."""
    hinted = evolve(ContextItem("a", "x", 0.05, id="x"), hint=0.4)
    (candidate,) = rank([answer("a", hinted)], [CALIBRATED], NOW)
    assert candidate.relevance == 0.05
    assert candidate.scores.as_dict()["hint"] == 0.4
    bare = rank([answer("a", evolve(hinted, hint=0.0))], [CALIBRATED], NOW)[0].scores
    assert candidate.scores.score > bare.score
    assert "hint" not in bare.as_dict()


def test_what_stands_beside_a_good_match_comes_before_what_stands_alone() -> None:
    """The weight is a setting; without it only the match counts."""
    items = [*in_a_row(0.9, 0.1), ContextItem("a", "x", 0.4, id="alone")]
    found = rank([answer("a", *items)], [CALIBRATED], NOW)
    assert [c.item.id for c in found] == ["0", "1", "alone"]
    assert found[1].scores.support == pytest.approx(0.9 * 0.7)
    assert found[1].relevance == pytest.approx(1 - 0.9 * 0.37)
    off = rank([answer("a", *items)], [CALIBRATED], NOW, Strategy(neighbours=0))
    assert [c.item.id for c in off] == ["0", "alone", "1"]
    assert [c.relevance for c in off] == [0.9, 0.4, 0.1]


def test_bad_matches_do_not_support_each_other() -> None:
    """A row of them stays below the floor of its section; another section's is not theirs."""
    items = in_a_row(0.09, 0.09, 0.09, 0.5)
    found = rank([answer("a", *items)], [CALIBRATED], NOW, floors={"a": 0.1})
    support = {c.item.id: c.scores.support for c in found}
    assert support["0"] == support["3"] == 0
    assert 0 < support["1"] < support["2"]
    everyone = rank([answer("a", *items)], [CALIBRATED], NOW, floors={"b": 0.1})
    assert all(c.scores.support > 0 for c in everyone if c.item.id != "3")


def test_neighbours_raise_no_item_above_the_best_match() -> None:
    """A section that answers comes before a page whose parts match less and support each other."""
    items = [*in_a_row(0.55, 0.55, 0.55), ContextItem("a", "x", 0.6, id="alone")]
    found = rank([answer("a", *items)], [CALIBRATED], NOW)
    assert [c.item.id for c in found] == ["alone", "0", "1", "2"]
    assert all(0.55 < c.scores.supported_match < 0.6 for c in found[1:])


def test_what_does_not_match_comes_behind_good_matches() -> None:
    """It stands beside the best match, and has no word of the question."""
    items = [*in_a_row(0.9, 0.0, 0.9), ContextItem("a", "x", 0.65, id="alone")]
    found = rank([answer("a", *items)], [CALIBRATED], NOW, floors={"a": 0.1})
    assert [c.item.id for c in found] == ["0", "2", "alone", "1"]
    assert found[3].scores.supported_match == pytest.approx(0.7 * 0.9)


def test_neighbours_are_of_one_answer() -> None:
    """The same sequence in another section, or in another source, is another one."""
    first, second = in_a_row(0.9, 0.1)
    answers = [answer("a", first), answer("b", evolve(second, source="b"))]
    found = rank(answers, [CALIBRATED, CALIBRATED], NOW)
    assert [c.scores.support for c in found] == [0, 0]


def test_sources_of_their_own_scale_have_neighbours_too() -> None:
    """Their places count in their stead, in the order that the source gave."""
    found = rank([answer("a", *in_a_row(0.02, 0.01))], [SourceInfo()], NOW)
    assert [(c.item.id, round(c.scores.match, 3)) for c in found] == [("0", 1.0), ("1", 0.909)]
    assert found[1].scores.support == pytest.approx(0.7)
