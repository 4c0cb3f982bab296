"""A revision is another one whenever a source's records have changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from contextkit import Record
from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.reembed import reembed
from contextkit.store.revisions import FolderRevisions

Note = Callable[..., Record]
WRITES: dict[str, Callable[[RecordStore, Record], None]] = {
    "put": lambda store, record: store.put([record]),
    "delete": lambda store, record: store.delete([record.point_id]),
    "delete_where": lambda store, record: store.delete_where("notes", ["p"], {}),
}


@pytest.mark.parametrize("write", WRITES)
def test_each_write_makes_another_one(store: RecordStore, note: Note, write: str) -> None:
    """Also one that stores what is there already; reading makes none."""
    record = note("1", "the tide")
    store.put([record])
    before = store.revision("notes")
    assert before is not None
    store.count(None, None, {})
    assert store.revision("notes") == before
    seen = {before}
    for _ in range(3):
        WRITES[write](store, record)
        seen.add(str(store.revision("notes")))
    assert len(seen) == 4


@pytest.mark.parametrize("write", ["put", "delete_where"])
def test_another_sources_write_makes_none(store: RecordStore, note: Note, write: str) -> None:
    """Each source has its own."""
    store.put([note("1", "the tide")])
    before = store.revision("plain")
    WRITES[write](store, note("2", "the tide"))
    assert store.revision("plain") == before


class Watching(FolderRevisions):
    """Notes how many records there are whenever a change is noted."""

    def changed(self, source: str | None) -> None:
        """A change, with the records that a search would find at that moment."""
        if self.store is not None:
            self.seen.append(self.store.count("notes", None, {}))
        super().changed(source)

    store: EmbeddedStore | None = None
    seen: list[int] = []  # noqa: RUF012 - of one test


def test_a_change_is_noted_before_and_after(embedded: EmbeddedStore, note: Note) -> None:
    """Before, for who is killed meanwhile or waits for it; after, for who searched meanwhile."""
    embedded.put([note("1", "the tide")])
    Watching.store, Watching.seen = embedded, []
    embedded._revisions = Watching(embedded.path)
    embedded.put([note("2", "the tide")])
    embedded.delete_where("notes", ["p"], {})
    assert Watching.seen == [1, 2, 2, 0]
    Watching.store = None


def test_other_processes_see_it(embedded: EmbeddedStore, embedders: Embedders, note: Note) -> None:
    """Without opening the store: another object on the folder stands for one."""
    other = EmbeddedStore(embedded.path, embedders)
    assert other.revision("notes") is None
    embedded.put([note("1", "the tide")])
    before = other.revision("notes")
    assert before == embedded.revision("notes")
    embedded.put([note("2", "the tide")])
    assert other.revision("notes") == embedded.revision("notes") != before


def test_a_store_that_is_made_anew_begins_anew(embedded: EmbeddedStore, note: Note) -> None:
    """The same number of writes does not make it look the same."""
    embedded.put([note("1", "the tide")])
    before = embedded.revision("notes")
    embedded.close()
    shutil.rmtree(embedded.path)
    embedded.put([note("1", "the tide")])
    assert embedded.revision("notes") != before


def test_new_vectors_make_another_one(
    embedded: EmbeddedStore, embedders: Embedders, note: Note
) -> None:
    """The same records may be found in another order."""
    embedded.put([note("1", "the tide")])
    before = [embedded.revision(source) for source in ("notes", "plain")]
    embedded.close()
    reembed(embedded.path, embedders, lambda done, total: None)
    after = [embedded.revision(source) for source in ("notes", "plain")]
    assert not set(before) & set(after)


def test_any_name_has_one(embedded: EmbeddedStore) -> None:
    """It is no file's name."""
    odd = ["a/b", "..", "x" * 500, "\0", "ünï", "\ud800"]
    embedded.put([Record(id="1", text="x", source="a/b", project="p")])
    assert len({embedded.revision(source) for source in odd}) == 2


def test_what_is_cut_off_counts_as_unknown(embedded: EmbeddedStore, note: Note) -> None:
    """A first revision that a killed process left half written is written by the next one."""
    embedded.put([note("1", "the tide")])
    embedded.close()
    (embedded.path / "revisions" / "everything").write_bytes(b"half")
    assert embedded.revision("notes") is None
    assert embedded.count(None, None, {}) == 1
    assert embedded.revision("notes") is not None


def test_where_none_can_be_kept_the_store_does_not_open(embedded: EmbeddedStore) -> None:
    """Nobody would notice what is written there."""
    embedded.path.mkdir()
    (embedded.path / "revisions").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot open the store at .*: Not a directory"):
        embedded.count(None, None, {})
    assert embedded.revision("notes") is None
