"""Read the metadata of an ONNX model's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.model_strings import POOLINGS

PULLED_FILE = "contextkit-model.json"

_USUAL_FILES = ("model.onnx", "onnx/model.onnx")
_POOLING_FILE = "1_Pooling/config.json"
# The names in sentence-transformers: the first three up to its version 5, then the others.
_POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last_token",
    "mean": "mean",
    "cls": "cls",
    "lasttoken": "last_token",
}


def model_file(folder: Path) -> str:
    """Return the folder's ONNX file, as a relative POSIX path.

    It is `model.onnx` or `onnx/model.onnx` if either exists, else the only one there is.

    Raises `EmbedderError` where there is none, or several of other names.
    """
    found = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.onnx"))
    for usual in _USUAL_FILES:
        if usual in found:
            return usual
    if len(found) == 1:
        return found[0]
    if not found:
        raise EmbedderError(f"{folder} has no .onnx file, which fastembed needs")
    raise EmbedderError(
        f"{folder} has several models ({', '.join(found)}): leave one, or name one model.onnx"
    )


def pooling_of(folder: Path) -> str:
    """Return the pooling that the model was trained with.

    It combines the vectors of a text's tokens into one.

    Raises `EmbedderError` where the folder does not say, or says what fastembed cannot do.
    """
    file = folder / _POOLING_FILE
    say_it = f"add ?pooling= and one of {', '.join(POOLINGS)} to the model string"
    if not file.is_file():
        raise EmbedderError(
            f"{folder} does not say how the model pools its tokens' vectors (no "
            f"{_POOLING_FILE}): {say_it}, as the model's own page says"
        )
    named = _modes(_read_json(file))
    if len(named) != 1 or named[0] not in _POOLINGS:
        raise EmbedderError(
            f"{file} names the pooling {' and '.join(named) or 'nothing'}, and fastembed can do "
            f"one of {', '.join(POOLINGS)}; if one of them is right, {say_it}"
        )
    return _POOLINGS[named[0]]


def _modes(config: Mapping[str, Any]) -> list[str]:
    mode = config.get("pooling_mode")
    if mode is None:
        return [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    return [str(each) for each in mode] if isinstance(mode, list) else [str(mode)]


def pulled_name(folder: Path) -> str | None:
    """Return fastembed's name of a pulled model, or None.

    `contextkit models pull` put the model there.
    """
    file = folder / PULLED_FILE
    if not file.is_file():
        return None
    name = _read_json(file).get("fastembed")
    if not isinstance(name, str):
        raise EmbedderError(f'{file}: expected {{"fastembed": "NAME"}}')
    return name


def write_pulled_name(folder: Path, name: str) -> None:
    """Record the model's name in a folder, for `pulled_name`."""
    text = json.dumps({"fastembed": name}, ensure_ascii=False)
    (folder / PULLED_FILE).write_text(f"{text}\n", encoding="utf-8")


def _read_json(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise EmbedderError(f"{file} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise EmbedderError(f"{file}: expected a JSON object")
    return found
