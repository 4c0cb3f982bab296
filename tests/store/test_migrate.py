"""Moves between stores: vectors, and changes of other processes during the move."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.errors import StoreError
from contextkit.models.record import Record, Search
from contextkit.store.base import PointStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.migrate import Migrated, Migration
from contextkit.store.reused_vectors import AnyModels, ReusingEmbedders
from contextkit.store.server import ServerStore
from contextkit.store.verify import verify
from contextkit.testing import HashingModel
from tests.store.faulty_qdrant import PASSING, FaultyQdrant
from tests.store.http_qdrant import LOW_LIMITS, STRICT

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]
New = tuple[PointStore, ReusingEmbedders]
Opened = Callable[[Embedders], New]


@pytest.fixture
def old(embedded: EmbeddedStore, note: Note) -> EmbeddedStore:
    """A store with notes of two projects, with vectors, and plain records without."""
    embedded.put([note(str(n), f"note {n} of many") for n in range(300)])
    embedded.put([note("cat", "my kitten sleeps on the laptop", project="q")])
    embedded.put([Record(id="c", text="plain words", source="plain", project="p")])
    return embedded


_REAL = os.environ.get("CONTEXTKIT_TEST_QDRANT_URL")


@pytest.fixture(params=["embedded", "http", *(["server"] if _REAL else [])])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Opens the new store, of each kind, with some embedders."""
    stores: list[PointStore] = []
    limits = {**STRICT, **LOW_LIMITS}
    with (
        pytest.MonkeyPatch.context() as patched,
        FaultyQdrant(PASSING, each=5, strict=limits) as server,
    ):
        patched.setattr("contextkit.store.server_retry._FIRST_WAIT", 0.001)

        def open_new(configured: Embedders) -> New:
            embedders = ReusingEmbedders(configured)
            if request.param == "embedded":
                stores.append(EmbeddedStore(tmp_path / "new", embedders))
            else:
                url = _REAL if request.param == "server" and _REAL else server.url
                key = os.environ.get("QDRANT_API_KEY") if url == _REAL else None
                name = f"contextkit-test-{uuid.uuid4().hex}"
                stores.append(ServerStore.connect(url, embedders, collection=name, api_key=key))
            return stores[-1], embedders

        yield open_new
        server.each = 1_000_000
        for store in stores:
            if isinstance(store, ServerStore):
                store.client.delete_collection(store.collection)
            store.close()


def move(old: PointStore, new: New, **options: Any) -> Migrated:
    """Move all records, with their projects."""
    given: dict[str, Any] = {
        "moves": lambda _: True,
        "renamed": list,
        "redact": list,
        "progress": lambda *_: None,
        "carry": lambda _: None,
        **options,
    }
    return Migration(old, *new, **given).run()


def vectors(store: PointStore) -> dict[str, Sequence[float] | None]:
    """The stored vectors by point."""
    return {point.id: point.dense for batch in store.scan_points() for point in batch.points}


class Refusing(HashingModel):
    """A model that makes no vectors."""

    def embed_records(self, texts: Sequence[str]) -> Any:
        """Fail."""
        raise AssertionError(texts)


def hashing(model: HashingModel) -> Embedders:
    """The model for every source."""
    return OneEmbedder(ModelEmbedder("hash", lambda: model, timeout=None))


def test_vectors_are_reused_without_asking_the_model(
    tmp_path: Path, note: Note, opened: Opened
) -> None:
    """A move needs neither the time nor the money of embedding."""
    old = EmbeddedStore(tmp_path / "old", hashing(HashingModel(64)))
    notes = [note(str(n), f"note {n} of many") for n in range(20)]
    old.put(notes)
    new = opened(hashing(Refusing(64)))
    assert move(old, new).settled
    before, after = vectors(old), vectors(new[0])
    assert len(before) == 20
    for point, vector in before.items():
        assert after[point] == pytest.approx(vector, abs=0.01)
    old.close()


def test_another_model_makes_new_vectors(old: EmbeddedStore, opened: Opened) -> None:
    """The old store opens although its model is no longer configured."""
    configured = hashing(HashingModel(64))
    reader = EmbeddedStore(old.path, AnyModels(configured))
    old.close()
    new, embedders = opened(configured)
    assert move(reader, (new, embedders)).settled
    assert set(new.identity.sources.values()) == {"hashing"}
    [hits] = new.search([Search(query="plain words", source="plain", projects=("p",))])
    assert hits[0].similarity == pytest.approx(1.0, abs=0.01)
    reader.close()


def test_a_model_that_fails_stops_the_move(old: EmbeddedStore, opened: Opened) -> None:
    """Records without vectors would count as copied."""
    new = opened(hashing(Refusing(64)))
    with pytest.raises(StoreError, match="have no vectors"):
        move(old, new)
    assert new[0].count(None, None, {}) == 0


def test_what_is_stored_during_the_move_is_copied(
    old: EmbeddedStore, embedders: Embedders, note: Note, opened: Opened
) -> None:
    """A later pass finds new, changed and deleted records."""
    new = opened(embedders)
    changes: list[str] = []

    def meanwhile(what: str, done: int, total: int) -> None:
        if what == "copy" and done == total:
            changes.append(what)
            old.put([note("0", "note 0 was changed"), note("late", "stored late")])
            old.delete([note("1").point_id])

    moved = move(old, new, progress=meanwhile)
    assert changes == ["copy"]
    assert moved.settled
    assert moved.removed == 1
    found = {each.id: each.text for each in new[0].scan("notes", ["p"], {})}
    assert found == {each.id: each.text for each in old.scan("notes", ["p"], {})}
    assert found["0"] == "note 0 was changed"
    assert "1" not in found


def test_a_store_that_never_rests_is_reported(
    old: EmbeddedStore, embedders: Embedders, note: Note, opened: Opened
) -> None:
    """The move ends after some passes and says that it is not complete."""
    new = opened(embedders)
    moved = move(old, new, progress=lambda *_: old.put([note("late", "stored again")]))
    assert not moved.settled


def test_every_moved_record_is_verified(
    old: EmbeddedStore, embedders: Embedders, opened: Opened
) -> None:
    """Counts and checksums are equal for each source and project; vectors fit the texts."""
    new = opened(embedders)
    moved = move(old, new)
    again = move(old, new)
    for scope, same in zip(moved.scopes, again.scopes, strict=True):
        assert scope.is_same
        assert (scope.records, scope.checksum) == (same.records, same.checksum)
        assert same.copied == 0
    verified = verify(new[0])
    assert verified.records == 302
    assert (verified.damaged, verified.miscounted, verified.other_vectors) == ((), [], [])


def test_records_are_moved_to_the_projects_of_the_new_store(
    old: EmbeddedStore, embedders: Embedders, opened: Opened
) -> None:
    """The result says which; projects that are not the user's stay."""
    new = opened(embedders)
    moved = move(
        old,
        new,
        moves=lambda project: project == "p",
        renamed=lambda found: [evolve(each, project=f"moved/{each.project}") for each in found],
    )
    assert {scope.target for scope in moved.scopes} == {"moved/p"}
    assert new[0].count("notes", ["moved/p"], {}) == 300
    assert new[0].count(None, None, {}) == 301
