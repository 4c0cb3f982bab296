"""Find a model's folder and identify the model in it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.model_strings import ModelString

_WEIGHTS = {".onnx", ".onnx_data", ".safetensors", ".bin"}
_SAMPLES = 256
_SAMPLE_BYTES = 4_096


def find_folder(string: ModelString, how_to_get: str) -> Path:
    """Return the folder that a model string names.

    Args:
        string: its target is a path, absolute or beginning with `~`.
        how_to_get: how to obtain a folder, for the error.

    Raises:
        ConfigError: where it is not such a path.
        EmbedderError: where no folder is there, or none with a model's weights.
    """
    folder = Path(string.target).expanduser()
    if not folder.is_absolute():
        raise string.wrong(
            f"'{string.target}' is not the absolute path of a model folder, and nothing is "
            f"downloaded while texts are embedded; {how_to_get}"
        )
    if not folder.is_dir():
        raise EmbedderError(f"there is no model folder {folder}; {how_to_get}")
    if not _files(folder, _WEIGHTS):
        raise EmbedderError(
            f"{folder} has no model's weights: no file there ends in {', '.join(sorted(_WEIGHTS))}"
        )
    return folder


def fingerprint(folder: Path) -> str:
    """Return 16 hexadecimal digits that identify a folder's model.

    They are computed from the weights and the settings (`*.json`): each file's size, and samples
    over its whole length, so that a large model takes no longer than a small one. The folder's own
    name does not matter: it may be moved, and two machines agree.
    """
    digest = hashlib.sha256()
    for file in _files(folder, {*_WEIGHTS, ".json"}):
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder).as_posix()}\0{size}\0".encode())
        with file.open("rb") as weights:
            for offset in _offsets(size):
                weights.seek(offset)
                digest.update(weights.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:16]


def _files(folder: Path, suffixes: Collection[str]) -> list[Path]:
    return sorted(f for f in folder.rglob("*") if f.suffix in suffixes and f.is_file())


def _offsets(size: int) -> range:
    return range(0, max(size, 1), max(_SAMPLE_BYTES, size // _SAMPLES))
