"""Libraries that are extras: imported late, and missed with the command that installs them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from contextkit_embedders import contextkit_embedder
from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.libraries import import_library, require_library

_MODELS = {
    "fastembed": "fastembed:{weights}?pooling=cls",
    "sentence-transformers": "sentence-transformers:{weights}",
    "openai": "openai:m@http://127.0.0.1/v1",
}


@pytest.mark.parametrize(
    ("extra", "library"),
    [
        ("fastembed", "fastembed"),
        ("sentence-transformers", "sentence_transformers"),
        ("openai", "httpx"),
    ],
)
def test_a_missing_library_is_an_error_with_its_command(
    weights: Path, extra: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as the model is asked for."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == library else find(name)
    )

    with pytest.raises(EmbedderError) as raised:
        contextkit_embedder(_MODELS[extra].format(weights=weights))

    assert str(raised.value) == (
        f"'{extra}' models need {library}, which is not installed: "
        f'pip install "contextkit-embedders[{extra}]"'
    )


def test_a_broken_library_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one whose binary part does not load."""
    (tmp_path / "brokenlibrary.py").write_text("raise OSError('libx.so: not found')")
    monkeypatch.syspath_prepend(tmp_path)

    require_library("brokenlibrary", "x")
    with pytest.raises(EmbedderError, match=r"fails to import: OSError: libx\.so: not found"):
        import_library("brokenlibrary")


def test_a_plugin_that_is_not_used_imports_no_library() -> None:
    """Nor does it when its models are asked for and are another's."""
    code = """
import sys
import contextkit_embedders
contextkit_embedders.contextkit_embedder("other:model")
heavy = {"fastembed", "httpx", "numpy", "onnxruntime", "sentence_transformers"}
print(sorted(heavy & set(sys.modules)))
"""

    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
