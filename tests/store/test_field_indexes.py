"""Which record fields an embedded store indexes, and that filters find the same without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from contextkit.embedding.choice import Embedders
from contextkit.models.record import Filters, Record
from contextkit.models.records import Records
from contextkit.store import edge_queries as field_indexes
from contextkit.store.embedded import EmbeddedStore

MANY = 8
STORED = {"scope", "created_at"}
FIELDS = {"plain": ("kind", "absent", "deep.er"), "notes": ("tags",)}


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source has many records from eight on."""
    monkeypatch.setattr(field_indexes, "WORTH_AN_INDEX", MANY)


@pytest.fixture
def indexing(tmp_path: Path, embedders: Embedders) -> Iterator[EmbeddedStore]:
    """A store with sources that say which fields they filter by."""
    store = EmbeddedStore(tmp_path / "store", embedders, indexed_fields=FIELDS)
    yield store
    store.close()


def _indexed(store: EmbeddedStore) -> set[str]:
    with store._shared.use() as shard:
        return {key.removeprefix("fields.") for key in shard.info().payload_schema}


def _put(store: EmbeddedStore, source: str, numbers: Sequence[int], project: str = "p") -> None:
    Records(store, source, project).put(
        [
            Record(
                id=f"r{number}",
                text=f"harbour {number}",
                fields={"kind": "ab"[number % 2], "deep": {"er": "x"}, "tags": ["t"]},
            )
            for number in numbers
        ]
    )


def test_a_source_with_few_records_has_no_index_of_its_own(indexing: EmbeddedStore) -> None:
    """Each would be opened with the store, by everybody who asks it anything."""
    _put(indexing, "plain", range(MANY - 1))
    assert _indexed(indexing) == STORED


def test_a_source_with_many_has_one_for_each_field_that_it_names_and_has(
    indexing: EmbeddedStore,
) -> None:
    """What only another source filters by has none, nor has a field without a value."""
    _put(indexing, "plain", range(MANY))
    assert _indexed(indexing) == STORED | {"kind", "deep.er"}
    _put(indexing, "notes", range(MANY))
    assert _indexed(indexing) == STORED | {"kind", "deep.er", "tags"}


def test_records_of_all_projects_and_openings_count(indexing: EmbeddedStore) -> None:
    """They are found by the same indexes."""
    _put(indexing, "plain", range(MANY - 2), "p")
    _put(indexing, "plain", [1], "q")
    indexing.close()
    assert _indexed(indexing) == STORED
    _put(indexing, "plain", [2], "q")
    assert _indexed(indexing) == STORED | {"kind", "deep.er"}
    indexing.close()
    assert _indexed(indexing) == STORED | {"kind", "deep.er"}


def test_writing_the_same_records_again_and_again_makes_no_index(indexing: EmbeddedStore) -> None:
    """They are as few as before."""
    for _ in range(3):
        _put(indexing, "plain", range(3))
    assert _indexed(indexing) == STORED


@pytest.mark.parametrize("more", [0, MANY])
def test_a_filter_finds_the_same_with_an_index_and_without(
    indexing: EmbeddedStore, more: int
) -> None:
    """An index changes nothing but how long it takes."""
    _put(indexing, "plain", range(6))
    _put(indexing, "plain", range(more), "q")
    assert ("kind" in _indexed(indexing)) == bool(more)
    records = Records(indexing, "plain", "p")
    expected: list[tuple[Filters, set[str]]] = [
        ({"kind": "a"}, {"r0", "r2", "r4"}),
        ({"kind": ["a", "b"]}, {"r0", "r1", "r2", "r3", "r4", "r5"}),
        ({"deep.er": "x", "kind": "b"}, {"r1", "r3", "r5"}),
        ({"tags": "t", "absent": "x"}, set()),
    ]
    for filters, found in expected:
        assert {record.id for record in records.scan(filters)} == found
        assert records.count(filters) == len(found)
        assert {hit.record.id for hit in records.search_sync("harbour", filters=filters)} == found
