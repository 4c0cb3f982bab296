"""`fastembed:FOLDER`, with a real model that is read from a folder."""

import shutil
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextkit_embedders import contextkit_embedder
from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.onnx_folders import write_pulled_name

pytest.importorskip("fastembed")

KITTENS = ["A kitten sleeps on the sofa", "A young cat naps on the couch", "Stock prices fell"]


@pytest.fixture(scope="module")
def model(minilm: Path) -> Any:
    """The model of the folder."""
    return contextkit_embedder(f"fastembed:{minilm}")


def test_texts_of_one_meaning_are_near(minilm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords share no word here; loading and running the model opens no connection."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    model: Any = contextkit_embedder(f"fastembed:{minilm}")
    sofa, couch, stocks = model.embed_records(KITTENS)

    assert float(sofa @ couch) > 0.5
    assert abs(float(sofa @ stocks)) < 0.2


def test_vectors_are_as_many_and_as_long_as_they_should_be(model: Any) -> None:
    """One a text, in their order, whatever their lengths and scripts."""
    texts = ["long " * 200, "a", "mid " * 20, "三つの 🙂", "a"]

    vectors = model.embed_records(texts)

    assert (vectors.shape, vectors.dtype) == ((5, 384), np.float32)
    alone = np.stack([model.embed_query(text) for text in texts])
    np.testing.assert_allclose(vectors, alone, atol=0.02)
    assert model.dimensions == 384
    assert model.embed_records([]).shape == (0, 384)
    assert np.isfinite(model.embed_query("kitten " * 100_000)).all()


def test_prefixes_reach_the_model(minilm: Path, model: Any) -> None:
    """The query's before a query, the record's before a record; the latter is in the name."""
    prefixed: Any = contextkit_embedder(f"fastembed:{minilm}?query_prefix=q:+&record_prefix=r:+")

    np.testing.assert_array_equal(prefixed.embed_query("why"), model.embed_query("q: why"))
    np.testing.assert_array_equal(prefixed.embed_records(["x"]), model.embed_records(["r: x"]))
    assert prefixed.name == f"{model.name}?record_prefix=r%3A%20"


def test_the_pooling_of_the_string_is_stronger(minilm: Path, model: Any) -> None:
    """It makes other vectors, so the name is another."""
    other: Any = contextkit_embedder(f"fastembed:{minilm}?pooling=cls")

    assert float(other.embed_query("why") @ model.embed_query("why")) < 0.99
    assert model.name.endswith("-mean")
    assert other.name == model.name.replace("-mean", "-cls")


def test_a_pulled_folder_needs_no_pooling(minilm: Path, model: Any, tmp_path: Path) -> None:
    """Fastembed knows its own models, and makes the same of the same files."""
    pulled = shutil.copytree(minilm, tmp_path / "pulled")
    shutil.rmtree(pulled / "1_Pooling")
    write_pulled_name(pulled, "sentence-transformers/all-MiniLM-L6-v2")

    found: Any = contextkit_embedder(f"fastembed:{pulled}")

    np.testing.assert_allclose(found.embed_query("why"), model.embed_query("why"), atol=1e-6)
    assert found.name.endswith("-sentence-transformers/all-MiniLM-L6-v2")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: write_pulled_name(folder, "somebody/gone"), "somebody/gone"),
        (lambda folder: (folder / "tokenizer.json").unlink(), r"tokenizer\.json"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"no model"), ""),
    ],
    ids=["a pulled model that fastembed forgot", "no tokenizer", "no weights"],
)
def test_a_folder_that_does_not_load_is_an_error(
    minilm: Path, tmp_path: Path, change: Callable[[Path], object], said: str
) -> None:
    """It has what the library says, each time that a text is embedded."""
    folder = shutil.copytree(minilm, tmp_path / "broken")
    change(folder)
    model: Any = contextkit_embedder(f"fastembed:{folder}")

    for embed in (model.embed_query, model.embed_records):
        with pytest.raises(EmbedderError, match=rf"cannot load the model in {folder}: .*{said}"):
            embed(["why"])


def test_pooling_that_the_model_does_not_fit_is_an_error(minilm: Path) -> None:
    """A model whose output is one vector a token needs to be pooled."""
    model: Any = contextkit_embedder(f"fastembed:{minilm}?pooling=none")

    with pytest.raises(EmbedderError, match="cannot run the model in "):
        model.embed_query("why")
    with pytest.raises(EmbedderError, match="cannot run the model in "):
        model.embed_records(["why"])


def test_a_text_that_the_tokenizer_refuses_is_an_error(model: Any) -> None:
    """Such as half a character."""
    for embed in (model.embed_query, lambda text: model.embed_records([text])):
        with pytest.raises(EmbedderError, match="cannot run the model in "):
            embed("half \ud83d")


def test_many_threads_may_ask_at_once(minilm: Path) -> None:
    """The model is loaded once, and each gets its own vector."""
    model: Any = contextkit_embedder(f"fastembed:{minilm}")

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(model.embed_query, KITTENS * 4))

    alone = [model.embed_query(text) for text in KITTENS]
    np.testing.assert_allclose(np.stack(together), np.stack(alone * 4), atol=1e-6)
