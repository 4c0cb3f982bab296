"""Counting by OpenAI's encodings, with the library bpe-openai."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from threading import Lock

from attrs import frozen

from contextkit_tokenizers.plain_text import plain_text

_LOADING = Lock()


@frozen
class _EncodingCounter:
    """Counts text as plain text: what looks like a special token is counted as it is written.

    Attributes:
        native: the library's counter, which refuses half surrogate pairs.
    """

    native: Callable[[str], int]

    def __call__(self, text: str) -> int:
        try:
            return self.native(text)
        except UnicodeEncodeError:
            return self.native(plain_text(text))


def counter_of_encoding(encoding: str) -> Callable[[str], int]:
    """The exact counter for an encoding; any thread may use it.

    Args:
        encoding: `o200k_base` or `cl100k_base`.
    """
    # Two threads at once would leave the process with the one's warning filters.
    with _LOADING:
        return _loaded(encoding)


@cache
def _loaded(encoding: str) -> Callable[[str], int]:
    with warnings.catch_warnings():
        # The library reads its files in a way that Python 3.11 and 3.12 warn of.
        warnings.simplefilter("ignore", DeprecationWarning)
        # Its public `Encoding` builds a list of ids to be counted, which takes a third
        # longer, and refuses texts of over 1,000,000 characters or 200,000 tokens.
        from bpe_openai import _bindings

        return _EncodingCounter(_bindings.tokenizer_for_encoding(encoding).count)
