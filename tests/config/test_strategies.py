"""Strategies: their numbers, where they come from, and what they make of a context."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from contextkit import (
    ContextItem,
    ContextKit,
    FormattedContext,
    InvalidRequestError,
    Section,
    SourceInfo,
    Strategy,
)
from contextkit.budget.shares import by_evidence, by_percent, shares
from contextkit.config.load import load_config
from contextkit.config.sections import RankingSettings
from contextkit.config.settings import Config
from contextkit.config.strategies import BUILT_IN, strategy_for, strategy_named, strategy_names
from contextkit.errors import ConfigError
from contextkit.models.candidate import Scores
from contextkit.models.request import ContextRequest
from contextkit.pipeline.gather import Answer
from contextkit.pipeline.rank import rank
from contextkit.pipeline.request import make_request
from contextkit.workspace.find import find_workspace
from tests.making import KEYWORDS, OpenKit, make_plugin

Load = Callable[..., Config]

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


def test_the_trace_has_what_the_strategy_counts() -> None:
    """History and decay only where they count."""
    scores = Scores(relevance=0.5, match=0.5, salience=0.5, recency=0.5, priority=0.5)
    assert {"history", "decay"}.isdisjoint(scores.as_dict())
    counting = evolve(scores, strategy=Strategy(history=0.1, decay=0.9), history=0.25, decay=0.81)
    assert counting.as_dict()["history"] == 0.25
    assert counting.as_dict()["decay"] == 0.81


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


def test_a_hundred_percent_may_be_of_thirds() -> None:
    """Rounding is no excess."""
    thirds = dict.fromkeys("abc", 100 / 3)
    assert Strategy(budget={**thirds, "d": 0}).budget["a"] == 100 / 3


# -- by name --------------------------------------------------------------------------------


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Reads settings from a project's file: `load("[strategies.x]\\n…", environment={})`."""

    def read(text: str = "", environment: Mapping[str, str] | None = None) -> Config:
        (tmp_path / "contextkit.toml").write_text(text, encoding="utf-8")
        workspace = find_workspace(tmp_path)
        return load_config(
            workspace, environment=environment or {}, layers=["project", "environment"]
        )

    return read


def test_what_a_strategy_does_not_say_is_as_in_ranking(load: Load) -> None:
    """A new one has the numbers of `[ranking]`, and so have those that come with contextkit."""
    config = load("[ranking]\nsalience = 0.4\nneighbours = 0.2\n\n[strategies.mine]\nrecency = 2\n")
    mine = strategy_named(config, "mine")
    assert mine == Strategy(name="mine", salience=0.4, neighbours=0.2, recency=2.0)
    assert strategy_named(config, "balanced").salience == 0.2
    assert strategy_named(config, "balanced").neighbours == 0.2
    assert strategy_named(config, "default").salience == RankingSettings(salience=0.4).salience


def test_a_section_changes_parts_of_a_built_in_strategy(load: Load) -> None:
    """The others stay; `default` is one of them."""
    config = load("[strategies.balanced]\nrecency = 0.9\n[strategies.default]\ndepth = 2\n")
    whole = strategy_named(Config(), "balanced")
    assert strategy_named(config, "balanced") == evolve(whole, recency=0.9)
    assert make_request(config, "x", project="p", workspace=None).depth == 2
    assert strategy_names(config) == sorted(BUILT_IN)


def test_seed_3s_strategy_can_be_configured(load: Load) -> None:
    """Weights, percentages of the budget and the depth limit, in one section."""
    config = load(
        "[assemble]\nstrategy = 'archetype'\n"
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
        "[strategies.my-own]\nrecency = 1\n",
        {
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
        ("[strategies.x]\nrecency = nan\n", ":2: strategies.x.recency: expected a number of at"),
        ("[strategies.x.budget]\ncode = 101\n", ": strategies.x.budget: expected SOURCE = percent"),
        ("[strategies.x]\nbudget = 5\n", ":2: strategies.x.budget: expected SOURCE = percent"),
        ("[strategies.x]\ndepth = 1.0\n", ":2: strategies.x.depth: expected a whole number"),
        ("[strategies.x]\nshares = 'no'\n", ":2: strategies.x.shares: expected one of by_evidence"),
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
        load(text)
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
    config = load("[assemble]\nmin_relevance = 0.3\nstrategy = 'balanced'\n")
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


@pytest.mark.parametrize("depth", [-1, 1.5, "2", True])
def test_a_depth_that_makes_no_sense_is_refused(depth: object) -> None:
    """It is counted in steps."""
    with pytest.raises(InvalidRequestError, match="depth must be a whole number of at least 0"):
        asked(depth=depth)


# -- percentages ----------------------------------------------------------------------------


def test_named_sources_have_their_percentages_and_the_others_share_the_rest() -> None:
    """By their own weights; the sections of one source share its part by theirs."""
    weights = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 3.0, "e1": 1.0, "e2": 3.0}
    sources = {"a": "a", "b": "b", "c": "c", "d": "d", "e1": "e", "e2": "e"}
    found = by_percent(weights, sources, {"a": 40, "b": 20, "e": 20, "elsewhere": 20})
    assert found == pytest.approx({"a": 40, "b": 20, "c": 5, "d": 15, "e1": 5, "e2": 15})
    assert shares(found, 1000) == {"a": 400, "b": 200, "c": 50, "d": 150, "e1": 50, "e2": 150}


def test_where_all_that_is_asked_is_named_the_percentages_fill_the_budget() -> None:
    """In their proportions; and where none is, the weights alone decide."""
    weights, sources = {"a": 1.0, "b": 5.0}, {"a": "a", "b": "b"}
    assert shares(by_percent(weights, sources, {"a": 60, "b": 20}), 100) == {"a": 75, "b": 25}
    assert shares(by_percent(weights, sources, {"z": 60}), 600) == {"a": 100, "b": 500}
    assert by_percent(weights, sources, {}) == weights


def test_what_has_no_percent_of_its_own_gets_no_token_but_what_is_left() -> None:
    """Its weight is over 0 all the same, as every weight."""
    weights, sources = {"a": 1.0, "b": 5.0}, {"a": "a", "b": "b"}
    for percent in ({"a": 100}, {"a": 50, "b": 0}):
        found = by_percent(weights, sources, percent)
        assert found["b"] > 0
        assert shares(found, 100_000) == {"a": 100_000, "b": 0}


def test_weights_may_be_as_large_and_as_small_as_floats_can_be() -> None:
    """They have no sum then, and no product."""
    sources = {"a": "a", "b": "b"}
    large, small = {"a": 1e308, "b": 1e308}, {"a": 5e-324, "b": 5e-324}
    for weights in (large, small):
        assert shares(by_percent(weights, sources, {"z": 60}), 600) == {"a": 300, "b": 300}
        assert shares(by_percent(weights, sources, {"a": 0, "b": 0}), 600) == {"a": 300, "b": 300}
    level = {"a": 0.9, "b": 0.9}
    assert shares(by_evidence(large, level, level), 600) == {"a": 300, "b": 300}


# -- in a context ---------------------------------------------------------------------------


def items(source: str, number: int, created_at: datetime | None = None) -> list[ContextItem]:
    """Items of about 40 tokens, no two alike."""
    return [
        ContextItem(
            source,
            " ".join(f"{source}{chr(97 + place)}{word:03}" for word in range(10)),
            0.9 - place / 100,
            id=f"{source}-{place}",
            created_at=created_at,
        )
        for place in range(number)
    ]


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """Three sources with a lot to show and one with nothing."""
    found = {"alpha": 20, "beta": 20, "gamma": 20, "silent": 0}
    return open_kit(
        {
            name: make_plugin(items(name, number), contextkit_source=SourceInfo(scale="calibrated"))
            for name, number in found.items()
        },
        settings=KEYWORDS,
    )


async def ask(kit: ContextKit, **options: Any) -> FormattedContext:
    """A context of 1000 tokens."""
    return await kit.assemble_context("alpha beta", max_tokens=1000, **options)


async def test_the_shares_in_the_trace_are_the_percentages(kit: ContextKit) -> None:
    """Up to rounding; what the silent one leaves is used by the others."""
    strategy = {"budget": {"alpha": 50, "silent": 30}, "name": "default"}
    context = await ask(kit, strategy=strategy)
    rows = {row.source: row for row in context.trace.sources}
    room = sum(row.share for row in rows.values())
    assert rows["alpha"].share == pytest.approx(room * 0.5, abs=1)
    assert rows["silent"].share == pytest.approx(room * 0.3, abs=1)
    assert rows["beta"].share == pytest.approx(room * 0.1, abs=1)
    assert rows["gamma"].share == pytest.approx(room * 0.1, abs=1)
    assert rows["silent"].given == rows["silent"].share
    assert all(row.fixed_share is None for row in rows.values())
    assert context.token_count > 900


async def test_what_is_left_of_the_budget_is_used_by_what_has_no_percent(kit: ContextKit) -> None:
    """Work-conserving: all of it for a source that finds nothing leaves all to the others."""
    context = await ask(kit, strategy={"budget": {"silent": 100}})
    assert context.token_count > 900
    assert set(context.sources_used) == {"alpha", "beta", "gamma"}


async def test_percentages_hold_under_the_soft_limit_too(kit: ContextKit) -> None:
    """There what is allotted may be exceeded by one item for each section."""
    context = await ask(kit, strategy={"budget": {"alpha": 80}}, overflow="soft")
    assert context.sources_used["alpha"] > 3 * context.sources_used["beta"]


async def test_the_trace_says_which_strategy_made_the_scores(kit: ContextKit) -> None:
    """Its name and its numbers, also as JSON."""
    assert (await ask(kit)).trace.strategy == Strategy().as_dict()
    context = await ask(kit, strategy="balanced")
    assert context.as_dict()["trace"]["strategy"] == {
        "name": "balanced",
        "relevance": 0.5,
        "salience": 0.2,
        "recency": 0.3,
        "priority": 0.0,
        "history": 0.0,
        "half_life_days": 1.0,
        "decay": 1.0,
        "neighbours": 0.7,
    }


async def test_an_unknown_source_of_a_request_is_an_error(kit: ContextKit) -> None:
    """In percentages and in limits, of an object and of parts."""
    for strategy in (
        {"budget": {"alfa": 50}},
        {"limits": {"alfa": 50}},
        Strategy(budget={"alfa": 50}),
    ):
        with pytest.raises(InvalidRequestError, match="there is no source 'alfa'; there are: alp"):
            await ask(kit, strategy=strategy)


@pytest.mark.parametrize("what", ["weights", "limits", "timeouts"])
async def test_an_unknown_source_of_a_requests_numbers_is_a_note(
    open_kit: OpenKit, what: str
) -> None:
    """It may be one that is not installed here; a source that is only off is no unknown one."""
    kit = open_kit({n: make_plugin(items(n, 3)) for n in ("alpha", "beta")}, settings=KEYWORDS)
    kit.disable("beta")
    context = await ask(kit, **{what: {"alpha": 60, "beta": 2, "alfa": 2}})
    assert context.trace.notes == (f"the request's {what} name 'alfa', which is not a source",)


async def test_an_unknown_source_of_the_configuration_is_a_note(open_kit: OpenKit) -> None:
    """Its percentage is the others'; a source that is only off is no unknown one."""
    settings = {
        **KEYWORDS,
        "strategies.mine.budget": {"alpha": 50, "nobody": 50, "beta": 0},
        "assemble.strategy": "mine",
    }
    kit = open_kit({n: make_plugin(items(n, 3)) for n in ("alpha", "beta")}, settings=settings)
    kit.disable("beta")
    context = await ask(kit)
    assert context.trace.notes == ("the strategy 'mine' names 'nobody', which is not a source",)
    assert context.sources_used == {"alpha": 3}


async def test_a_source_sees_the_limit_the_depth_and_the_neighbours_of_the_strategy(
    open_kit: OpenKit,
) -> None:
    """A limit of the request itself is stronger, one of the source's settings weaker."""
    seen = []

    def query(request: ContextRequest) -> list[ContextItem]:
        seen.append((request.limit, request.depth, request.neighbours))
        return []

    settings = {**KEYWORDS, "sources.my_source.limit": 9}
    kit = open_kit({"my_source": make_plugin(contextkit_query=query)}, settings=settings)
    strategy = {"limits": {"my_source": 7}, "depth": 3, "neighbours": 0.25}
    await ask(kit)
    await ask(kit, strategy=strategy)
    await ask(kit, strategy=strategy, limits={"my_source": 2}, depth=1)
    assert seen == [(9, None, 0.7), (7, 3, 0.25), (2, 1, 0.25)]


async def test_a_strategy_changes_what_comes_first(open_kit: OpenKit) -> None:
    """By default what matches better; with `balanced` what is of today."""
    now = datetime.now(UTC)
    old = ContextItem("a", "an old word", 0.9, id="old", created_at=now - timedelta(days=400))
    new = ContextItem("a", "some new line", 0.7, id="new", created_at=now)
    plugin = make_plugin([old, new], contextkit_source=SourceInfo(scale="calibrated"))
    kit = open_kit({"a": plugin}, settings=KEYWORDS)
    assert [item.id for item in (await ask(kit)).items] == ["old", "new"]
    assert [item.id for item in (await ask(kit, strategy="balanced")).items] == ["new", "old"]
