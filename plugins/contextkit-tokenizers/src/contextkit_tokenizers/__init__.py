"""Exact token counting for contextkit: OpenAI's encodings and any `tokenizer.json`, offline.

A tokenizer's library is imported when a name of it is asked for, and not before.
"""

from __future__ import annotations

from collections.abc import Callable

from contextkit import hookimpl
from contextkit_tokenizers.names import encoding_of

__all__ = ["encoding_of"]

_FILE = "tokenizers:"


@hookimpl
def contextkit_tokenizer(name: str) -> Callable[[str], int] | None:
    """The counter for an OpenAI encoding or model, or for `tokenizers:PATH`.

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
