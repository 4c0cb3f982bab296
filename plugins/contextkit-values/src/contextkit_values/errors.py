"""What can go wrong with values; each error is one line for a person."""

from __future__ import annotations

from contextkit.errors import ContextKitError


class ValuesError(ContextKitError):
    """Base of the errors of the values source; also for an option that makes no sense."""

    exit_code = 2


class NoDenseVectorsError(ValuesError):
    """There is no embedding model, and without its vectors nothing can be clustered."""

    exit_code = 1

    def __init__(self) -> None:
        super().__init__(
            "values need dense vectors, and there is no embedding model here: install wordllama "
            "or set embedding.model; the values that are there were left as they are"
        )
