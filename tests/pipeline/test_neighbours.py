"""Support among items that stand beside each other, and where a source looks for more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from contextkit import ContextItem, ContextKit
from contextkit.models.candidate import supported
from contextkit.sources.neighbours import beside, best_supported, sequence_supports, supports
from tests.making import make_source

UNIT = st.floats(0, 1)


def item(position: int | None, relevance: float = 0.0, sequence: str | None = "s") -> ContextItem:
    """An item at a place; its id names that."""
    return ContextItem(
        "tide",
        f"{sequence} {position}",
        relevance,
        id=f"{sequence}{position}",
        sequence=sequence,
        position=position,
    )


def lent(*items: ContextItem, weight: float = 0.5) -> list[float]:
    """What each item's neighbours lend it."""
    matches = [one.relevance for one in items]
    return [round(value, 6) for value in supports(items, matches, weight)]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        # What stands before lends its share, and less from afar.
        ([item(4, 1.0), item(5), item(6), item(7)], [0, 0.5, 0.25, 0]),
        # What stands behind lends three quarters of that: an answer follows its question.
        ([item(3), item(4), item(5), item(6, 1.0)], [0, 0.140625, 0.375, 0]),
        # Only places of one sequence are beside each other.
        ([item(0, 1.0), item(1, sequence="t"), item(1, sequence=None), item(None)], [0] * 4),
        # Two at one place are no neighbours, and the better one counts for others.
        ([item(0, 1.0), item(0, 0.5), item(1)], [0, 0, 0.5]),
        # What an item is worth by its neighbours alone supports nobody.
        ([item(0, 1.0), item(2), item(4)], [0, 0.25, 0]),
    ],
)
def test_what_neighbours_lend(items: list[ContextItem], expected: list[float]) -> None:
    """By place and sequence; with the setting 0, nothing."""
    assert lent(*items) == expected
    assert lent(*items, weight=0.0) == [0] * len(items)


def test_several_neighbours_add_up() -> None:
    """They do so as independent hints: what each leaves in doubt is multiplied."""
    assert lent(item(0, 1.0), item(1), item(2, 1.0))[1] == 1 - 0.5 * 0.625


@given(UNIT, UNIT, UNIT)
def test_support_only_ever_adds(value: float, support: float, more: float) -> None:
    """Within 0..1, no less than without, and more support is worth no less."""
    low, high = sorted((support, more))
    assert value - 1e-12 <= supported(value, low) <= supported(value, high) + 1e-12 <= 1 + 1e-11
    assert supported(value, 0.0) == value


@given(st.lists(st.tuples(st.integers(0, 9), UNIT), max_size=8), UNIT)
def test_the_order_of_the_answer_is_nothing_to_support(
    drawn: list[tuple[int, float]], weight: float
) -> None:
    """The same items in any order lend the same, to the last bit."""
    items = [item(position, relevance) for position, relevance in drawn]
    forth = supports(items, [one.relevance for one in items], weight)
    items.reverse()
    assert supports(items, [one.relevance for one in items], weight) == forth[::-1]


def test_the_sequence_in_which_most_matches_lends_most() -> None:
    """Three tenths of the best match; others in proportion, and what stands alone gets nothing."""
    items = [item(0, 0.8), item(9), item(0, 0.8, "t"), item(9, 0.8, "t"), item(0, 0.8, None)]
    of_s, beside_it, of_t, *_, alone = sequence_supports(items)
    assert of_t == pytest.approx(0.3 * 0.8)
    assert of_s == beside_it == pytest.approx(of_t / 1.7)
    assert alone == 0
    assert sequence_supports([item(0), item(1)]) == [0, 0]


# -- looking for more -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "places"),
    [
        ([item(5, 0.8), item(6, 0.1)], [3, 4, 7]),
        ([item(5, 0.3)], [4, 6]),
        ([], []),
        ([item(5, 0.09)], []),
        ([item(None, 0.9)], []),
        ([item(5, 0.9, sequence=None)], []),
    ],
)
def test_a_source_looks_beside_its_good_hits(items: list[ContextItem], places: list[int]) -> None:
    """Where the support alone is relevant, and where it has found nothing yet."""
    assert beside(items, 0.5, 0.1, 20) == [("s", place) for place in places]


def test_poor_hits_together_are_no_reason_to_look() -> None:
    """What is below the floor by itself lends nothing, however many there are."""
    poor = [item(position, 0.09) for position in (3, 4, 6, 7)]
    assert beside(poor, 1.0, 0.1, 20) == []
    assert ("s", 5) in beside(poor, 1.0, 0.05, 20)


def test_it_does_not_look_for_what_its_limit_would_cut() -> None:
    """A place that lends less than the worst of enough hits have is no use."""
    hits = [item(position, 0.6) for position in range(0, 100, 10)]
    assert len(beside(hits, 0.5, 0.1, 10)) == 0
    assert [position for _, position in beside(hits, 0.5, 0.1, 15)] == [*range(1, 92, 10)]


def test_the_best_are_those_with_the_most_support_and_match() -> None:
    """What a good hit supports comes before a poor hit without neighbours."""
    found = best_supported([item(0, 0.8), item(50, 0.3), item(1)], 0.5, 2)
    assert [one.id for one in found] == ["s0", "s1"]


def test_a_crowd_does_not_push_out_a_direct_match() -> None:
    """Three items that support each other leave the limit's first place to the best match."""
    found = best_supported([*(item(n, 0.7) for n in (4, 5, 6)), item(20, 0.8)], 0.9, 2)
    assert [one.id for one in found] == ["s20", "s4"]


def test_a_hint_decides_between_equals() -> None:
    """Such as that one of them was said on the day that the query names."""
    found = best_supported([item(0, 0.5), evolve(item(50, 0.5), hint=0.1)], 0.5, 2)
    assert [one.id for one in found] == ["s50", "s0"]


# -- items from a source ----------------------------------------------------------------------


async def context_of(open_kit: Callable[..., ContextKit], found: list[Any]) -> Any:
    """A context of what a calibrated source finds."""
    plugin = make_source(found)
    patient = {"assemble.source_timeout": 20.0, "assemble.deadline": 20.0}
    kit = open_kit({"tide": plugin}, settings={**patient, "embedding.model": "none"})
    return await kit.assemble_context("tides", max_tokens=500)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"position": "1", "sequence": "s"}, "position is a str"),
        ({"position": 1.5, "sequence": "s"}, "position is a float"),
        ({"position": 1, "sequence": 3}, "sequence is an int"),
        ({"superseded_by": "newer"}, "superseded_by is a str"),
    ],
)
async def test_a_place_that_is_none_costs_the_source(
    open_kit: Any, fields: dict[str, Any], reason: str
) -> None:
    """With the item, the field and what it is."""
    wrong = ContextItem("tide", "x", 0.5, id="w", **fields)
    context = await context_of(open_kit, [wrong])
    assert context.trace.sources[0].state == "failed"
    assert reason in context.trace.sources[0].reason


async def test_neighbours_come_into_the_context_with_their_support(open_kit: Any) -> None:
    """What matches by nothing is in for what stands before it, and the trace says so."""
    texts = ("Which way does the ebb run?", "Northwards, along the wall.", "Fog all day.")
    items = [
        ContextItem("tide", text, relevance, id=f"{n}", sequence="log", position=n)
        for n, text, relevance in zip((1, 2, 9), texts, (0.8, 0.0, 0.0), strict=True)
    ]
    context = await context_of(open_kit, items)
    assert [one.id for one in context.items] == ["1", "2"]
    rows = {row.id: row for row in context.trace.items}
    assert rows["2"].scores["support"] == pytest.approx(0.8 * 0.7)
    assert "support" not in rows["1"].scores
    assert rows["9"].verdict == "below_floor"
