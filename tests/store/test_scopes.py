"""Which records a search looks at: those of its source in the project and the user's own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore

Note = Callable[..., Record]


def _found(records: Records, query: str = "harbour") -> list[str]:
    return sorted(hit.record.id for hit in records.search_sync(query))


def _put(records: Records, *ids: str) -> None:
    records.put([Record(id=name, text=f"the harbour of {name}") for name in ids])


def test_the_users_own_are_found_from_the_first_one_on(store: RecordStore) -> None:
    """A search that was made while there were none does not hide those that come."""
    notes = Records(store, "plain", "p")
    assert _found(notes) == []
    _put(notes, "ours")
    assert _found(notes) == ["ours"]
    _put(notes.shared, "mine")
    assert _found(notes) == ["mine", "ours"]
    notes.delete("ours")
    assert _found(notes) == ["mine"]
    notes.delete("mine")
    assert _found(notes) == []
    _put(notes.shared, "again")
    assert _found(notes) == ["again"]


def test_scopes_are_known_again_after_closing(embedded: EmbeddedStore) -> None:
    """Whoever wrote them."""
    other = EmbeddedStore(embedded.path, embedded.embedders)
    notes = Records(embedded, "plain", "p")
    _put(notes, "ours")
    assert _found(notes) == ["ours"]
    embedded.close()
    _put(Records(other, "plain", "p").shared, "mine")
    other.close()
    assert _found(notes) == ["mine", "ours"]


@pytest.mark.parametrize(
    ("source", "project"), [("a", "b/c"), ("a", "/b"), ("a", "b\x1fc"), ("a-b", "c"), ("a", "")]
)
def test_no_two_scopes_are_one(store: RecordStore, source: str, project: str) -> None:
    """Whatever characters a project's name has."""
    for other_source, other in (("a", "c"), ("b", "c"), ("a", "b"), ("a-b", "/c"), ("b", "")):
        _put(Records(store, other_source, other), "other")
    records = Records(store, source, project)
    _put(records, "mine")
    hits = records.search_sync("harbour")
    assert {(hit.record.source, hit.record.project) for hit in hits} <= {
        (source, project),
        (source, ""),
    }
    assert "mine" in {hit.record.id for hit in hits}
    assert store.count(source, (project,), {}) == 1


def test_searches_beside_writes_see_what_was_written(embedded: EmbeddedStore) -> None:
    """Each thread finds the first record of its own source as soon as `put` has returned."""

    def written(source: str) -> list[str]:
        records = Records(embedded, source, "p").shared
        _put(records, source)
        return _found(records)

    sources = [f"s{number}" for number in range(12)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(written, sources)) == [[source] for source in sources]
