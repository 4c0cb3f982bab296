"""Another embedding model for the records on a server, while others use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.embedding.embedder import KeywordsOnly, ModelEmbedder
from contextkit.errors import StoreError, StoreModelMismatchError
from contextkit.models.record import Hit, Record, Search
from contextkit.store.reused_vectors import AnyModels
from contextkit.store.server import ServerStore
from contextkit.store.server_reembed import reembed_server
from contextkit.store.verify import verify
from contextkit.testing import HashingModel
from tests.store.faulty_qdrant import PASSING, FaultyQdrant
from tests.store.http_qdrant import LOW_LIMITS, STRICT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]


def model(dense: HashingModel) -> Embedders:
    """The model for every source."""
    return OneEmbedder(ModelEmbedder(dense.name, lambda: dense, timeout=None))


OLD, NEW = model(HashingModel(32, "small")), model(HashingModel(64))


@pytest.fixture
def server(note: Note) -> Iterator[FaultyQdrant]:
    """A server in strict mode with 300 records of the old model; `each` makes it unsteady."""
    with FaultyQdrant(PASSING, each=1_000_000, strict={**STRICT, **LOW_LIMITS}) as server:
        store = ServerStore.connect(server.url, OLD)
        store.put([note(str(n), f"note {n} of many") for n in range(299)])
        store.put([note("empty", "")])
        store.close()
        yield server


def opened(server: FaultyQdrant, embedders: Embedders) -> ServerStore:
    """The store as a process with these embedders has it."""
    return ServerStore.connect(server.url, embedders)


def reembed(
    server: FaultyQdrant,
    embedders: Embedders = NEW,
    progress: Callable[[int, int | None], None] = lambda *_: None,
    **options: Any,
) -> int:
    """Re-embed; return the number of records."""
    store = opened(server, AnyModels(embedders))
    try:
        return reembed_server(store, embedders, progress, **options).records
    finally:
        store.close()


def search(store: ServerStore, query: str = "note 7 of many") -> Hit:
    """The best hit."""
    [[hit, *_]] = store.search([Search(query=query, source="notes", projects=("p",))])
    return hit


def vectors(server: FaultyQdrant) -> set[str]:
    """The dense vectors that the collection has room for."""
    found = server.client.get_collection("contextkit").config.params.vectors
    return {name.rpartition("-")[0] for name in found} if isinstance(found, dict) else set()


def test_records_on_a_server_get_the_vectors_of_another_model(server: FaultyQdrant) -> None:
    """The old vectors are gone, and processes with the old model are refused."""
    before = opened(server, OLD)
    assert search(before).similarity is not None
    with pytest.raises(StoreModelMismatchError, match="contextkit reembed"):
        opened(server, NEW).prepare(())
    assert reembed(server) == 300
    after = opened(server, NEW)
    assert after.identity.id == before.identity.id
    assert search(after).record.id == "7"
    assert search(after).similarity == pytest.approx(1.0, abs=0.01)
    assert vectors(server) == {"dense-hashing"}
    assert after.identity.models.keys() == {"hashing"}
    assert verify(after).other_vectors == []
    with pytest.raises(StoreModelMismatchError):
        opened(server, OLD).prepare(())
    # A process that was already searching learns it from the server's first error.
    with pytest.raises(StoreError):
        search(before)
    with pytest.raises(StoreModelMismatchError):
        search(before)


def test_searches_answer_while_records_are_reembedded(server: FaultyQdrant) -> None:
    """By the old model where it is configured, else by keywords, which `problem` says."""
    old, seen = opened(server, OLD), []

    def meanwhile(*_: object) -> None:
        new = opened(server, NEW)
        seen.append((search(old), search(new), new.problem))
        new.close()

    reembed(server, progress=meanwhile)
    for by_old, by_new, problem in seen:
        assert by_old.record.id == by_new.record.id == "7"
        assert by_old.similarity is not None
        assert by_new.similarity is None
        assert "'notes' to 'hashing' are not complete" in str(problem)
    assert seen
    done = opened(server, NEW)
    assert search(done).similarity is not None
    assert done.problem is None


def test_a_store_that_searched_meanwhile_uses_the_new_vectors_at_the_end(
    server: FaultyQdrant,
) -> None:
    """It need not be opened again."""
    new = opened(server, NEW)
    found = []
    reembed(server, progress=lambda *_: found.append(search(new).similarity))
    assert set(found) == {None}
    assert search(new).similarity is not None
    assert new.problem is None


def test_a_killed_run_goes_on_where_it_stopped(server: FaultyQdrant, note: Note) -> None:
    """Records with new vectors are not embedded again; those changed since are."""
    embedded: list[int] = []

    class Interrupted(HashingModel):
        def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if sum(embedded) > 255:
                raise KeyboardInterrupt
            embedded.append(len(texts))
            return super().embed_records(texts)

    with pytest.raises(KeyboardInterrupt):
        reembed(server, model(Interrupted(64)))
    opened(server, OLD).put([note("0", "note 0 was changed by another process")])
    embedded.clear()

    class Counting(HashingModel):
        def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
            embedded.append(len(texts))
            return super().embed_records(texts)

    reembed(server, model(Counting(64)))
    # Two pages of a hundred were done; the record without words is asked for twice.
    assert sum(embedded) <= 100 + 1 + 2
    store = opened(server, NEW)
    assert verify(store).other_vectors == []
    hit = search(store, "note 0 was changed by another process")
    assert hit.record.id == "0"
    assert hit.similarity == pytest.approx(1.0, abs=0.01)


def test_records_stored_meanwhile_get_new_vectors(server: FaultyQdrant, note: Note) -> None:
    """By processes with the old model and with the new one."""
    old = opened(server, OLD)
    put: list[bool] = []

    def meanwhile(*_: object) -> None:
        if not put:
            put.append(True)
            old.put([note("by-old", "stored with the old model meanwhile")])
            new = opened(server, NEW)
            new.put([note("by-new", "stored with the new model meanwhile")])
            new.close()

    reembed(server, progress=meanwhile)
    store = opened(server, NEW)
    for words in ("old", "new"):
        hit = search(store, f"stored with the {words} model meanwhile")
        assert hit.record.id == f"by-{words}"
        assert hit.similarity == pytest.approx(1.0, abs=0.01)


def test_vectors_can_be_removed_altogether(server: FaultyQdrant) -> None:
    """And be made again."""
    none = OneEmbedder(KeywordsOnly())
    reembed(server, none)
    assert vectors(server) == set()
    assert search(opened(server, none)).similarity is None
    reembed(server)
    assert search(opened(server, NEW)).similarity is not None


def test_secrets_are_replaced_on_the_way(server: FaultyQdrant) -> None:
    """The record and its vectors are those of the new text."""

    def redact(records: Sequence[Record]) -> list[Record]:
        return [
            Record(id=r.id, text="[secret]", source=r.source, project=r.project)
            if r.id == "7"
            else r
            for r in records
        ]

    reembed(server, redact=redact)
    store = opened(server, NEW)
    assert search(store, "secret").record.text == "[secret]"
    assert verify(store).other_vectors == []


def test_a_server_that_cannot_add_vectors_names_the_way_out(server: FaultyQdrant) -> None:
    """Nothing is lost."""
    server.version = "1.17.0"
    with pytest.raises(StoreError, match="contextkit store migrate"):
        reembed(server)
    assert search(opened(server, OLD)).similarity is not None


def test_an_unsteady_server_is_reembedded(
    server: FaultyQdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request that fails is repeated."""
    monkeypatch.setattr("contextkit.store.server_retry._FIRST_WAIT", 0.001)
    server.each = 7
    assert reembed(server) == 300
    assert server.failed > 3
    server.each = 1_000_000
    assert verify(opened(server, NEW)).other_vectors == []
