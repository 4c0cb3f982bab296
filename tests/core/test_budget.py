"""Shares of the budget: proportional, whole, and the same in whatever order."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextkit.fitting.budget import allotments, by_match, shares

thorough = settings.get_profile("thorough")
T = TypeVar("T")
KEYS = st.text(st.characters(codec="ascii"), min_size=1, max_size=3)
WEIGHTS = st.dictionaries(
    KEYS, st.floats(min_value=1e-300, max_value=1e300, exclude_min=True), min_size=1, max_size=12
)
LEVEL = st.builds(lambda match, number: [match] * number, st.floats(0, 1), st.integers(0, 40))
MATCHES = st.lists(st.floats(0, 1), max_size=30) | LEVEL
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


def test_ties_go_by_name() -> None:
    """Not by the order in which the sources stand."""
    for keys in ("abc", "cba", "bca"):
        assert shares(dict.fromkeys(keys, 1.0), 8) == {"a": 3, "b": 3, "c": 2}


@pytest.mark.parametrize("total", [0, -5])
def test_nothing_is_split_into_nothing(total: int) -> None:
    """No budget, no shares; no sources, no shares."""
    assert shares({"a": 1.0, "b": 2.0}, total) == {"a": 0, "b": 0}
    assert shares({}, 100) == {}


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


def test_what_one_leaves_goes_to_the_others_by_weight() -> None:
    """The share of an empty section is not lost."""
    weights = {"a": 1, "b": 1, "c": 2, "empty": 4}
    wanted = {"a": 50, "b": 10_000, "c": 10_000, "empty": 0}
    assert allotments(weights, wanted, 800) == {"a": 50, "b": 250, "c": 500, "empty": 0}


def test_shares_are_exact_where_floats_are_not() -> None:
    """Ten times 0.1 is not 1.0, and a budget may be larger than any float."""
    weights = {f"s{number}": 0.1 for number in range(10)}
    assert shares(weights, 10) == dict.fromkeys(weights, 1)
    assert math.log10(shares({"a": 1, "b": 3}, 10**400)["b"]) == pytest.approx(399.875, abs=1e-3)


# -- weights that follow what was found -------------------------------------------------------


def test_where_one_stands_out_its_weight_stays() -> None:
    """Two level ones double the weight; what matches much less adds next to nothing."""
    weights = dict.fromkeys(("clear", "two", "none", "nothing"), 3.0)
    matches = {"clear": [0.2, 0.8], "two": [0.5, 0.5], "none": [], "nothing": [0.0, 0.0]}
    followed = by_match(weights, matches)
    assert followed["clear"] == pytest.approx(3, rel=1e-6)
    assert followed["two"] == 6
    assert followed["none"] == followed["nothing"] == 3


def test_a_weight_of_nothing_stays_nothing() -> None:
    """However much was found, it gets no share."""
    followed = by_match({"a": 0.0, "b": 1.0}, {"a": [0.9] * 20})
    assert followed == {"a": 0.0, "b": 1.0}
    assert shares(followed, 100) == {"a": 0, "b": 100}


@given(
    st.dictionaries(KEYS, st.tuples(st.floats(0.01, 100), MATCHES), min_size=1, max_size=8),
    st.integers(0, 20_000),
    st.randoms(),
)
@thorough
def test_shares_by_match_are_all_of_the_budget_and_leave_nobody_out(
    drawn: dict[str, tuple[float, list[float]]], total: int, rng: random.Random
) -> None:
    """Each is at least an eighth of the fixed one, whatever was found and in whatever order."""
    weights = {key: weight for key, (weight, _) in drawn.items()}
    matches = {key: found for key, (_, found) in drawn.items()}
    followed = by_match(weights, matches)
    split, fixed = shares(followed, total), shares(weights, total)
    assert sum(split.values()) == total
    assert all(weights[key] <= followed[key] <= 8 * weights[key] for key in weights)
    assert all(8 * (split[key] + 1) >= fixed[key] - 1 for key in weights)
    for found in matches.values():
        rng.shuffle(found)
    assert by_match(shuffled(weights, rng), matches) == followed


@given(MATCHES.filter(any), st.floats(0, 1))
def test_one_more_item_never_makes_a_share_smaller_unless_it_is_the_best(
    matches: list[float], more: float
) -> None:
    """More of the same is more to show; a new best one makes the others count less."""
    more = min(more, max(matches))
    before = by_match({"a": 1.0}, {"a": matches})["a"]
    assert by_match({"a": 1.0}, {"a": [*matches, more]})["a"] >= before - 1e-9
