"""Exact offline token counting: OpenAI's encodings and `tokenizer.json` files.

A tokenizer's library is imported only when one of its names is requested.
"""

from __future__ import annotations

from collections.abc import Callable

from contextkit import hookimpl
from contextkit_tokenizers.names import encoding_of

__all__ = ["encoding_of"]

_FILE = "tokenizers:"


@hookimpl
def contextkit_tokenizer(name: str) -> Callable[[str], int] | None:
    """Return an encoding's, model's or `tokenizers:PATH` file's counter.

    Encodings and models are OpenAI's.

    Raises `InvalidRequestError` where there is no tokenizer at that path.
    """
    if name.startswith(_FILE):
        from contextkit_tokenizers.files import counter_of_file

        return counter_of_file(name.removeprefix(_FILE))
    encoding = encoding_of(name)
    if encoding is None:
        return None
    from contextkit_tokenizers.encodings import counter_of_encoding

    return counter_of_encoding(encoding)
