"""Count tokens by OpenAI's encodings, with the library bpe-openai."""

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
    """Counts text as plain text.

    What looks like a special token is counted as it is written.

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
    """Return an encoding's exact counter; any thread may use it.

    Args:
        encoding: `o200k_base` or `cl100k_base`.
    """
    # Two concurrent threads would leave the process with one thread's warning filters.
    with _LOADING:
        return _loaded(encoding)


@cache
def _loaded(encoding: str) -> Callable[[str], int]:
    with warnings.catch_warnings():
        # Python 3.11 and 3.12 warn of the way in which the library reads its files.
        warnings.simplefilter("ignore", DeprecationWarning)
        # Its public `Encoding` builds a list of ids only to count them, which takes a third longer,
        # and refuses texts of over 1,000,000 characters or 200,000 tokens.
        from bpe_openai import _bindings

        return _EncodingCounter(_bindings.tokenizer_for_encoding(encoding).count)
