"""Which statement makes an older one untrue."""

from __future__ import annotations

import pytest

from contextkit.dedup.updates import updated_pairs
from tests.growing import assert_linear


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
        ("Docs are in Confluence", "The docs are not in Confluence any more but in the repo"),
        ("Feature flags are enabled in production", "Feature flags are disabled in production"),
        ("The staging database is at db1:5432", "The staging database is at db2:5432"),
        ("The lead developer is Anna", "The lead developer is Ben"),
        ("Ada lives in Berlin", "Ada lives in Munich"),
        ("We chose Postgres for its transactions", "We chose MySQL for its transactions"),
        ("Max retries: 3", "Max retries: 5"),
        ("CTO: Martin Vogel", "CTO: Sarah Lind"),
        ("The user prefers tabs over spaces", "The user now prefers spaces over tabs"),
    ],
)
def test_a_flipped_value_of_the_same_subject_replaces_the_old_one(older: str, newer: str) -> None:
    """A number, a version, a place, a day, a name, a negation; behind the same verb."""
    assert list(updated_pairs([older, newer])) == [(0, 1)]
    assert list(updated_pairs([older, "Fog.", newer])) == [(0, 2)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We use Postgres as our main database", "We moved from Postgres to MySQL"),
        ("Maria owns the billing service", "Since May the billing service is owned by Jonas"),
        ("The on-call lead is Priya", "Sam took over from Priya as on-call lead"),
        ("The limit is 100 requests a minute", "The limit was raised to 500 requests a minute"),
        ("We deploy with Ansible scripts", "Ansible has been replaced by Argo CD for deploys"),
        ("The user lives in Munich", "The user has moved to Hamburg"),
        ("Use unittest for new tests", "Use pytest for new tests instead of unittest"),
        ("We moved from Postgres to MySQL", "We moved from MySQL to Oracle"),
    ],
)
def test_a_change_word_on_the_same_subject_replaces_the_old_one(older: str, newer: str) -> None:
    """The newer one names what is no longer true, or has most words of the older one."""
    assert list(updated_pairs([older, newer])) == [(0, 1)]
    assert list(updated_pairs([newer, older])) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada lives in Berlin", "Bob lives in Berlin"),
        ("The EU cluster has 12 nodes", "The US cluster has 20 nodes"),
        ("Service A listens on port 8001", "Service B listens on port 8002"),
        ("Bug 123: login fails with SSO", "Bug 456: login fails with SSO"),
        ("The staging database is at db1", "The production database is at db2"),
        ("The API timeout is 30 s", "The API retries 3 times"),
        ("The API timeout is 30 s", "the api timeout is 30 s!"),
        ("Is the API timeout 30 s?", "Is the API timeout 60 s?"),
        ("The user speaks German", "The user speaks French"),
        ("We support Python 3.11", "We also support Python 3.12"),
        ("Nina went to Rome in May", "Nina went to Oslo in July"),
        ("The import took 14 minutes", "The import took 55 minutes"),
        ("The billing service uses Postgres", "The search service moved from Postgres to Redis"),
        ("Nightly builds run at 2 am", "Nightly backups now run at 4 am"),
        ("CI runs on GitHub Actions", "CI was migrated from Jenkins to GitHub Actions"),
        ("[2026-05-08] Ada: thanks, great", "[2026-06-09] Ada: thanks, great"),
        ("Ada: no", "Ada: yes"),
        ("Thanks, Ada!", "Thanks, Bob!"),
        ("30", "60"),
        ("", ""),
        ("not", "never"),
        ("!", "?"),
    ],
)
def test_statements_that_may_both_be_true_replace_nothing(one: str, other: str) -> None:
    """Other things, several values, the past, additions, questions, greetings, nothing."""
    assert list(updated_pairs([one, other])) == []
    assert list(updated_pairs([other, one])) == []


def test_reading_a_statement_takes_time_in_proportion_to_its_length() -> None:
    """Also where it is full of words that tell of changes."""
    assert_linear(
        lambda texts: list(updated_pairs(texts)),
        lambda size: ["from x " * (size // 14), "moved to " + "from x, " * (size // 16)],
    )
