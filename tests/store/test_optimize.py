"""Putting a store in order after many writes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import OneEmbedder
from contextkit.errors import StoreFullError
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore

pytestmark = pytest.mark.one_python

_WORDS = (
    *("river", "engine", "garden", "budget", "window", "pilot", "winter", "market", "doctor"),
    *("school", "ocean", "bread", "music", "road", "castle", "paper", "horse", "metal", "forest"),
    *("letter", "planet", "kitchen", "harbour", "tax", "judge", "camera", "battery", "farmer"),
)

Note = Callable[..., Record]


def _used(path: Path) -> int:
    return sum(512 * file.stat().st_blocks for file in path.rglob("*"))


def test_with_little_in_it_there_is_nothing_to_do(store: RecordStore, note: Note) -> None:
    """Every store says so."""
    store.put([note("a")])
    assert store.optimize() is False


def test_a_thousand_records_are_worth_it_once(embedded: EmbeddedStore, note: Note) -> None:
    """The store opens sooner then; nothing in it has changed, and it is not done again."""
    embedded.put([note(str(n), " ".join(f"word{n + k}" for k in range(80))) for n in range(1000)])
    assert embedded.optimize() is True
    assert embedded.optimize() is False
    records = Records(embedded, "notes", "p")
    assert records.search_sync("word0", limit=1)[0].record.id == "0"
    records.put([Record(id="0", text="a changed one")])
    assert embedded.count(None, None, {}) == 1000
    assert records.search_sync("changed", limit=1)[0].record.id == "0"


def test_the_nearest_in_meaning_are_found_as_before(tmp_path: Path) -> None:
    """An optimized store compares shortened vectors first, and the best ones in full."""
    store = EmbeddedStore(tmp_path / "store", OneEmbedder(load_embedder()))
    rng = random.Random(0)
    texts = [" ".join(rng.sample(_WORDS, 6)) for _ in range(2000)]
    records = Records(store, "notes", "p")
    records.put([Record(id=str(number), text=text) for number, text in enumerate(texts)])

    def nearest() -> list[set[str]]:
        found = [
            records.search_sync(query, limit=20)
            for query in ("stream", "money", "a boat on the stream")
        ]
        return [{hit.record.id for hit in hits} for hits in found]

    before = nearest()
    assert store.optimize() is True
    for one, other in zip(before, nearest(), strict=True):
        assert len(one & other) >= 18
    store.close()


def test_deleted_records_give_back_their_room(
    embedded: EmbeddedStore, note: Note, tmp_path: Path
) -> None:
    """What remains is found as before, and more can be written, twice over."""
    notes = [note(str(n), f"note {n} " + "word " * 200) for n in range(2000)]
    for _ in range(2):
        embedded.put(notes)
        embedded.delete([record.point_id for record in notes[:1800]])
        embedded.close()
        before = _used(tmp_path)
        with embedded.hold():
            assert embedded.optimize() is True
            assert embedded.count(None, None, {}) == 200
        assert embedded.optimize() is False
        embedded.close()
        assert _used(tmp_path) < before
        records = Records(embedded, "notes", "p")
        assert records.search_sync("note 1900", limit=1)[0].record.id == "1900"


def test_what_a_killed_optimization_leaves_goes(embedded: EmbeddedStore, tmp_path: Path) -> None:
    """Half a segment takes no room for ever."""
    embedded.prepare()
    embedded.close()
    leftover = tmp_path / "store/shard/temp_segments/half"
    leftover.mkdir(parents=True)
    assert embedded.count(None, None, {}) == 0
    assert not leftover.exists()


def test_without_room_for_a_copy_nothing_is_begun(
    embedded: EmbeddedStore, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end the process halfway."""
    embedded.put([note(str(n), "word " * 400) for n in range(1000)])
    with monkeypatch.context() as patched:
        patched.setattr("contextkit.store.embedded.SPARE_BYTES", 2**60)
        with pytest.raises(StoreFullError, match="optimizing it needs"):
            embedded.optimize()
    assert embedded.optimize() is True
