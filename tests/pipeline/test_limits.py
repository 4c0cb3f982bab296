"""Settings that say how much of what was found a context may and must show."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

import pytest

from contextkit import ContextItem, ContextRequest, InvalidRequestError, Record, SourceInfo
from tests.making import KEYWORDS, OpenKit, make_plugin

QUERY = "when is high water at the harbour?"
FIRST = "High water at the harbour comes at noon, and the gate is closed by hand."
ALIKE = "High water at the harbour comes at noon, and the gates are closed by hand."


def tide(*texts: str, source: str = "tide", best: float = 0.9) -> list[ContextItem]:
    """Items of a source, best first."""
    return [
        ContextItem(source, text, best - 0.01 * number, id=f"{source}-{number}")
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("asked", "limits"),
    [
        ({}, (50, 20)),
        ({"max_tokens": 500}, (50, 20)),
        ({"max_tokens": 8000}, (200, 80)),
        ({"detail": "summary"}, (50, 50)),
        ({"limit": 60}, (60, 60)),
        ({"further": 7}, (57, 27)),
    ],
    ids=str,
)
async def test_a_source_is_asked_for_as_many_items_as_fill_the_budget(
    open_kit: OpenKit, asked: dict[str, Any], limits: tuple[int, int]
) -> None:
    """Fewer of a source whose items are long, unless somebody sets a limit."""
    infos = {"short": SourceInfo(), "long": SourceInfo(item_tokens=100)}
    seen = await limits_of(open_kit, infos, QUERY, **asked)
    assert (seen["short"], seen["long"]) == limits


@pytest.mark.parametrize(
    ("asked", "limits"),
    [
        ({}, (50, 12, 50)),
        ({"max_tokens": 20_000}, (500, 125, 500)),
        ({"detail": "compact"}, (50, 12, 50)),
        ({"limit": 30}, (30, 30, 30)),
        ({"limits": {"seldom": 40}}, (50, 40, 50)),
        ({"fill": True}, (50, 50, 50)),
        ({"shares": "fixed"}, (50, 50, 50)),
        ({"strategy": "by-hand"}, (50, 50, 50)),
        ({"sources": ["seldom", "at_times"]}, (0, 12, 50)),
        ({"sources": ["seldom"]}, (0, 50, 0)),
    ],
    ids=str,
)
async def test_a_source_that_seldom_answers_such_questions_is_asked_for_fewer_items(
    open_kit: OpenKit, asked: dict[str, Any], limits: tuple[int, int, int]
) -> None:
    """Compared with the others that are asked, where the budget is split by what they found."""
    likely = {"code": 1.0, "seldom": 0.02, "at_times": 0.5}
    infos = {name: SourceInfo(answers={"code": value}) for name, value in likely.items()}
    seen = await limits_of(open_kit, infos, "what does the function `rise` return?", **asked)
    assert (seen.get("code", 0), seen["seldom"], seen.get("at_times", 0)) == limits


async def test_a_source_that_seldom_answers_is_asked_for_some_items(open_kit: OpenKit) -> None:
    """Those that others leave out may be the only answer."""
    infos = {
        "code": SourceInfo(answers={"code": 1.0}),
        "seldom": SourceInfo(answers={"code": 0.02}, item_tokens=100),
    }
    seen = await limits_of(open_kit, infos, "what does the function `rise` return?")
    assert seen["seldom"] == 10


async def test_a_source_without_records_leaves_the_budget_to_the_others(open_kit: OpenKit) -> None:
    """A repository may have nothing but documents."""
    infos = {name: SourceInfo(answers={"code": part}) for name, part in (("code", 1), ("text", 0))}
    question = "what does the function `rise` return?"
    assert (await limits_of(open_kit, infos, question, empty=["code"]))["text"] == 50
    assert (await limits_of(open_kit, infos, question))["text"] == 12


async def limits_of(
    open_kit: OpenKit,
    infos: Mapping[str, SourceInfo],
    query: str,
    empty: Collection[str] = (),
    **asked: Any,
) -> dict[str, int]:
    """The limit that each source is given for a question; all but the `empty` have a record."""
    seen = dict[str, int]()

    def find(name: str, request: ContextRequest) -> list[ContextItem]:
        seen[name] = request.limit
        return []

    plugins = {
        name: make_plugin(
            contextkit_query=lambda request, name=name: find(name, request),
            contextkit_source=info,
        )
        for name, info in infos.items()
    }
    settings = {**KEYWORDS, "strategies.by-hand.budget": {"seldom": 50}}
    kit = open_kit(plugins, settings=settings)
    for name in infos:
        kit.records(name).put([] if name in empty else [Record(id="tide", text=FIRST)])
    await kit.assemble_context(query, **asked)
    return seen


@pytest.mark.parametrize(
    ("settings", "items"),
    [
        ({}, 1),
        ({"assemble.dedup_threshold": 1.0}, 2),
        ({"assemble.dedup": False}, 3),
    ],
)
async def test_duplicates_are_merged_as_the_settings_say(
    open_kit: OpenKit, settings: dict[str, object], items: int
) -> None:
    """From a likeness on, only where texts are equal, or not at all."""
    plugin = make_plugin(tide(FIRST, FIRST.upper(), ALIKE))
    kit = open_kit({"tide": plugin}, settings={**KEYWORDS, **settings})
    context = await kit.assemble_context(QUERY)
    assert sum(row.verdict != "duplicate" for row in context.trace.items) == items


async def test_a_context_has_so_many_items_at_most(open_kit: OpenKit) -> None:
    """The best, after duplicates were merged: they leave room for others."""
    texts = (FIRST, ALIKE, "The harbour is closed at low water.", "Ships wait at the pier.")
    kit = open_kit({"tide": make_plugin(tide(*texts))}, settings=KEYWORDS)
    context = await kit.assemble_context(QUERY, max_items=2, fill=True)
    assert [item.id for item in context.items] == ["tide-0", "tide-2"]
    verdicts = {row.id: row.verdict for row in context.trace.items}
    assert (verdicts["tide-1"], verdicts["tide-3"]) == ("duplicate", "over_limit")


async def test_a_context_shows_so_many_sources_at_least(open_kit: OpenKit) -> None:
    """Also one that answers so badly that it would be left out."""
    answering = [f"High water at the harbour: table {n}, noon and midnight." for n in range(12)]
    info = SourceInfo(scale="calibrated", answers={"code": 1.0})
    plugins = {
        "tide": make_plugin(tide(*answering), contextkit_source=info),
        "moon": make_plugin(
            tide("The moon wanes.", source="moon", best=0.2),
            contextkit_source=SourceInfo(scale="calibrated", answers={"history": 1.0}),
        ),
    }
    kit = open_kit(plugins, settings=KEYWORDS)
    plain = await kit.assemble_context(QUERY, max_tokens=250)
    assert set(plain.sources_used) == {"tide"}
    context = await kit.assemble_context(QUERY, max_tokens=250, min_sources=2)
    assert set(context.sources_used) == {"tide", "moon"}
    assert context.token_count <= 250


async def test_tokens_are_left_free_for_the_answer(open_kit: OpenKit) -> None:
    """Of the budget in the settings; a request with a budget has a reserve of its own."""
    settings = {**KEYWORDS, "assemble.max_tokens": 1000, "assemble.reserve": 700}
    kit = open_kit({"tide": make_plugin(tide(FIRST))}, settings=settings)
    context = await kit.assemble_context(QUERY)
    assert context.trace.max_tokens == 300
    assert (await kit.assemble_context(QUERY, max_tokens=400)).trace.max_tokens == 400
    reserved = await kit.assemble_context(QUERY, max_tokens=400, reserve=100)
    assert reserved.trace.max_tokens == 300
    updated = await kit.update_context(reserved, ContextItem("chat", ALIKE, 0.5), max_tokens=500)
    assert updated.trace.max_tokens == 400
    with pytest.raises(InvalidRequestError, match="reserve must be less than max_tokens, 400"):
        await kit.assemble_context(QUERY, max_tokens=400, reserve=400)


@pytest.mark.parametrize(("at_once", "most"), [(None, 3), (2, 2), (1, 1)])
async def test_so_many_sources_are_asked_at_once(
    open_kit: OpenKit, at_once: int | None, most: int
) -> None:
    """The others wait for their turn, and answer all the same."""
    running: list[str] = []
    seen: list[int] = []

    def source(name: str) -> ModuleType:
        async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
            running.append(name)
            seen.append(len(running))
            await asyncio.sleep(0.02)
            running.remove(name)
            return tide(FIRST.replace("noon", name), source=name)

        return make_plugin(contextkit_query=contextkit_query)

    settings = dict(KEYWORDS)
    if at_once is not None:
        settings["assemble.concurrent_sources"] = at_once
    names = ("one", "two", "three")
    kit = open_kit({name: source(name) for name in names}, settings=settings)
    context = await kit.assemble_context(QUERY)
    assert max(seen) == most
    assert {row.state for row in context.trace.sources} == {"ok"}


async def test_a_source_that_waits_for_its_turn_is_not_to_blame(open_kit: OpenKit) -> None:
    """At the deadline it is cut off, and its breaker counts no failure."""

    async def hang(request: ContextRequest) -> list[ContextItem]:
        await asyncio.sleep(60)
        return []

    plugins = {name: make_plugin(contextkit_query=hang) for name in ("one", "two")}
    settings = {
        "embedding.model": "none",
        "assemble.source_timeout": 20.0,
        "assemble.deadline": 0.2,
        "assemble.concurrent_sources": 1,
        "assemble.breaker_failures": 1,
    }
    kit = open_kit(plugins, settings=settings)
    context = await kit.assemble_context(QUERY)
    assert {row.state for row in context.trace.sources} == {"cut_off"}
    assert sorted(health.state for health in kit.health().values()) == ["closed", "open"]
