"""Why an item is in the context, or why it is not: an answer for any id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem, ContextKit, InvalidRequestError, Record, SourceInfo
from contextkit.pipeline.explain import ItemExplanation
from tests.making import OpenKit, from_records, make_plugin, make_source

TIDE = [
    ContextItem(
        "tide",
        f"Day {number}: the water stood {number * 7} cm over the mark at {number} o'clock",
        0.9 - number / 100,
        id=f"day-{number}",
        title=f"Day {number}",
        location=f"tides/{number % 2}.txt:{number}",
    )
    for number in range(1, 31)
]


def limited(items: Sequence[ContextItem]) -> Callable[..., list[ContextItem]]:
    """A query that gives as many as are asked for."""
    return lambda request: list(items[: request.limit])


async def explained(kit: ContextKit, item: str, **options: Any) -> ItemExplanation:
    """The one answer about an item."""
    (found,) = await kit.explain_item(item, "how high was the water?", **options)
    assert found.asked == item
    return found


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """A source of thirty items, of which twenty are asked for."""
    tide = make_plugin(contextkit_query=limited(TIDE))
    return open_kit({"tide": tide}, settings={"assemble.limit": 20})


@pytest.mark.parametrize(
    ("item", "options", "outcome", "words"),
    [
        ("day-1", {}, "in", "It is in the context in full, with "),
        ("day-1", {}, "in", "number 1 of 20 candidates"),
        ("day-20", {"max_tokens": 100}, "dropped", "context of 100 tokens its "),
        ("day-20", {"max_tokens": 100}, "dropped", "of its section that got in score "),
        ("day-20", {"max_tokens": 5}, "dropped", "nothing of its section got in"),
        ("day-20", {"min_relevance": 0.75}, "dropped", "relevance 0.700 is below the minimum of"),
        ("day-25", {}, "not_retrieved", "'tide' finds it in place 25 with relevance 0.650; the"),
        ("dax-1", {}, "unknown", "Did you mean 'day-1'?"),
    ],
)
async def test_what_became_of_an_item_is_said(
    kit: ContextKit, item: str, options: dict[str, Any], outcome: str, words: str
) -> None:
    """With its place and tokens, what it lacks, or where the source finds it."""
    found = await explained(kit, item, **options)
    assert found.outcome == outcome
    assert words in found.words


async def test_a_duplicate_names_the_item_that_stayed(open_kit: OpenKit) -> None:
    """And why the two are one."""
    twin = evolve(TIDE[0], source="flood", id="twin", relevance=0.2)
    kit = open_kit(
        {name: make_source(items) for name, items in (("tide", TIDE[:1]), ("flood", [twin]))}
    )
    found = await explained(kit, "twin")
    assert found.outcome == "dropped"
    assert found.words.startswith("It was dropped as a duplicate of tide day-1: ")
    assert found.trace is not None
    assert found.trace.duplicate_of is not None
    assert (found.trace.duplicate_of.source, found.trace.duplicate_of.id) == ("tide", "day-1")


async def test_what_is_beyond_the_most_items_says_so(open_kit: OpenKit) -> None:
    """`[assemble] max_items` holds for all sources together, and the trace names what it cost."""
    plugins = {
        "moon": make_plugin([evolve(TIDE[2], source="moon", relevance=0.5)]),
        "tide": make_plugin(TIDE[:2]),
    }
    kit = open_kit(plugins, settings={"assemble.max_items": 2})
    context = await kit.assemble_context("how high was the water?")
    verdicts = sorted(entry.verdict for entry in context.trace.items)
    assert verdicts == ["kept", "kept", "over_limit"]
    (left_out,) = [entry for entry in context.trace.items if entry.verdict == "over_limit"]
    found = await explained(kit, left_out.id)
    assert found.outcome == "dropped"
    assert found.words.startswith("It was found, but it is not among the best 2 results")


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        (0.0001, "its source got no share of the budget"),
        (0.2, "its 22 tokens did not fit into the 2 left of its source's share of 49"),
    ],
)
async def test_a_share_that_left_no_room_is_the_reason(
    open_kit: OpenKit, weight: float, reason: str
) -> None:
    """An item is dropped though a lower, longer one of another source is shown."""
    words = "The water of day {} stood high, as the harbour master wrote in the book of tides"
    tide = [evolve(TIDE[0], id=f"d{n}", content=words.format(n) * 3) for n in range(1, 9)]
    moon = [evolve(TIDE[0], source="moon", id=f"m{n}", content=words.format(-n)) for n in range(9)]
    kit = open_kit({"tide": make_plugin(tide), "moon": make_plugin(moon)})
    asked: dict[str, Any] = {
        "weights": {"moon": weight},
        "shares": "fixed",
        "dedup": False,
        "max_tokens": 300,
    }

    context = await kit.assemble_context("how high was the water?", **asked)

    (row,) = [row for row in context.trace.items if row.id == "m2"]
    assert (row.verdict, row.reason) == ("over_budget", reason)
    found = await explained(kit, "m2", **asked)
    assert found.words.startswith(f"It was found, but in a context of 300 tokens {reason}, and ")


async def test_what_the_second_answer_alone_has_is_told(open_kit: OpenKit) -> None:
    """As of a source that was too slow for the context."""

    async def contextkit_query(request: Any) -> list[ContextItem]:
        if request.source_timeout and request.limit < 1000:
            await asyncio.sleep(60)
        return TIDE[:3]

    kit = open_kit({"tide": make_plugin(contextkit_query=contextkit_query)})
    found = await explained(kit, "day-2", timeouts={"tide": 0.01})
    assert found.outcome == "not_retrieved"
    assert found.words.endswith("it was not among them when the context was assembled.")


async def test_an_item_is_named_by_title_location_or_the_beginning_of_its_id(
    kit: ContextKit,
) -> None:
    """A file names all of its items, the best five of them."""
    assert (await explained(kit, "Day 3")).id == "day-3"
    assert (await explained(kit, "tides/1.txt:3")).id == "day-3"
    by_prefix = await kit.explain_item("day-1", "how high?")
    assert [found.id for found in by_prefix] == ["day-1"]
    by_file = await kit.explain_item("tides/1.txt", "how high?")
    assert [found.id for found in by_file] == ["day-1", "day-3", "day-5", "day-7", "day-9"]


async def test_a_record_that_the_query_does_not_find_is_known(open_kit: OpenKit) -> None:
    """It is in the store, and has not one word of the query."""
    keywords = SourceInfo(embedder="none")
    plugin = make_plugin(contextkit_query=from_records, contextkit_source=keywords)
    kit = open_kit({"tide": plugin})
    kit.records("tide").put([Record(id="zzz", text="qqqq wwww")])
    found = await explained(kit, "zzz")
    assert found.outcome == "not_found_by_query"
    assert found.words.startswith("It is a record of 'tide', and this query does not find it")


async def test_a_record_of_a_source_that_was_not_asked_says_why(open_kit: OpenKit) -> None:
    """It is off, or the request named others, or it failed."""
    kit = open_kit({"tide": make_plugin([]), "moon": make_plugin([])})
    kit.records("tide").put([Record(id="r1", text="high water")])
    other = await explained(kit, "r1", context_types=["moon"])
    assert (
        other.words == "It is a record of 'tide', which was not asked: the request did not name it."
    )
    kit.disable("tide")
    off = await explained(kit, "r1")
    assert off.outcome == "not_asked"
    assert off.words == "It is a record of 'tide', which was not asked: off at run time."


async def test_a_record_of_a_source_that_failed_says_what_went_wrong(open_kit: OpenKit) -> None:
    """Its own reason."""

    def contextkit_query(request: Any) -> list[ContextItem]:
        raise ValueError("no harbour")

    kit = open_kit({"tide": make_plugin(contextkit_query=contextkit_query)})
    kit.records("tide").put([Record(id="r1", text="high water")])
    found = await explained(kit, "r1")
    assert found.outcome == "not_asked"
    assert "gave no answer: contextkit_query: ValueError: no harbour" in found.words


@pytest.mark.parametrize("item", ["", "  ", "\n"])
async def test_an_empty_item_is_refused(kit: ContextKit, item: str) -> None:
    """Every id begins with it, so that any answer would be about another one."""
    with pytest.raises(InvalidRequestError, match="the item is empty"):
        await kit.explain_item(item, "how high was the water?")
