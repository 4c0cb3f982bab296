"""Download a model's folder; the only code that downloads anything."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from contextkit.errors import in_words
from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.libraries import import_library, require_library
from contextkit_embedders.onnx_folders import write_pulled_name


def pull(name: str, folder: Path) -> Path:
    """Download a model that fastembed knows into a folder.

    Args:
        name: fastembed's name for it, such as `BAAI/bge-small-en-v1.5`.
        folder: the target; it must not exist, or be empty.

    Returns:
        The folder's absolute path.

    Raises:
        EmbedderError: where fastembed is missing or does not know the model, something is in
            the folder, or the download fails; the folder is as it was then.
    """
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EmbedderError(f"{folder} already exists, and is not an empty folder")
    require_library("fastembed", "fastembed")
    _check_known(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A sibling folder, because the complete download is then moved in one step.
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as scratch:
        model = Path(scratch) / "model"
        shutil.copytree(_downloaded(name, Path(scratch) / "cache"), model)
        write_pulled_name(model, name)
        if folder.exists():
            folder.rmdir()
        model.replace(folder)
    return folder


def _check_known(name: str) -> None:
    known = import_library("fastembed").TextEmbedding.list_supported_models()
    names = sorted(model["model"] for model in known)
    if name.lower() not in {each.lower() for each in names}:
        raise EmbedderError(f"fastembed has no model '{name}'; it has {', '.join(names)}")


def _downloaded(name: str, cache: Path) -> Path:
    """Return the model's folder in fastembed's cache."""
    try:
        import_library("fastembed").TextEmbedding(name, cache_dir=str(cache), lazy_load=True)
        return next(cache.rglob("tokenizer.json")).parent
    except Exception as error:
        raise EmbedderError(f"'{name}' was not downloaded: {in_words(error)}") from error
