"""`contextkit_rerank`: a plugin orders the items of all sources together."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

import pytest

from contextkit import ContextItem, ContextKit
from contextkit.cli.explain import _tables
from tests.making import OpenKit, make_plugin, make_source

QUERY = "when is high water?"
ITEMS = {"tides": "high water at noon", "moons": "the full moon makes high water"}


def sources() -> dict[str, ModuleType]:
    """Two sources of one item each; the core ranks that of `tides` first."""
    return {
        name: make_source([ContextItem(name, text, 0.9 if name == "tides" else 0.8, id=name)])
        for name, text in ITEMS.items()
    }


def order(kit: ContextKit, **options: Any) -> list[str]:
    """The items of a context, best first."""
    options = {"min_relevance": 0, "group_by": "type", "cache": False, **options}
    context = kit.assemble_context_sync(QUERY, **options)
    return [item.id for item in context.items]


def test_a_reranker_orders_the_items_of_all_sources(open_kit: OpenKit) -> None:
    """It gets them best first with the request, and the trace shows the score of each."""
    asked: list[tuple[str, list[str]]] = []

    def contextkit_rerank(request: Any, items: Any) -> list[float]:
        asked.append((request.query, [item.id for item in items]))
        return [1.0 if item.source == "moons" else 0.25 for item in items]

    kit = open_kit(sources())
    assert order(kit) == ["tides", "moons"]
    kit.register(make_plugin(contextkit_rerank=contextkit_rerank), "cross-encoder")
    assert order(kit) == ["moons", "tides"]
    assert asked == [(QUERY, ["tides", "moons"])]
    context = kit.assemble_context_sync(QUERY, min_relevance=0)
    assert {row.id: row.scores["rerank"] for row in context.trace.items} == {
        "moons": 1.0,
        "tides": 0.25,
    }
    assert "rerank" in context.trace.stages
    assert "RERANK" in "\n".join(_tables(context))


def test_a_reranker_that_gives_none_leaves_the_next_one_to_answer(open_kit: OpenKit) -> None:
    """They are asked by name; without any scores the core's order stays."""
    kit = open_kit(sources())
    kit.register(make_plugin(contextkit_rerank=lambda request, items: None), "a")
    assert order(kit) == ["tides", "moons"]
    kit.register(make_plugin(contextkit_rerank=lambda request, items: [0.1, 0.9]), "b")
    assert order(kit) == ["moons", "tides"]


def slow(request: Any, items: Any) -> list[float]:
    """Scores that come too late."""
    time.sleep(1)
    return [0.1, 0.9]


def failing(request: Any, items: Any) -> list[float]:
    """No scores at all."""
    raise RuntimeError("out of memory")


@pytest.mark.parametrize(
    ("rerank", "reason"),
    [
        (lambda request, items: [0.5], "returned 1 results for 2 items"),
        (lambda request, items: [0.5, 1.5], "score 1 is 1.5, expected a number within 0..1"),
        (lambda request, items: [float("nan"), 0.5], "score 0 is nan, expected"),
        (lambda request, items: ["high", 0.5], "score 0 is a str, expected"),
        (lambda request, items: 0.5, "expected a sequence of numbers, got a float"),
        (failing, "RuntimeError: out of memory"),
        (slow, "no answer within 0.05 s"),
    ],
)
def test_a_bad_answer_of_a_reranker_is_noted_and_changes_nothing(
    open_kit: OpenKit, rerank: Any, reason: str
) -> None:
    """The context is the one without it, and says which plugin failed."""
    late = reason.startswith("no answer")
    kit = open_kit(sources(), settings={"assemble.rerank_timeout": 0.05 if late else 20.0})
    kit.register(make_plugin(contextkit_rerank=rerank), "cross-encoder")
    context = kit.assemble_context_sync(QUERY, min_relevance=0, group_by="type")
    assert [item.id for item in context.items] == ["tides", "moons"]
    (note,) = context.trace.notes
    assert note.startswith("cross-encoder: contextkit_rerank failed, its default is used: ")
    assert reason in note


def test_diversity_counts_from_the_rerankers_scores(open_kit: OpenKit) -> None:
    """What it puts first stays first where nothing is said twice."""
    kit = open_kit(sources())
    kit.register(make_plugin(contextkit_rerank=lambda request, items: [0.1, 0.9]), "b")
    assert order(kit, diversity=0.3) == ["moons", "tides"]
