"""Libraries that are extras: imported late, and missed with the command that installs them."""

import subprocess
import sys
from pathlib import Path

import pytest

from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.libraries import import_library, require_library

_MODELS = {
    "fastembed": "fastembed:{weights}?pooling=cls",
    "sentence-transformers": "sentence-transformers:{weights}",
    "openai": "openai:m@http://127.0.0.1/v1",
}


def run(code: str, *arguments: str) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("extra", "library"),
    [
        ("fastembed", "fastembed"),
        ("sentence-transformers", "sentence_transformers"),
        ("openai", "httpx"),
    ],
)
def test_a_missing_library_is_an_error_with_its_command(
    weights: Path, extra: str, library: str
) -> None:
    """As soon as the model is asked for, in a process that cannot find the library."""
    code = """
import importlib.util, sys
find, missing = importlib.util.find_spec, sys.argv[1]
importlib.util.find_spec = lambda name: None if name == missing else find(name)
from contextkit_embedders import EmbedderError, contextkit_embedder
try:
    contextkit_embedder(sys.argv[2])
except EmbedderError as error:
    print(error)
"""

    printed = run(code, library, _MODELS[extra].format(weights=weights))

    assert printed == (
        f"'{extra}' models need {library}, which is not installed: "
        f'pip install "contextkit-embedders[{extra}]"\n'
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

    assert run(code) == "[]\n"
