"""What a folder with an ONNX model says of itself."""

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
# How sentence-transformers names them: the first three up to its version 5, then the others.
_POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last_token",
    "mean": "mean",
    "cls": "cls",
    "lasttoken": "last_token",
}


def model_file(folder: Path) -> str:
    """The folder's ONNX file, relative to it, in POSIX form.

    `model.onnx` or `onnx/model.onnx` where they are, else the only one there is.

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
    """How one vector is made of those of a text's tokens, as the model was trained.

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
    """What fastembed calls the model that `contextkit models pull` put there, or None."""
    file = folder / PULLED_FILE
    if not file.is_file():
        return None
    name = _read_json(file).get("fastembed")
    if not isinstance(name, str):
        raise EmbedderError(f'{file}: expected {{"fastembed": "NAME"}}')
    return name


def write_pulled_name(folder: Path, name: str) -> None:
    """Leave a note in a folder, from which `pulled_name` reads the model's name."""
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
