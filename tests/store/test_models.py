"""Several models in one store: their vectors, what the store remembers, what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.embedding.embedder import Embedder, KeywordsOnly, ModelEmbedder
from contextkit.errors import StoreError, StoreModelMismatchError
from contextkit.models.record import Record, Search
from contextkit.models.records import Records
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.identity import VECTOR_PREFIX, stored_model
from contextkit.store.reembed import reembed
from contextkit.store.server import ServerStore
from contextkit.testing import HashingModel

Note = Callable[..., Record]

TEXTS = ("The gate is closed before ebb", "High water comes at noon", "The pilot boat is green")


@frozen
class BySource:
    """Embedders by source; the default model for others."""

    chosen: dict[str, Embedder]

    def of(self, source: str) -> Embedder:
        """A source's, or the default."""
        return self.chosen.get(source) or load_embedder()

    def known(self, source: str) -> Embedder | None:
        """A source's, where it was chosen."""
        return self.chosen.get(source)

    def in_use(self) -> list[Embedder]:
        """All that were chosen."""
        return list(self.chosen.values())

    @property
    def problem(self) -> str | None:
        """What is wrong with one of them."""
        return next((e.problem for e in self.chosen.values() if e.problem), None)


def hashing(dimensions: int = 12, name: str = "hashing") -> ModelEmbedder:
    """A small model's embedder."""
    return ModelEmbedder(name, lambda: HashingModel(dimensions, name), timeout=None)


def failing(name: str | None = None) -> ModelEmbedder:
    """A model that cannot be found, or one with a name that cannot embed."""

    @frozen
    class Broken(HashingModel):
        def embed_records(self, texts: Any) -> Any:
            raise OSError("out of order")

    def find() -> HashingModel:
        if name is None:
            raise OSError("nobody there")
        return Broken(12, name)

    return ModelEmbedder("broken", find, timeout=None)


def fill(store: RecordStore, *sources: str) -> None:
    """The same three records for each."""
    for source in sources:
        Records(store, source, "p").put(
            [Record(id=f"{n}", text=text) for n, text in enumerate(TEXTS)]
        )


def similarities(store: RecordStore, source: str) -> dict[str, float | None]:
    """How alike the records of a source are to one of them, in other letters."""
    hits = Records(store, source, "p").search_sync(TEXTS[1].upper())
    return {hit.record.id: hit.similarity and round(hit.similarity, 3) for hit in hits}


@pytest.fixture
def mixed() -> BySource:
    """Three models and none."""
    return BySource(
        {"tide": load_embedder(), "boats": hashing(), "plain": KeywordsOnly()},
    )


def _with(store: RecordStore, embedders: Embedders) -> RecordStore:
    """The same store with other embedders, as another process would open it."""
    store.close()
    assert isinstance(store, (EmbeddedStore, ServerStore))
    store.embedders = embedders
    return store


# -- vectors of several models --------------------------------------------------------------


def test_each_source_has_the_vectors_of_its_model(store: RecordStore, mixed: BySource) -> None:
    """Records are found by them, in one batch, and again once the store was closed."""
    store = _with(store, mixed)
    fill(store, "tide", "boats", "plain")
    for opened in (store, _with(store, mixed)):
        assert opened.identity.sources == {
            "tide": "wordllama-256",
            "boats": "hashing",
            "plain": "none",
        }
        assert {m.dimensions for m in opened.identity.models.values()} == {256, 12}
        assert similarities(opened, "boats")["1"] == 1.0
        assert similarities(opened, "tide")["1"] is not None
        assert set(similarities(opened, "plain").values()) == {None}
        answers = opened.search(
            [Search(query=TEXTS[1], source=s, projects=("p",)) for s in ("tide", "boats", "plain")]
        )
        assert [hits[0].record.id for hits in answers] == ["1", "1", "1"]
        assert [hits[0].similarity is None for hits in answers] == [False, False, True]


def test_a_store_that_is_there_takes_the_vectors_of_one_more_model(
    store: RecordStore, mixed: BySource
) -> None:
    """The records of before are found as before."""
    store = _with(store, mixed)
    fill(store, "tide")
    before = similarities(store, "tide")
    more = BySource({**mixed.chosen, "ropes": hashing(5, "five")})
    store = _with(store, more)
    assert similarities(store, "ropes") == {}
    fill(store, "ropes", "boats")
    assert similarities(store, "ropes")["1"] == 1.0
    assert similarities(store, "tide") == before


def test_a_model_that_another_process_brought_is_used(store: RecordStore, note: Note) -> None:
    """A store that was open already notices."""
    if not isinstance(store, ServerStore):
        pytest.skip("the embedded store is read again at each turn")
    first, second = (evolve(store, embedders=OneEmbedder(hashing())) for _ in "12")
    first.prepare()
    second.prepare()
    fill(first, "tide")
    assert similarities(second, "tide")["1"] == 1.0
    fill(second, "boats")
    assert similarities(first, "boats")["1"] == 1.0
    third = evolve(first, embedders=OneEmbedder(hashing(5, "five")))
    with pytest.raises(StoreModelMismatchError):
        fill(third, "boats")


def test_names_of_models_make_names_of_vectors() -> None:
    """Of letters that an engine's files may have, and never one for two models."""
    names = ["openai:BAAI/bge-m3", "openai:BAAI/bge_m3", "模型:一", "x:" + "y" * 500, "../../etc"]
    vectors = [stored_model(name, 8).vector for name in names]
    assert len(set(vectors)) == len(names)
    assert all(vector.startswith(VECTOR_PREFIX) and len(vector) < 64 for vector in vectors)
    assert all(set(vector) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for vector in vectors)
    assert stored_model("x", 8).vector != stored_model("x", 9).vector


# -- what is refused ------------------------------------------------------------------------


def test_another_model_for_one_source_is_refused(store: RecordStore, mixed: BySource) -> None:
    """Also where the store has that model's vectors, for another source."""
    store = _with(store, mixed)
    fill(store, "tide", "boats", "plain")
    for source, embedder in (
        ("tide", hashing()),
        ("boats", load_embedder()),
        ("boats", KeywordsOnly()),
        ("plain", hashing()),
    ):
        changed = _with(store, BySource({**mixed.chosen, source: embedder}))
        with pytest.raises(StoreModelMismatchError) as caught:
            changed.count(None, None, {})
        assert f"for the source '{source}'" in str(caught.value)
        assert f"the configured model is '{embedder.name}'" in str(caught.value)
        changed.close()
    assert _with(store, mixed).count(None, None, {}) == 9


def test_a_model_whose_vectors_changed_their_length_is_refused(
    store: RecordStore, mixed: BySource
) -> None:
    """The same name does not make them comparable."""
    store = _with(store, mixed)
    fill(store, "boats")
    store = _with(store, BySource({"boats": hashing(13)}))
    for use in (lambda: fill(store, "boats"), lambda: similarities(store, "boats")):
        with pytest.raises(StoreModelMismatchError, match="hashing \\(12 dimensions\\)"):
            use()


def test_a_source_without_a_choice_is_let_be(store: RecordStore, mixed: BySource) -> None:
    """Its plugin is off, say: the others go on, and so does reading its records."""
    store = _with(store, mixed)
    fill(store, "tide", "boats")
    store = _with(store, BySource({"tide": load_embedder()}))
    assert store.count("boats", None, {}) == 3
    assert similarities(store, "tide")
    with pytest.raises(StoreModelMismatchError, match="'boats'"):
        fill(store, "boats")


# -- models that fail -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, "hashing"])
def test_records_are_stored_although_the_model_fails(
    store: RecordStore, mixed: BySource, name: str | None
) -> None:
    """By their keywords, among those that have vectors; and they are all there later."""
    store = _with(store, mixed)
    fill(store, "boats")
    store = _with(store, BySource({"boats": failing(name)}))
    Records(store, "boats", "p").put([Record(id="new", text="The mole is long")])
    assert "the embedding model 'broken' fails" in str(store.problem)
    [hit] = Records(store, "boats", "p").search_sync("how long is the mole?", limit=1)
    assert (hit.record.id, hit.similarity) == ("new", None)
    assert set(similarities(store, "boats").values()) <= {None, 1.0}
    store = _with(store, mixed)
    assert store.count("boats", None, {}) == 4
    assert similarities(store, "boats")["1"] == 1.0
    Records(store, "boats", "p").put([Record(id="new", text="The mole is long")])
    found = Records(store, "boats", "p").search_sync("the mole is long", limit=1)[0]
    assert found.similarity == pytest.approx(1.0, abs=1e-3)


def test_a_new_store_of_a_failing_model_keeps_its_records(store: RecordStore) -> None:
    """It says nothing of their vectors: whoever embeds them first does."""
    store = _with(store, OneEmbedder(failing()))
    fill(store, "boats")
    assert store.identity.sources == {}
    store = _with(store, OneEmbedder(hashing()))
    assert store.count("boats", None, {}) == 3
    fill(store, "boats")
    assert similarities(store, "boats")["1"] == 1.0


# -- the server's own -----------------------------------------------------------------------


@pytest.fixture
def client() -> Any:
    """A client with its data in memory."""
    client = QdrantClient(":memory:")
    yield client
    client.close()


def _refusing(*_: object, **__: object) -> None:
    raise UnexpectedResponse(404, "Not Found", b"", None)  # type: ignore[arg-type]


def test_a_server_of_before_named_vectors_holds_the_configured_models(
    client: QdrantClient, mixed: BySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made with the collection; one more is refused with what would help."""
    monkeypatch.setattr(client, "create_vector_name", _refusing)
    store = ServerStore(client, mixed)
    fill(store, "tide", "boats")
    assert similarities(store, "boats")["1"] == 1.0
    more = ServerStore(client, BySource({**mixed.chosen, "ropes": hashing(5, "five")}))
    with pytest.raises(
        StoreError, match=r"cannot add vectors of 'five' .* qdrant-client 1\.18 or later"
    ):
        fill(more, "ropes")
    assert more.count(None, None, {}) == 6


def test_two_who_bring_one_model_at_once_agree(
    client: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one who comes second finds it there."""
    first, second = (ServerStore(client, BySource({"boats": hashing()})) for _ in "12")
    first.prepare()
    create = client.create_vector_name

    def beaten(*arguments: Any, **options: Any) -> None:
        create(*arguments, **options)
        _refusing()

    monkeypatch.setattr(client, "create_vector_name", beaten)
    three = evolve(second, embedders=BySource({"ropes": hashing(5, "five")}))
    fill(three, "ropes")
    assert similarities(three, "ropes")["1"] == 1.0


@pytest.mark.parametrize("name", ["dense", "other"])
def test_a_collection_with_other_vectors_is_somebody_elses(client: QdrantClient, name: str) -> None:
    """Whatever they are for."""
    client.create_collection(
        "contextkit",
        vectors_config={name: models.VectorParams(size=4, distance=models.Distance.COSINE)},
        sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    with pytest.raises(StoreError, match=r"set store\.collection to another name"):
        ServerStore(client, OneEmbedder(hashing())).prepare()


# -- re-embedding ---------------------------------------------------------------------------


def _rebuilt(path: Path, embedders: Embedders) -> dict[str, str]:
    return dict(reembed(path, embedders, lambda *_: None).models)


def test_reembedding_gives_each_source_its_own_model(tmp_path: Path, mixed: BySource) -> None:
    """Those that lost their vectors have them again; models that nobody has are gone."""
    path = tmp_path / "store"
    store = EmbeddedStore(path, BySource({"tide": hashing(), "boats": hashing(5, "five")}))
    fill(store, "tide", "boats")
    store.close()
    store = EmbeddedStore(path, BySource({"tide": failing("hashing")}))
    Records(store, "tide", "p").put([Record(id="1", text=TEXTS[1])])
    assert similarities(store, "tide").get("1") is None
    store.close()
    now = BySource({"tide": hashing(), "boats": hashing()})
    assert _rebuilt(path, now) == {"tide": "hashing", "boats": "hashing"}
    store = EmbeddedStore(path, now)
    assert list(store.identity.models) == ["hashing"]
    for source in ("tide", "boats"):
        assert similarities(store, source)["1"] == 1.0
    store.close()


def test_reembedding_leaves_sources_that_are_not_there_as_they_were(tmp_path: Path) -> None:
    """One without vectors gets none; one with another model gets the default."""
    path = tmp_path / "store"
    store = EmbeddedStore(path, BySource({"plain": KeywordsOnly(), "boats": hashing()}))
    fill(store, "plain", "boats")
    store.close()
    assert _rebuilt(path, BySource({})) == {"plain": "none", "boats": "wordllama-256"}


@pytest.mark.parametrize("name", [None, "hashing"])
def test_reembedding_with_a_failing_model_changes_nothing(tmp_path: Path, name: str | None) -> None:
    """Vectors that are there are better than none."""
    path = tmp_path / "store"
    store = EmbeddedStore(path, OneEmbedder(hashing()))
    fill(store, "boats")
    store.close()
    with pytest.raises(StoreError, match="cannot be re-embedded: the embedding model 'broken'"):
        _rebuilt(path, OneEmbedder(failing(name)))
    assert similarities(store, "boats")["1"] == 1.0
    assert sorted(e.name for e in path.iterdir() if e.is_dir()) == ["revisions", "shard"]
    store.close()


KILLED = """
import os, sys
from pathlib import Path
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.models.records import Record, Records
from contextkit.store.embedded import EmbeddedStore
from contextkit.testing import HashingModel

store = EmbeddedStore(Path(sys.argv[1]), OneEmbedder(ModelEmbedder("h", HashingModel)))
for source in ("a", "b"):
    Records(store, source, "p").put([Record(id="1", text="high water")])
if sys.argv[2] == "before the note":
    store._folder.__class__.remember = lambda *_: os.kill(os.getpid(), 9)
embedder = ModelEmbedder("i", lambda: HashingModel(7, "i"))
store.embedders = OneEmbedder(embedder)
Records(store, "c", "p").put([Record(id="1", text="high water")])
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("moment", ["before the note", "after the write"])
def test_a_kill_while_a_model_comes_to_a_store_loses_nothing(tmp_path: Path, moment: str) -> None:
    """What was acknowledged is there with its vectors, and the model can come again."""
    path = tmp_path / "store"
    ended = subprocess.run([sys.executable, "-c", KILLED, path, moment], check=False)
    assert ended.returncode == -9
    chosen = {"a": hashing(16), "b": hashing(16), "c": hashing(7, "i")}
    store = EmbeddedStore(path, BySource(dict(chosen)))
    killed = moment == "before the note"
    assert store.count(None, None, {}) == (2 if killed else 3)
    assert sorted(store.identity.sources) == (["a", "b"] if killed else ["a", "b", "c"])
    Records(store, "c", "p").put([Record(id="2", text="low water")])
    for source in chosen:
        assert Records(store, source, "p").search_sync("high water")[0].similarity
    store.close()
