"""Errors of values; each message is one line."""

from __future__ import annotations

from contextkit.errors import ContextKitError


class ValuesError(ContextKitError):
    """Base class of the source's errors; also for invalid options."""

    exit_code = 2


class NoDenseVectorsError(ValuesError):
    """Clustering needs vectors, and there is no embedding model."""

    exit_code = 1

    def __init__(self) -> None:
        super().__init__(
            "values need dense vectors, and there is no embedding model here: install wordllama "
            "or set embedding.model; the values that are there were left as they are"
        )
