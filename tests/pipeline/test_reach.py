"""A context compares and formats the best results, as the others cannot be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from contextkit import ContextItem, ContextRequest
from contextkit.pipeline.explain import ItemExplanation
from tests.making import OpenKit, make_plugin
from tests.pipeline.tides import text, verdicts

QUESTION = "when does the harbour master close the gate?"
NUMBER = 100
SETTINGS: dict[str, Any] = {"limit": NUMBER, "min_relevance": 0.0}


def items(source: str, best: float = 0.9) -> list[ContextItem]:
    """Items of some fifty tokens, best first: 500 tokens have room for a tenth of them."""
    return [
        ContextItem(
            source,
            " ".join(text(source, 3 * n + part) for part in range(3)),
            best - n / 1000,
            id=f"{n}",
        )
        for n in range(NUMBER)
    ]


class Formatting:
    """A source that notes how many items it formats."""

    def __init__(self, found: Sequence[ContextItem]) -> None:
        self.formatted = 0

        def formatting(items: Sequence[ContextItem]) -> list[str]:
            self.formatted += len(items)
            return [item.content for item in items]

        self.plugin = make_plugin(list(found), contextkit_format=formatting)


async def test_items_that_the_budget_has_no_room_for_are_not_formatted(open_kit: OpenKit) -> None:
    """The trace and the explanation name what fills the budget in their place."""
    tide = Formatting(items("tide"))
    kit = open_kit({"tide": tide.plugin})
    context = await kit.assemble_context(QUESTION, max_tokens=500, **SETTINGS)
    far = verdicts(context)["tide", "99"]
    explained: list[ItemExplanation] = await kit.explain_item(
        "99", QUESTION, max_tokens=500, **SETTINGS
    )

    assert len(context.items) < tide.formatted / 2 < NUMBER / 4
    assert (far.verdict, far.tokens) == ("over_budget", 0)
    assert far.reason == "better results would fill the budget of 500 tokens twice"
    assert f"It was found, but {far.reason} (score " in explained[0].words
    assert context.truncated


@pytest.mark.parametrize(
    "options",
    [
        {"fill": True},
        {"compress": True},
        {"detail": "compact"},
        {"diversity": 0.5},
        {"shares": "fixed"},
        {"strategy": {"budget": {"tide": 80}}},
    ],
    ids=str,
)
async def test_every_item_is_compared_where_a_weak_one_may_be_shown(
    open_kit: OpenKit, options: dict[str, Any]
) -> None:
    """A line or a summary takes less room, and a split by hand leaves a source more of it."""
    tide = Formatting(items("tide"))
    kit = open_kit({"tide": tide.plugin})
    await kit.assemble_context(QUESTION, max_tokens=500, **SETTINGS, **options)
    assert tide.formatted == NUMBER


async def test_a_reranker_sees_every_item(open_kit: OpenKit) -> None:
    """It may raise the last of them to the first place."""
    seen: list[str] = []

    def last_first(request: ContextRequest, items: Sequence[ContextItem]) -> list[float]:
        seen.extend(item.id for item in items)
        return [place / len(items) for place in range(len(items))]

    kit = open_kit(
        {"tide": make_plugin(items("tide")), "turn": make_plugin(contextkit_rerank=last_first)}
    )
    context = await kit.assemble_context(QUESTION, max_tokens=500, **SETTINGS)
    assert len(seen) == NUMBER
    assert context.items[0].id == seen[-1]


async def test_a_section_of_weak_results_has_those_for_its_share(open_kit: OpenKit) -> None:
    """Its weight counts, and what it shows does not depend on how many another source finds."""
    many = Formatting(items("many"))
    few = Formatting(items("few", best=0.5))
    kit = open_kit({"many": many.plugin, "few": few.plugin})
    options = {**SETTINGS, "max_tokens": 1000}
    await kit.assemble_context(QUESTION, **options)
    light = few.formatted
    few.formatted = 0
    await kit.assemble_context(QUESTION, weights={"few": 4.0}, **options)
    assert 10 < light < few.formatted / 1.4 < NUMBER / 2


async def test_duplicates_take_no_room_from_what_differs(open_kit: OpenKit) -> None:
    """If the best results say the same, the weaker ones are shown."""
    same = [ContextItem("tide", f"{text('tide', 0)} " * 8, 0.99, id=f"same-{n}") for n in range(60)]
    kit = open_kit({"tide": make_plugin([*same, *items("tide")])})
    context = await kit.assemble_context(
        QUESTION, max_tokens=1000, **{**SETTINGS, "limit": 2 * NUMBER}
    )
    assert context.token_count > 800
    assert len([item for item in context.items if item.id.startswith("same")]) == 1


async def test_a_small_budget_shows_a_short_item_behind_long_ones(open_kit: OpenKit) -> None:
    """The best are too long for it, even as excerpts."""
    long = [
        ContextItem("tide", f"{number} {'gate' * 400}", 0.9, id=f"long-{number}")
        for number in range(5)
    ]
    short = ContextItem("tide", "The gate closes two hours before low water.", 0.5, id="short")
    kit = open_kit({"tide": make_plugin([*long, short])})
    context = await kit.assemble_context(QUESTION, max_tokens=22, **SETTINGS)
    assert [item.id for item in context.items] == ["short"]
