"""Shares of the budget: proportional, whole, and the same in whatever order."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TypeVar

import pytest
from hypothesis import given, settings, strategies as st

from contextkit.budget.shares import allotments, by_evidence, readable_shares, shares

thorough = settings.get_profile("thorough")
T = TypeVar("T")
KEYS = st.text(st.characters(codec="ascii"), min_size=1, max_size=3)
WEIGHTS = st.dictionaries(
    KEYS, st.floats(min_value=1e-300, max_value=1e300, exclude_min=True), min_size=1, max_size=12
)
TOTALS = st.integers(0, 10**6) | st.integers(0, 10**400)


def shuffled(mapping: dict[str, T], rng: random.Random) -> dict[str, T]:
    """The same in another order."""
    entries = list(mapping.items())
    rng.shuffle(entries)
    return dict(entries)


def test_the_seeds_example() -> None:
    """1 : 2 : 3 of a thousand; what rounding leaves goes to the largest remainders."""
    weights = {"memories": 1, "code": 2, "experiences": 3}
    assert shares(weights, 1000) == {"memories": 167, "code": 333, "experiences": 500}


def test_ties_go_by_name() -> None:
    """Not by the order in which the sources stand; of no budget there are no shares."""
    for keys in ("abc", "cba", "bca"):
        assert shares(dict.fromkeys(keys, 1.0), 8) == {"a": 3, "b": 3, "c": 2}
    assert shares({"a": 1.0, "b": 2.0}, -5) == {"a": 0, "b": 0}


@given(WEIGHTS, TOTALS, st.randoms())
@thorough
def test_shares_are_proportional_and_whole(
    weights: dict[str, float], total: int, rng: random.Random
) -> None:
    """Each within one token of proportional, all together exact, whatever the order."""
    split = shares(weights, total)
    assert sum(split.values()) == total
    whole = sum(map(Fraction, weights.values()))
    for key, share in split.items():
        assert abs(share - total * Fraction(weights[key]) / whole) < 1
    assert shares(shuffled(weights, rng), total) == split


@given(
    st.dictionaries(
        KEYS, st.tuples(st.floats(0.01, 100), st.integers(0, 5000)), min_size=1, max_size=8
    ),
    st.integers(0, 20_000),
    st.randoms(),
)
def test_allotments_leave_nothing_that_is_wanted(
    drawn: dict[str, tuple[float, int]], total: int, rng: random.Random
) -> None:
    """Nobody gets more than wanted; all is given, or everybody is content."""
    weights = {key: weight for key, (weight, _) in drawn.items()}
    wanted = {key: tokens for key, (_, tokens) in drawn.items()}
    given_away = allotments(weights, wanted, total)
    assert all(0 <= given_away[key] <= wanted[key] for key in wanted)
    assert sum(given_away.values()) == min(total, sum(wanted.values()))
    split = shares(weights, total)
    # Whoever wants no less than its share gets no less than that, but for rounding.
    assert all(given_away[key] >= min(split[key], wanted[key]) - 1 for key in wanted)
    assert allotments(shuffled(weights, rng), shuffled(wanted, rng), total) == given_away


# -- weights that follow what was found -------------------------------------------------------


def test_with_the_same_evidence_shares_are_by_weight() -> None:
    """Half of the best evidence is worth a quarter of the room, and so is half as likely twice."""
    weights = {"a": 1.0, "b": 2.0, "c": 1.0}
    same = dict.fromkeys(weights, 0.4)
    certain = dict.fromkeys(weights, 1.0)
    assert by_evidence(weights, same, certain) == weights
    followed = by_evidence(weights, {"a": 0.4, "b": 0.2, "c": 0.0}, certain)
    assert followed == pytest.approx({"a": 1.0, "b": 0.5, "c": 0.0})
    assert by_evidence(weights, same, {"a": 1, "b": 0.5, "c": 0}) == {"a": 1, "b": 1, "c": 0}


@given(
    st.dictionaries(
        KEYS, st.tuples(st.floats(0.01, 100), st.floats(0, 1), st.floats(0, 1)), max_size=8
    ),
    st.integers(0, 20_000),
    st.randoms(),
)
@thorough
def test_a_heavier_key_never_gets_less_for_the_same_evidence(
    drawn: dict[str, tuple[float, float, float]], total: int, rng: random.Random
) -> None:
    """Whatever the order, and nothing of the budget is lost while anything has evidence."""
    weights, evidence, likely = (
        {key: values[place] for key, values in drawn.items()} for place in range(3)
    )
    followed = by_evidence(weights, evidence, likely)
    assert by_evidence(shuffled(weights, rng), evidence, likely) == followed
    split = shares(followed, total)
    assert sum(split.values()) == (total if any(followed.values()) else 0)
    for one in weights:
        for other in weights:
            level = evidence[one] == evidence[other] and likely[one] == likely[other]
            if level and weights[one] > weights[other]:
                assert split[one] >= split[other]


def test_a_share_that_nobody_could_read_is_given_to_the_others() -> None:
    """The lightest goes first; one always stays, however small the budget."""
    weights = {"heavy": 10.0, **{f"light-{n:02}": 1.0 for n in range(11)}}
    assert readable_shares(weights, 2000, 64) == shares(weights, 2000)
    few = readable_shares(weights, 500, 40)
    assert set(few) == {"heavy", "light-09", "light-10"}
    assert sum(few.values()) == 500
    assert min(few.values()) >= 40
    assert readable_shares(weights, 20, 40) == {"heavy": 20}
    assert readable_shares({"a": 0.0}, 100, 10) == {}
