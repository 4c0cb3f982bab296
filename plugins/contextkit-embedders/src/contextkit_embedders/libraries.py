"""Optional libraries: extras of this distribution."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from contextkit.errors import in_words
from contextkit_embedders.errors import EmbedderError


def require_library(name: str, extra: str) -> None:
    """Check that a library is installed, without importing it.

    Raises `EmbedderError`, with the command that installs it.
    """
    if importlib.util.find_spec(name) is None:
        raise EmbedderError(
            f"'{extra}' models need {name}, which is not installed: "
            f'pip install "contextkit-embedders[{extra}]"'
        )


def import_library(name: str) -> Any:
    """Import a library that `require_library` found.

    Raises `EmbedderError` if it is broken.
    """
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise EmbedderError(
            f"{name} is installed and fails to import: {in_words(error)}"
        ) from error
