"""What a strategy's percentages, limits and weights do to a context."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contextkit import (
    ContextItem,
    ContextKit,
    FormattedContext,
    InvalidContextTypeError,
    InvalidRequestError,
    Strategy,
)
from contextkit.budget.shares import by_evidence, by_percent, shares
from contextkit.models.request import ContextRequest
from tests.making import KEYWORDS, OpenKit, make_plugin, make_source


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
        {name: make_source(items(name, number)) for name, number in found.items()},
        settings=KEYWORDS,
    )


async def ask(kit: ContextKit, **options: Any) -> FormattedContext:
    """A context of 1000 tokens."""
    return await kit.assemble_context("alpha beta", max_tokens=1000, **options)


def test_weights_may_be_as_large_and_as_small_as_floats_can_be() -> None:
    """They have no sum then, and no product."""
    sources = {"a": "a", "b": "b"}
    large, small = {"a": 1e308, "b": 1e308}, {"a": 5e-324, "b": 5e-324}
    for weights in (large, small):
        assert shares(by_percent(weights, sources, {"z": 60}), 600) == {"a": 300, "b": 300}
        assert shares(by_percent(weights, sources, {"a": 0, "b": 0}), 600) == {"a": 300, "b": 300}
    level = {"a": 0.9, "b": 0.9}
    assert shares(by_evidence(large, level, level), 600) == {"a": 300, "b": 300}


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
async def test_an_unknown_source_of_a_requests_numbers_is_an_error(
    open_kit: OpenKit, what: str
) -> None:
    """As among its sources; a source that is only off is no unknown one."""
    kit = open_kit({n: make_plugin(items(n, 3)) for n in ("alpha", "beta")}, settings=KEYWORDS)
    kit.disable("beta")
    assert (await ask(kit, **{what: {"alpha": 60, "beta": 2}})).sources_used == {"alpha": 3}
    with pytest.raises(InvalidContextTypeError, match="Invalid source 'alfa'"):
        await ask(kit, **{what: {"alpha": 60, "alfa": 2}})


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
    plugin = make_source([old, new])
    kit = open_kit({"a": plugin}, settings=KEYWORDS)
    assert [item.id for item in (await ask(kit)).items] == ["old", "new"]
    assert [item.id for item in (await ask(kit, strategy="balanced")).items] == ["new", "old"]
