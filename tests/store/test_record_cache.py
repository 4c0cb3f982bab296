"""Records that a store keeps in memory are the ones on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import qdrant_edge as edge

from contextkit.embedding.choice import Embedders
from contextkit.models.record import Record, Search
from contextkit.store import field_values
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.payloads import point_number
from contextkit.store.record_cache import RecordCache

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]


def _found(store: EmbeddedStore, query: str = "winch") -> list[Record]:
    [hits] = store.search([Search(query=query, source="notes", projects=("p",))])
    return [hit.record for hit in hits]


def _texts(store: EmbeddedStore) -> list[str]:
    return [record.text for record in _found(store)]


def test_a_search_finds_what_was_written_last(embedded: EmbeddedStore, note: Note) -> None:
    """After a record was replaced or deleted, no search finds its old text."""
    embedded.put([note("a", "the winch is red")])
    assert _texts(embedded) == ["the winch is red"]

    embedded.put([note("a", "the winch is blue")])
    assert _texts(embedded) == ["the winch is blue"]

    embedded.delete([note("a", "").point_id])
    assert _texts(embedded) == []


def test_a_search_finds_what_another_process_wrote(
    embedded: EmbeddedStore, embedders: Embedders, tmp_path: Path, note: Note
) -> None:
    """A store that is opened again after another one wrote to it finds the new text."""
    embedded.put([note("a", "the winch is red")])
    assert _texts(embedded) == ["the winch is red"]
    embedded.close()
    other = EmbeddedStore(tmp_path / "store", embedders, lock_timeout=60.0)
    other.put([note("a", "the winch is blue")])
    other.close()

    assert _texts(embedded) == ["the winch is blue"]


def test_a_source_that_changes_fields_changes_its_own(embedded: EmbeddedStore, note: Note) -> None:
    """Fields that a caller changes are the stored ones in the next search."""
    embedded.put([note("a", "the winch is red", fields={"kind": "rope"})])
    for _ in range(2):
        [record] = _found(embedded)
        assert record.fields == {"kind": "rope"}
        cast("dict[str, str]", record.fields)["kind"] = "changed"


def test_the_memory_of_kept_records_is_limited(note: Note) -> None:
    """The records that were used least recently are dropped, and very long ones are not kept."""
    cache = RecordCache(most_bytes=40_000)
    cache.keep({number: note(str(number), "x" * 1_000) for number in range(15)}, cache.state)
    assert cache.known([0])
    cache.keep({number: note(str(number), "x" * 1_000) for number in range(15, 25)}, cache.state)
    cache.keep({99: note("99", "x" * 10_000)}, cache.state)

    known = cache.known(range(100))
    assert 0 in known
    assert 24 in known
    assert 1 not in known
    assert 99 not in known
    assert sum(len(record.text) for record in known.values()) < 40_000


def test_kept_records_share_their_names(note: Note) -> None:
    """The names of fields, sources and projects take memory once, not once for each record."""
    cache = RecordCache()
    numbers = range(2)
    made = {n: note(str(n), "text", fields={f"kind {'x' * 40}": "rope"}) for n in numbers}
    cache.keep(made, cache.state)

    one, other = cache.known(numbers).values()
    assert next(iter(one.fields)) is next(iter(other.fields))


def test_records_read_before_a_write_are_not_kept(note: Note) -> None:
    """A record that was read while another thread wrote may be old, and is not kept."""
    cache = RecordCache()
    state = cache.state
    cache.clear()
    cache.keep({1: note("a", "the winch is red")}, state)
    assert cache.known([1]) == {}


def test_a_write_leaves_other_records_in_the_cache(embedded: EmbeddedStore, note: Note) -> None:
    """Each prompt of an agent writes an event, and the next one finds the same code again."""
    embedded.put([note(name, f"the winch {name}") for name in "abc"])
    assert len(_texts(embedded)) == 3
    a, b, c = (point_number(note(name).point_id) for name in "abc")
    embedded.put([note("a", "the winch turns")])
    embedded.delete([note("b").point_id])
    assert embedded._reader.cache.known([a, b, c]).keys() == {c}
    assert sorted(_texts(embedded)) == ["the winch c", "the winch turns"]
    embedded.delete_where("notes", ["p"], {"kind": "x"})
    assert not embedded._reader.cache.known([a, b, c])


def test_field_values_read_during_a_write_are_not_kept(
    embedded: EmbeddedStore, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that are read while another thread writes may be old."""
    embedded.put([note("a", fields={"kind": "x"})])
    read = field_values._read

    def read_slowly(shard: edge.EdgeShard, scope: str, key: str) -> object:
        found = read(shard, scope, key)
        if not embedded.count("notes", ["p"], {"kind": "y"}):
            embedded.put([note("a", fields={"kind": "y"})])
        return found

    monkeypatch.setattr(field_values, "_read", read_slowly)
    list(embedded.scan("notes", ["p"], {"kind": "x"}))
    assert list(embedded.scan("notes", ["p"], {"kind": "x"})) == []
