"""Which two texts are an update and what it replaces."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from contextkit.dedup.contradictions import _alike, contradicting_pairs


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The API timeout is 30 s", "The API timeout is 60 s"),
        ("The deploy target is us-east-1", "The deploy target is eu-west-2."),
        ("We use Postgres 14", "We use Postgres 15"),
        ("CI runs on Python 3.11", "CI now runs on Python 3.12"),
        ("Deploys run on Fridays at noon", "Deploys run on Mondays at noon"),
        ("Use tabs for indentation", "Do not use tabs for indentation"),
        ("We use tabs for indentation", "We no longer use tabs for indentation"),
        ("Feature flags are enabled in production", "Feature flags are disabled in production"),
        ("The staging database is at db1:5432", "The staging database is at db2:5432"),
        ("The limit is 100 requests a minute", "The limit was raised to 500 requests a minute"),
        ("The lead developer is Anna", "The lead developer is Ben"),
        ("Ada lives in Berlin", "Ada lives in Munich"),
        ("We chose Postgres for its transactions", "We chose MySQL for its transactions"),
        ("Max retries: 3", "Max retries: 5"),
    ],
)
def test_other_values_of_one_subject_contradict(older: str, newer: str) -> None:
    """A number, a version, a place, a day, a name, a negation."""
    assert list(contradicting_pairs([older, newer])) == [(0, 1)]
    assert list(contradicting_pairs([newer, "Fog.", older])) == [(0, 2)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada lives in Berlin", "Bob lives in Berlin"),
        ("Service A listens on port 8001", "Service B listens on port 8002"),
        ("Bug 123: login fails with SSO", "Bug 456: login fails with SSO"),
        ("The staging database is at db1", "The production database is at db2"),
        ("The API timeout is 30 s", "The API retries 3 times"),
        ("The API timeout is 30 s", "the api timeout is 30 s!"),
        ("Is the API timeout 30 s?", "Is the API timeout 60 s?"),
        ("[2026-05-08] Ada: thanks, great", "[2026-06-09] Ada: thanks, great"),
        ("Thanks, Ada!", "Thanks, Bob!"),
        ("30", "60"),
        ("", ""),
        ("not", "never"),
        ("!", "?"),
    ],
)
def test_what_is_of_two_subjects_or_says_the_same_does_not(one: str, other: str) -> None:
    """Other things, other words for the same, questions, greetings, nothing."""
    assert list(contradicting_pairs([one, other])) == []


def test_words_in_another_order_are_another_statement() -> None:
    """The same words do not make the same subject."""
    one = "The red lamp 7 warns ships of the storm tide"
    other = "The storm tide warns of ships 8 the lamp red"
    assert list(contradicting_pairs([one, other])) == []


@given(st.lists(st.frozensets(st.sampled_from("abcdefghij"), min_size=1), max_size=12))
def test_no_pair_with_enough_words_in_common_is_passed_over(texts: list[frozenset[str]]) -> None:
    """All of them at once finds what comparing each with each finds."""
    expected = {
        (one, other)
        for other in range(len(texts))
        for one in range(other)
        if 2 * len(texts[one] & texts[other]) >= 0.6 * (len(texts[one]) + len(texts[other]))
    }
    assert set(_alike(texts)) == expected
