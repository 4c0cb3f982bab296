"""Strategies: their numbers, where they come from, and what they make of a context."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from contextkit import (
    ContextItem,
    InvalidRequestError,
    Section,
    SourceInfo,
    Strategy,
)
from contextkit.config.sections import RankingSettings
from contextkit.config.settings import Config
from contextkit.config.strategies import BUILT_IN, strategy_for, strategy_named, strategy_names
from contextkit.errors import ConfigError
from contextkit.models.candidate import Scores
from contextkit.models.request import ContextRequest
from contextkit.pipeline.gather import Answer
from contextkit.pipeline.rank import rank
from contextkit.pipeline.request import make_request
from tests.config.conftest import Load

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
UNIT = st.floats(0, 1)


def scored(
    strategy: Strategy, item: ContextItem, priority: int = 50, history: float = 0.0
) -> float:
    """The score of the only item of a calibrated source."""
    answer = Answer(
        section=Section(source="a"), items=(item,), state="ok", milliseconds=1.0, breaker="closed"
    )
    info = SourceInfo(scale="calibrated", priority=priority)
    chosen = {(item.source, item.id): history}
    (candidate,) = rank([answer], [info], NOW, strategy, history=chosen)
    return candidate.scores.score


def aged(days: float, relevance: float, salience: float | None = None) -> ContextItem:
    """An item of that age."""
    created = NOW - timedelta(days=days)
    return ContextItem("a", "x", relevance, id="x", created_at=created, salience=salience)


# -- scores ---------------------------------------------------------------------------------


@given(UNIT, UNIT, UNIT, UNIT)
def test_the_default_is_what_it_was(match: float, salience: float, age: float, low: float) -> None:
    """To the last bit: `(match + 0.10 salience + 0.05 recency + 0.02 priority) / 1.17`."""
    scores = Scores(relevance=low, match=match, salience=salience, recency=age, priority=low)
    boosted = match + 0.10 * salience + 0.05 * age + 0.02 * low
    assert scores.score == boosted / (1 + 0.10 + 0.05 + 0.02)
    assert strategy_named(Config(), "default") == Strategy() == ContextRequest(query="x").strategy


def test_seed_3s_score_by_hand() -> None:
    """Recency 0.3, relevance 0.5, salience 0.2; recency halves every 24 hours."""
    strategy = strategy_named(Config(), "balanced")
    # 0.5 * 0.8 + 0.3 * 0.25 + 0.2 * 0.9, whose weights sum up to 1.
    assert scored(strategy, aged(2, 0.8, 0.9)) == pytest.approx(0.655)
    # An event has the neutral salience of seed 3; the source's priority counts nothing.
    assert scored(strategy, aged(0, 0.4), priority=100) == pytest.approx(0.2 + 0.3 + 0.1)
    assert scored(strategy, aged(0, 0.4), priority=1) == pytest.approx(0.6)


def test_seed_5s_score_by_hand() -> None:
    """40% similarity, 30% recency, 20% priority, 10% use, times 0.95 for each day."""
    strategy = strategy_named(Config(), "conversation")
    # 0.4 * 0.5 + 0.3 * 0.5 (one half-life) + 0.2 * 0.9 + 0.1 * 0.7 = 0.6, decayed by 30 days.
    found = scored(strategy, aged(30, 0.5), priority=90, history=0.7)
    assert found == pytest.approx(0.6 * 0.95**30)
    # Now, nothing decays.
    assert scored(strategy, aged(0, 0.5), priority=60) == pytest.approx(0.2 + 0.3 + 0.12)


def test_an_item_without_a_date_does_not_decay() -> None:
    """Its recency is the neutral one half, its score whole; so is that of one of tomorrow."""
    strategy = Strategy(decay=0.5, salience=0, priority=0, recency=1, relevance=1)
    assert scored(strategy, ContextItem("a", "x", 0.7)) == pytest.approx((0.7 + 0.5) / 2)
    assert scored(strategy, aged(-3, 0.7)) == pytest.approx((0.7 + 1) / 2)
    assert scored(strategy, aged(1, 0.7)) < (0.7 + 1) / 4


@given(
    st.lists(st.floats(0, 10), min_size=5, max_size=5).filter(any),
    st.lists(UNIT, min_size=5, max_size=5),
    st.floats(0.01, 1),
)
def test_a_score_is_within_bounds_by_any_weights(
    weights: list[float], values: list[float], decay: float
) -> None:
    """The weights are relative: their mean stays within 0..1."""
    names = ("relevance", "salience", "recency", "priority", "history")
    strategy = strategy_for(Config(), dict(zip(names, weights, strict=True)))
    match, *others = values
    rest = dict(zip(names[1:], others, strict=True))
    scores = Scores(relevance=match, match=match, strategy=strategy, decay=decay, **rest)
    assert 0 <= scores.score <= 1 + 1e-9


@given(UNIT, st.floats(0.126, 1), UNIT, st.floats(0, 2000))
def test_what_was_only_shown_outweighs_no_clearly_better_match(
    match: float, lead: float, salience: float, days: float
) -> None:
    """An eighth is clear: 10% of use, of which one half can come of being shown, to 40%."""
    strategy = strategy_named(Config(), "conversation")
    better = scored(strategy, aged(days, min(1.0, match * (1 - lead) + lead), salience))
    favourite = scored(strategy, aged(days, match * (1 - lead), salience), history=0.5)
    assert better > favourite


# -- a strategy's numbers -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"recency": -0.1}, "recency: expected a number of at least 0, got -0.1"),
        ({"recency": math.nan}, "recency: expected a number of at least 0, got nan"),
        ({"salience": math.inf}, "salience: expected a number of at least 0, got inf"),
        ({"priority": True}, "priority: expected a number of at least 0, got True"),
        ({"history": "0.1"}, "history: expected a number of at least 0, got '0.1'"),
        ({"decay": 0}, "decay: expected a number over 0 and at most 1, got 0"),
        ({"decay": 1.01}, "decay: expected a number over 0 and at most 1, got 1.01"),
        ({"half_life_days": 0}, "half_life_days: expected a number of days over 0, got 0"),
        ({"neighbours": 2}, "neighbours: expected a number within 0..1, got 2"),
        ({"min_relevance": -1}, "min_relevance: expected a number within 0..1, got -1"),
        ({"diversity": 1.5}, "diversity: expected a number within 0..1, got 1.5"),
        ({"shares": "equal"}, "shares: expected one of by_evidence, fixed, got 'equal'"),
        ({"depth": -1}, "depth: expected a whole number of at least 0, got -1"),
        ({"depth": 1.5}, "depth: expected a whole number of at least 0, got 1.5"),
        ({"name": ""}, "name: expected a name, got ''"),
        ({"budget": {"a": 70, "b": 31}}, "together at most 100, got {'a': 70, 'b': 31}"),
        ({"budget": {"a": -1}}, "budget.a: expected a number of at least 0, got -1"),
        ({"budget": {"a": math.nan}}, "budget.a: expected a number of at least 0, got nan"),
        ({"budget": 50}, "together at most 100, got 50"),
        ({"limits": {"a": 0}}, "limits.a: expected a whole number of at least 1, got 0"),
        (
            {"relevance": 0, "salience": 0, "recency": 0, "priority": 0},
            "expected a weight over 0: one of relevance, salience, recency, priority, history",
        ),
    ],
)
def test_numbers_that_make_no_sense_are_refused(parts: Mapping[str, Any], said: str) -> None:
    """Each says which it is, what was expected and what was there; in a request just so."""
    with pytest.raises(ValueError, match=r": expected |^expected ") as caught:
        Strategy(**parts)
    assert str(caught.value).endswith(said)
    if "name" not in parts:
        with pytest.raises(InvalidRequestError, match=r"^strategy: "):
            strategy_for(Config(), parts)


def test_a_strategy_shows_what_differs_from_the_default() -> None:
    """Everything that it leaves as it is would be noise."""
    assert repr(Strategy()) == "Strategy(name='default')"
    shown = repr(Strategy(name="mine", recency=0.5, budget={"code": 60}))
    assert shown == "Strategy(name='mine', recency=0.5, budget={'code': 60})"


# -- by name --------------------------------------------------------------------------------


def test_what_a_strategy_does_not_say_is_as_in_ranking(load: Load) -> None:
    """A new one has the numbers of `[ranking]`, and so have those that come with contextkit."""
    config = load(
        project="[ranking]\nsalience = 0.4\nneighbours = 0.2\n\n[strategies.mine]\nrecency = 2\n"
    )
    mine = strategy_named(config, "mine")
    assert mine == Strategy(name="mine", salience=0.4, neighbours=0.2, recency=2.0)
    assert strategy_named(config, "balanced").salience == 0.2
    assert strategy_named(config, "balanced").neighbours == 0.2
    assert strategy_named(config, "default").salience == RankingSettings(salience=0.4).salience


def test_a_section_changes_parts_of_a_built_in_strategy(load: Load) -> None:
    """The others stay; `default` is one of them."""
    config = load(project="[strategies.balanced]\nrecency = 0.9\n[strategies.default]\ndepth = 2\n")
    whole = strategy_named(Config(), "balanced")
    assert strategy_named(config, "balanced") == evolve(whole, recency=0.9)
    assert make_request(config, "x", project="p", workspace=None).depth == 2
    assert strategy_names(config) == sorted(BUILT_IN)


def test_seed_3s_strategy_can_be_configured(load: Load) -> None:
    """Weights, percentages of the budget and the depth limit, in one section."""
    config = load(
        project="[assemble]\nstrategy = 'archetype'\n"
        "[strategies.archetype]\nrelevance = 0.5\nrecency = 0.3\nsalience = 0.2\npriority = 0\n"
        "half_life_days = 1\ndepth = 2\n"
        "budget = { events = 40, documents = 30, entities = 20, relations = 10 }\n"
        "limits = { events = 50 }\n"
    )
    request = make_request(config, "x", project="p", workspace=None)
    assert request.strategy.budget == {
        "events": 40,
        "documents": 30,
        "entities": 20,
        "relations": 10,
    }
    assert request.strategy.limits == {"events": 50}
    assert request.depth == 2
    numbers = {name: getattr(request.strategy, name) for name in BUILT_IN["balanced"].parts}
    assert numbers == BUILT_IN["balanced"].parts


def test_a_strategy_can_come_from_the_environment(load: Load) -> None:
    """A part whose name ends like another's is that of the shorter strategy name."""
    config = load(
        project="[strategies.my-own]\nrecency = 1\n",
        environment={
            "CONTEXTKIT_STRATEGIES_MY_OWN_MIN_RELEVANCE": "0.25",
            "CONTEXTKIT_STRATEGIES_MY_OWN_BUDGET": "my_notes=50, code = 20.5",
            "CONTEXTKIT_STRATEGIES_MY_OWN_LIMITS": "code=5",
            "CONTEXTKIT_ASSEMBLE_STRATEGY": "my_own",
        },
    )
    request = make_request(config, "x", project="p", workspace=None)
    assert request.strategy.name == "my-own"
    assert request.min_relevance == 0.25
    assert request.strategy.budget == {"my-notes": 50, "code": 20.5}
    assert request.strategy.limits == {"code": 5}
    origin = config.origin("strategies.my-own.min_relevance")
    assert origin.label == "CONTEXTKIT_STRATEGIES_MY_OWN_MIN_RELEVANCE"
    described = {key: str(origin) for key, _, origin in config.described()}
    assert described["strategies.my-own.recency"].endswith("contextkit.toml:2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[strategies.x]\nrecensy = 1\n", "2: strategies.x.recensy: unknown setting; did you mean"),
        ("[strategies.x]\nzzz = 1\n", ":2: strategies.x.zzz: unknown setting; known: budget"),
        ("[strategies.x]\nname = 'y'\n", ":2: strategies.x.name: unknown setting"),
        ("[strategies.x]\nrecency = '1'\n", ":2: strategies.x.recency: expected a number of at"),
        ("[strategies.x.budget]\ncode = 101\n", ": strategies.x.budget: expected SOURCE = percent"),
        ("[strategies.'X Y']\nrecency = 1\n", "a strategy's name is lower-case letters"),
        ("strategies = 5\n", ":1: strategies: expected a table, [strategies]"),
        ("[strategies]\nx = 5\n", ":2: strategies.x: expected a table, [strategies.x]"),
        ("[assemble]\nstrategy = 'defualt'\n", "there is no strategy 'defualt'; did you mean 'def"),
        ("[assemble]\nstrategy = 5\n", ":2: assemble.strategy: expected a strategy's name, got 5"),
        (
            "[strategies.x]\nrelevance = 0\nsalience = 0\nrecency = 0\npriority = 0\n",
            "strategies.x: expected a weight over 0",
        ),
        (
            "[strategies.default]\nrelevance = 0\nsalience = 0\nrecency = 0\npriority = 0\n",
            "strategies.default: expected a weight over 0",
        ),
    ],
)
def test_a_wrong_section_is_an_error_that_says_where(load: Load, text: str, said: str) -> None:
    """File, line, key, and what is expected there."""
    with pytest.raises(ConfigError) as caught:
        load(project=text)
    assert said in str(caught.value)


def test_a_wrong_variable_is_an_error_that_names_it(load: Load) -> None:
    """Also where a table was meant."""
    for value in ("code", "code=x", "code=99,commits=2"):
        with pytest.raises(ConfigError, match="CONTEXTKIT_STRATEGIES_X_BUDGET"):
            load(environment={"CONTEXTKIT_STRATEGIES_X_BUDGET": value})
    with pytest.raises(ConfigError, match="no setting belongs to this environment variable"):
        load(environment={"CONTEXTKIT_STRATEGIES_X_COLOUR": "red"})


# -- in a request ---------------------------------------------------------------------------


def asked(config: Config | None = None, **options: Any) -> ContextRequest:
    """A checked request."""
    return make_request(config or Config(), "what?", project="p", workspace=None, **options)


def test_a_request_names_a_strategy_or_brings_its_own() -> None:
    """By name, as an object, or as the parts that it replaces."""
    assert asked(strategy="Balanced").strategy.name == "balanced"
    own = Strategy(name="own", recency=3)
    assert asked(strategy=own).strategy == own
    assert asked(strategy={"recency": 3}).strategy == Strategy(recency=3)
    replaced = asked(strategy={"name": "balanced", "recency": 3, "depth": None}).strategy
    assert replaced == evolve(strategy_named(Config(), "balanced"), recency=3.0)


def test_a_request_is_stronger_than_its_strategy_and_that_than_the_configuration(
    load: Load,
) -> None:
    """So it is with all that both can say."""
    config = load(project="[assemble]\nmin_relevance = 0.3\nstrategy = 'balanced'\n")
    strategy = {"min_relevance": 0.2, "diversity": 0.5, "shares": "fixed", "depth": 4}
    assert asked(config).min_relevance == 0.3
    found = asked(config, strategy=strategy)
    assert found.strategy.name == "balanced"
    assert (found.min_relevance, found.diversity, found.shares, found.depth) == (
        0.2,
        0.5,
        "fixed",
        4,
    )
    mine = {"min_relevance": 0.0, "diversity": 0.0, "shares": "by_evidence", "depth": 0}
    found = asked(config, strategy=strategy, **mine)
    assert (found.min_relevance, found.diversity, found.depth) == (0, 0, 0)
    assert found.shares == "by_evidence"


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("nope", "there is no strategy 'nope'; there are: "),
        ("balancd", "there is no strategy 'balancd'; did you mean 'balanced'?"),
        ({"name": "nope"}, "there is no strategy 'nope'"),
        ({"recencyWeight": 1}, "a strategy has no part 'recencyWeight'; did you mean 'recency'?"),
        ({5: 1}, "a strategy has no part '5'; it has: relevance, "),
        ({"recency": "much"}, "strategy: recency: expected a number of at least 0, got 'much'"),
        ({"budget": {"a_b": 1, "a-b": 2}}, "strategy: 'a_b' and 'a-b' are one source's name"),
        (Strategy(limits={"A": 1, "a": 2}), "strategy: 'A' and 'a' are one source's name"),
        (5, "strategy must be a name, a Strategy or parts of one, got 5"),
    ],
)
def test_a_strategy_that_makes_no_sense_is_refused(strategy: object, said: str) -> None:
    """In one line that says what would be right."""
    with pytest.raises(InvalidRequestError) as caught:
        asked(strategy=strategy)
    assert said in str(caught.value)
