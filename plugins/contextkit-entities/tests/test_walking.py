"""Walks along relations: no farther than asked, and everywhere that is near enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import networkx as nx
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings, strategies as st

from contextkit import Record, Records
from contextkit.testing import open_records
from contextkit_entities import EntityBook
from contextkit_entities.relation import Relation
from contextkit_entities.walking import Bounds, walk

Edge = tuple[int, int]
EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40)


@pytest.fixture(scope="module")
def shared_records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]:
    """One store for all graphs: each has a project of its own."""
    path: Path = tmp_path_factory.mktemp("graphs")
    with open_records(path, "entities", model="none") as opened:
        yield opened


def stored(records: Records, edges: Sequence[Edge], weight: float = 1.0) -> Records:
    """The graph's relations, in place of those that were there."""
    records.delete_where({})
    made = [relation(source, target, weight) for source, target in dict.fromkeys(edges)]
    records.put(made)
    return records


def relation(source: int, target: int, weight: float = 1.0) -> Record:
    """A relation between two entities that are called by numbers."""
    ends = {"source_id": str(source), "target_id": str(target), "type": "uses"}
    names = {"source": str(source), "target": str(target), "weight": weight}
    made = Relation(**ends, **names, created_at=Record(id="x", text="").created_at)  # type: ignore[arg-type]
    return made.as_record()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    edges=EDGES,
    starts=st.sets(st.integers(0, 12), min_size=1, max_size=3),
    depth=st.integers(0, 4),
)
def test_a_walk_finds_what_networkx_reaches(
    shared_records: Records, edges: list[Edge], starts: set[int], depth: int
) -> None:
    """Each relation within the depth once, at its smallest depth, and no other."""
    records = stored(shared_records, edges)
    graph = nx.Graph(edges)
    graph.add_nodes_from(starts)
    near = nx.multi_source_dijkstra_path_length(graph, starts, cutoff=depth)
    expected = {
        (str(a), str(b)): min(near.get(a, 99), near.get(b, 99)) + 1
        for a, b in edges
        if min(near.get(a, 99), near.get(b, 99)) < depth
    }
    bounds = Bounds(depth=depth, hub=1_000)
    steps = walk(records, {str(start): 1.0 for start in starts}, bounds)
    assert {(s.relation.source_id, s.relation.target_id): s.depth for s in steps} == expected
    assert len(steps) == len(expected)
    assert all(step.score == 0.5 ** (step.depth - 1) for step in steps)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edges=EDGES, entities=st.integers(1, 6), read=st.integers(1, 10))
def test_a_walk_keeps_to_its_bounds(
    shared_records: Records, edges: list[Edge], entities: int, read: int
) -> None:
    """So many entities are gone on from, so many relations read for each depth."""
    records = stored(shared_records, edges)
    bounds = Bounds(depth=4, entities=entities, read=read)
    steps = walk(records, {"0": 1.0}, bounds)
    assert len(steps) <= 4 * read
    graph = nx.Graph([(s.relation.source_id, s.relation.target_id) for s in steps])
    assert not steps or nx.is_connected(graph)
    chain = stored(records, [(number, number + 1) for number in range(12)])
    assert len(walk(chain, {"0": 1.0}, Bounds(depth=20, entities=entities))) == entities


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    weights=st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.31, 0.55, 0.9, 1.0]), max_size=12),
    unknown=st.integers(0, 3),
    read=st.integers(1, 12),
)
def test_of_a_hubs_relations_the_weightiest_are_read(
    shared_records: Records, weights: list[float], unknown: int, read: int
) -> None:
    """To a tenth of the weight; those whose weight the store does not know come last."""
    records = stored(shared_records, [])
    made = [relation(0, number, weight) for number, weight in enumerate(weights, 1)]
    strange = [relation(0, number) for number in range(50, 50 + unknown)]
    bare = [
        evolve(each, fields={k: v for k, v in each.fields.items() if k != "band"})
        for each in strange
    ]
    records.put([*made, *bare])
    steps = walk(records, {"0": 1.0}, Bounds(depth=1, read=read))
    known = [step.relation.weight for step in steps if int(step.relation.target_id) < 50]
    assert len(steps) == min(read, len(made) + unknown)
    if len(made) + unknown > read:
        tenths = sorted((int(weight * 10) for weight in weights), reverse=True)
        assert [int(weight * 10) for weight in known] == tenths[:read]


def test_depth_and_weight_are_in_the_score(records: Records) -> None:
    """Each relation on the way takes its part, and each further depth half."""
    stored(records, [(0, 1), (1, 2), (2, 3)], weight=0.8)
    steps = walk(records, {"0": 0.5}, Bounds(depth=3))
    assert [step.depth for step in steps] == [1, 2, 3]
    scores = [0.5 * 0.8, 0.5 * 0.8 * 0.8 * 0.5, 0.5 * 0.8 * 0.8 * 0.5 * 0.8 * 0.5]
    assert [step.score for step in steps] == pytest.approx(scores)


def test_a_hub_is_not_gone_on_from(records: Records) -> None:
    """What half of all has in common says nothing of two of them; a start is no hub."""
    stored(records, [(0, 1), (1, 2), *((1, number) for number in range(10, 50))])
    assert len(walk(records, {"0": 1.0}, Bounds(depth=3))) == 1
    assert len(walk(records, {"1": 1.0}, Bounds(depth=1))) == 42
    assert len(walk(records, {"0": 1.0}, Bounds(depth=3, hub=100))) == 42


def test_the_order_is_the_same_every_time(records: Records) -> None:
    """By score, then depth, then id."""
    stored(records, [(0, 3), (0, 2), (1, 0), (3, 4)])
    texts = [step.relation.text for step in walk(records, {"0": 1.0})]
    assert texts == ["0 --[uses]--> 2", "0 --[uses]--> 3", "1 --[uses]--> 0", "3 --[uses]--> 4"]
    assert walk(records, {}) == []


def test_what_is_said_by_hand_stands_for_what_the_code_says(
    book: EntityBook, records: Records
) -> None:
    """The same relation is shown once, with the weight that somebody gave it."""
    book.add("A")
    book.add("B")
    by_hand = book.relate("a", "uses", "b", weight=0.9)
    from_code = evolve(by_hand, weight=0.2, origin="code")
    records.put([from_code.as_record()])
    assert [step.relation.weight for step in book.related("A")] == [0.9]
    assert records.count({"kind": "relation"}) == 2


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edges=EDGES, enough=st.integers(1, 5))
def test_a_walk_for_few_finds_the_same_few(
    shared_records: Records, edges: list[Edge], enough: int
) -> None:
    """Where it does not go, there is nothing better."""
    records = stored(shared_records, [])
    records.put([relation(a, b, (1 + (3 * a + b) % 5) / 5) for a, b in dict.fromkeys(edges)])
    every = walk(records, {"0": 1.0, "5": 0.5}, Bounds(depth=4))
    few = walk(records, {"0": 1.0, "5": 0.5}, Bounds(depth=4, enough=enough, least=0.02))
    wanted = [step for step in every[:enough] if step.score >= 0.02]
    assert [step.score for step in few[: len(wanted)]] == [step.score for step in wanted]
