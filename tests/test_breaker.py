"""A source that keeps failing is left alone, then tried once."""

from __future__ import annotations

import pytest

from contextkit.concurrency import Breaker
from contextkit.pipeline.breakers import Breakers, SourceHealth
from tests.making import Clock


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    """Opens after two failures, for ten seconds."""
    return Breaker(failures_to_open=2, cooldown=10.0, clock=clock)


def opened(breaker: Breaker) -> Breaker:
    """The same breaker after enough failures."""
    for _ in range(breaker.failures_to_open):
        breaker.failed()
    return breaker


def test_what_fails_side_by_side_is_one_failure(breaker: Breaker, clock: Clock) -> None:
    """However many were asked before the first of them failed; the next one counts again."""
    clock.now = 5.0
    for asked_at in (1.0, 2.0, 3.0, 4.0):
        breaker.failed(asked_at)
        clock.now += 0.1
    assert breaker.allows()
    breaker.failed(5.05)
    assert not breaker.allows()


def test_an_abandoned_probe_says_nothing(breaker: Breaker, clock: Clock) -> None:
    """Where the asker went away the next one may probe."""
    opened(breaker)
    clock.now = 10.0
    assert breaker.allows()
    breaker.abandoned()
    assert (breaker.state, breaker.allows()) == ("half_open", True)


def test_the_health_of_a_source_is_told_in_words(clock: Clock) -> None:
    """For how long it is left alone, rounded up, and why; nothing while it is asked."""
    breakers = Breakers(2, 10.0, clock)
    tide = breakers.of("tide")
    assert breakers.health("tide") == SourceHealth(source="tide", state="closed")
    tide.failed(reason="it is low")
    once = SourceHealth(source="tide", state="closed", failures=1, reason="it is low")
    assert breakers.health("tide") == once
    assert once.words is None
    tide.failed()
    assert breakers.health("tide").words == "skipped for 10 s: it failed too often"
    tide.failed(reason="it is low")
    clock.now = 6.5
    assert breakers.health("tide").words == "skipped for 4 s: it is low"
    clock.now = 12.0
    found = breakers.health("tide")
    assert (found.state, found.seconds) == ("half_open", 0.0)
    assert found.words == "skipped until the next request: it is low"
    assert breakers.health("other") == SourceHealth(source="other", state="closed")
