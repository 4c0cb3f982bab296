"""Model folders: where they are, and which model is in one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from contextkit_embedders import contextkit_embedder
from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.folders import fingerprint
from contextkit_embedders.onnx_folders import (
    PULLED_FILE,
    model_file,
    pooling_of,
    pulled_name,
)


@pytest.mark.parametrize("kind", ["fastembed", "sentence-transformers"])
@pytest.mark.parametrize(
    ("folder", "said"),
    [("no such", "there is no model folder {}; get one with "), (".", "{} has no model's weights")],
)
def test_a_folder_without_a_model_is_an_error(
    tmp_path: Path, kind: str, folder: str, said: str
) -> None:
    """It says how to get one; the folder may be the one above the model's."""
    with pytest.raises(EmbedderError, match=said.format(tmp_path / folder)):
        contextkit_embedder(f"{kind}:{tmp_path / folder}")


def test_the_home_folder_may_be_a_tilde(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration may be shared between machines."""
    pytest.importorskip("fastembed")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))

    model: Any = contextkit_embedder("fastembed:~/weights?pooling=cls")

    assert model.folder == weights


# -- which model is in it -----------------------------------------------------------------


def test_a_fingerprint_tells_models_apart_wherever_they_are(weights: Path, tmp_path: Path) -> None:
    """By names, sizes and settings; not by the folder's name or other files."""
    copy = shutil.copytree(weights, tmp_path / "elsewhere")
    (copy / "README.md").write_text("about the model")
    seen = [fingerprint(weights)]
    assert fingerprint(copy) == seen[0]

    (weights / "model.onnx").write_bytes(b"no model\0")
    seen.append(fingerprint(weights))
    (weights / "model.onnx").rename(weights / "other.onnx")
    seen.append(fingerprint(weights))
    (weights / "config.json").write_text("{}")
    seen.append(fingerprint(weights))
    assert len(set(seen)) == 4


@pytest.mark.parametrize("position", [0, 3_000_000, 7_999_999])
def test_a_fingerprint_tells_weights_apart(tmp_path: Path, position: int) -> None:
    """Wherever in a large file they differ for more than a few bytes."""
    content = bytearray(8_000_000)
    (tmp_path / "model.safetensors").write_bytes(content)
    before = fingerprint(tmp_path)
    content[max(0, position - 40_000) : position + 40_000] = b"x" * 80_000
    (tmp_path / "model.safetensors").write_bytes(content[:8_000_000])

    assert fingerprint(tmp_path) != before


# -- the ONNX file ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["model.onnx"], "model.onnx"),
        (["onnx/model.onnx", "onnx/model_quantized.onnx"], "onnx/model.onnx"),
        (["model.onnx", "onnx/model.onnx"], "model.onnx"),
        (["onnx/model_optimized.onnx"], "onnx/model_optimized.onnx"),
    ],
)
def test_the_model_file_is_the_usual_or_the_only_one(
    tmp_path: Path, files: list[str], chosen: str
) -> None:
    """Folders of all kinds of exporters are read as they are."""
    (tmp_path / "onnx").mkdir()
    for file in files:
        (tmp_path / file).touch()

    assert model_file(tmp_path) == chosen


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["a.onnx", "b.onnx"], r"several models \(a\.onnx, b\.onnx\): leave one"),
        ([], r"has no \.onnx file, which fastembed needs"),
    ],
)
def test_no_model_file_or_several_are_an_error(tmp_path: Path, files: list[str], said: str) -> None:
    """Such as in a folder with PyTorch's weights alone."""
    for file in files:
        (tmp_path / file).touch()

    with pytest.raises(EmbedderError, match=said):
        model_file(tmp_path)


# -- pooling ------------------------------------------------------------------------------


def says(folder: Path, config: str) -> Path:
    """A folder that says how its model pools."""
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(config)
    return folder


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_lasttoken": True}, "last_token"),
        ({"pooling_mode": "mean"}, "mean"),
        ({"pooling_mode": ["cls"]}, "cls"),
        ({"pooling_mode": "lasttoken"}, "last_token"),
    ],
)
def test_pooling_is_read_as_either_version_writes_it(
    tmp_path: Path, config: dict[str, Any], pooling: str
) -> None:
    """sentence-transformers changed how it says so."""
    assert pooling_of(says(tmp_path, json.dumps(config))) == pooling


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"pooling_mode_max_tokens": true}',
            "names the pooling pooling_mode_max_tokens, and fast",
        ),
        (
            '{"pooling_mode": "weightedmean"}',
            "names the pooling weightedmean, and fastembed can do",
        ),
        ('{"pooling_mode": ["mean", "max"]}', "names the pooling mean and max, and fastembed can"),
        ('{"pooling_mode": 7}', "names the pooling 7, and fastembed can do"),
        ("{}", "names the pooling nothing, and fastembed can do"),
        ("{", r"config\.json.*is not JSON"),
        ("[]", r"config\.json.*a JSON object"),
    ],
)
def test_pooling_that_fastembed_lacks_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    """Vectors that are pooled wrongly would be found wrongly, without a word."""
    with pytest.raises(EmbedderError, match=said):
        pooling_of(says(tmp_path, text))


def test_unknown_pooling_is_asked_for(weights: Path) -> None:
    """No guess is made."""
    with pytest.raises(EmbedderError, match=r"add \?pooling= and one of mean, cls, last_token"):
        pooling_of(weights)


# -- the note of `contextkit models pull` ---------------------------------------------------


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"fastembed": 1}'])
def test_a_note_of_the_name_that_cannot_be_read_is_an_error(weights: Path, text: str) -> None:
    """The error names the file; a folder without one was not pulled."""
    assert pulled_name(weights) is None
    (weights / PULLED_FILE).write_text(text)

    with pytest.raises(EmbedderError, match=r"contextkit-model\.json"):
        pulled_name(weights)
