"""What goes on: what is relevant enough, and one of each set of duplicates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem
from contextkit.models.candidate import Candidate
from contextkit.pipeline.select import Selection, select
from contextkit.plugin.manager import SourceRegistry
from tests.making import make_candidate, make_plugin, make_registry

FLOORS: defaultdict[str, float] = defaultdict(lambda: 0.1)


def candidate(source: str, content: str, relevance: float, **fields: Any) -> Candidate:
    """A candidate whose score is its relevance's."""
    return make_candidate(ContextItem(source, content, relevance, **fields))


def ids(selection: Selection) -> list[str]:
    """What goes on."""
    return [candidate.item.id for candidate in selection.kept]


def dropped(selection: Selection) -> list[tuple[str, str, str]]:
    """What does not: id, verdict, reason."""
    return [(d.candidate.item.id, d.verdict, d.reason) for d in selection.dropped]


def keyed(items: Sequence[ContextItem]) -> list[list[str]]:
    """Each item's own keys."""
    return [item.metadata["keys"] for item in items]


@pytest.fixture
def registry() -> SourceRegistry:
    """Two sources with keys and one without."""
    registry: SourceRegistry = make_registry(
        {
            "code": make_plugin([], contextkit_dedup_keys=keyed),
            "commits": make_plugin([], contextkit_dedup_keys=keyed),
            "tide": make_plugin([]),
        }
    )
    return registry


def test_what_is_not_relevant_enough_is_dropped(registry: SourceRegistry) -> None:
    """With its relevance and the floor, in words; at the floor it is in."""
    selection = select(
        registry,
        [
            candidate("tide", "ebb", 0.5, id="1"),
            candidate("tide", "flow", 0.1, id="2"),
            candidate("tide", "storm", 0.0999, id="3"),
        ],
        FLOORS,
    )
    assert ids(selection) == ["1", "2"]
    assert dropped(selection) == [
        ("3", "below_floor", "relevance 0.100 is below the minimum of 0.1")
    ]


def test_the_floor_sees_the_support_of_neighbours(registry: SourceRegistry) -> None:
    """What stands beside good matches is relevant by that, and the reason says where it is not."""
    weak, weaker = (candidate("tide", f"{n} neap", 0.04, id=n) for n in ("weak", "weaker"))
    supported = [
        evolve(c, scores=evolve(c.scores, support=support))
        for c, support in ((weak, 0.2), (weaker, 0.05))
    ]
    selection = select(registry, supported, FLOORS)
    assert ids(selection) == ["weak"]
    assert dropped(selection) == [
        (
            "weaker",
            "below_floor",
            "relevance 0.040 (0.088 with its neighbours) is below the minimum of 0.1",
        )
    ]


def test_of_one_thing_in_two_sources_the_better_one_stays(registry: SourceRegistry) -> None:
    """And says where else it was."""
    code = candidate("code", "def share", 0.5, id="c", metadata={"keys": ["file:a.py"]})
    commit = candidate("commits", "Add share", 0.8, id="s", metadata={"keys": ["file:a.py"]})
    selection = select(registry, [code, commit], FLOORS)
    assert ids(selection) == ["s"]
    assert [(p.source, p.id) for p in selection.kept[0].item.also_in] == [("code", "c")]
    ((identity, verdict, reason),) = dropped(selection)
    assert (identity, verdict) == ("c", "duplicate")
    assert reason.startswith("duplicate of commits s: ")


def test_functions_of_one_file_all_stay(registry: SourceRegistry) -> None:
    """A key joins items of different sources only."""
    functions = [
        candidate("code", f"def {name}", 0.5, id=name, metadata={"keys": ["file:a.py"]})
        for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    ]
    assert len(ids(select(registry, functions, FLOORS))) == 6


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("file:a.py", "expected a sequence, got a str"),
        (3, "expected a sequence, got an int"),
        ([], "returned 0 results for 1 items"),
        (["file:a.py"], "expected a sequence of str, got a str"),
        ([[1]], "entry 0 is an int, expected str"),
        ([None], "expected a sequence of str, got None"),
    ],
)
def test_wrong_keys_are_no_keys(result: Any, reason: str) -> None:
    """The items go on; the failure is told with source and hook."""
    told: list[tuple[str, str, str]] = []
    registry = make_registry({"tide": make_plugin([], contextkit_dedup_keys=lambda items: result)})
    selection = select(
        registry,
        [candidate("tide", "x", 0.5, id="1")],
        FLOORS,
        lambda *failure: told.append(failure),
    )
    assert ids(selection) == ["1"]
    assert told == [("tide", "contextkit_dedup_keys", reason)]


def test_what_is_beyond_the_most_items_is_not_compared(registry: SourceRegistry) -> None:
    """The best go on; the floor comes first, so that junk takes no place."""
    candidates = [candidate("tide", f"words of item {n}", 0.9 - n / 10) for n in range(9)]
    selection = select(registry, candidates, FLOORS, max_items=2)
    assert [kept.item.content for kept in selection.kept] == ["words of item 0", "words of item 1"]
    assert {d.verdict for d in selection.dropped} == {"below_floor", "over_limit"}
    assert "not among the best 2" in selection.dropped[-1].reason
