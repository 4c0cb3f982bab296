"""Putting a store in order after many writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit.errors import StoreFullError
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]


def _used(path: Path) -> int:
    return sum(512 * file.stat().st_blocks for file in path.rglob("*"))


def _words(first: int, count: int) -> str:
    return " ".join(f"word{number}" for number in range(first, first + count))


def test_with_little_in_it_there_is_nothing_to_do(store: RecordStore, note: Note) -> None:
    """Every store says so."""
    store.put([note("a")])
    assert store.optimize() is False


@pytest.mark.disk
def test_two_thousand_records_are_worth_it_once(embedded: EmbeddedStore, note: Note) -> None:
    """The store opens sooner then; nothing in it has changed, and it is not done again."""
    notes = [note(str(n), _words(n, 80)) for n in range(2000)]
    embedded.put(notes[:500])
    assert embedded.optimize() is False
    embedded.put(notes)
    assert embedded.optimize() is True
    assert embedded.optimize() is False
    records = Records(embedded, "notes", "p")
    assert records.search_sync("word0", limit=1)[0].record.id == "0"
    records.put([Record(id="0", text="a changed one")])
    assert embedded.count(None, None, {}) == 2000
    assert records.search_sync("changed", limit=1)[0].record.id == "0"


@pytest.mark.disk
def test_deleted_records_give_back_their_room(
    embedded: EmbeddedStore, note: Note, tmp_path: Path
) -> None:
    """What remains is found as before, and more can be written, twice over."""
    notes = [note(str(n), f"note {n} {_words(n, 200)}") for n in range(2000)]
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
    embedded.put([note(str(n), _words(n, 80)) for n in range(2000)])
    with monkeypatch.context() as patched:
        patched.setattr("contextkit.store.embedded.SPARE_BYTES", 2**60)
        with pytest.raises(StoreFullError, match="optimizing it needs"):
            embedded.optimize()
    assert embedded.optimize() is True


@pytest.mark.disk
def test_the_log_stays_small(embedded: EmbeddedStore, note: Note, tmp_path: Path) -> None:
    """However much is written, opening has few megabytes of log to read."""
    for turn in range(6):
        text = f"turn {turn} " + "word " * 500
        embedded.put([note(str(n), f"{text} {n}") for n in range(1000)])
    embedded.close()

    assert _used(tmp_path / "store" / "shard" / "wal") < 5 * 2**20
    assert embedded.count(None, None, {}) == 1000
