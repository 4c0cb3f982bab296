"""The tokenizer of the static model, of which the first short text gets only what it needs.

Building the whole of it takes three times as long as reading its file, and a process that
answers one question needs some hundred of its 32,000 tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from contextkit.fork_locks import ForkLock

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["StaticTokenizer", "reduced_to"]

_MOST_TOKENS = 512
_SHORT_TEXT = 500
"""Characters of a text from which on picking its tokens is no quicker than building all."""

_SPACE = "▁"
"""What begins every text, and stands for a space in it."""

_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))
"""The tokens of characters that have none of their own."""


@define(eq=False)
class StaticTokenizer:
    """Cuts texts into tokens.

    Attributes:
        file: the tokenizer as the library `tokenizers` writes it.
    """

    file: Path
    _whole: Tokenizer | None = field(default=None, init=False)
    _asked: bool = field(default=False, init=False)
    _lock: ForkLock = field(factory=ForkLock, init=False, repr=False)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens' numbers of each text, 512 at most.

        Raises what reading the file raises.
        """
        encoded = self._tokenizer(texts).encode_batch_fast(texts, add_special_tokens=False)
        return [tokens.ids for tokens in encoded]

    def _tokenizer(self, texts: Sequence[str]) -> Tokenizer:
        with self._lock:
            if self._whole is None and not self._asked and sum(map(len, texts)) <= _SHORT_TEXT:
                small = _built(reduced_to(texts, json.loads(self._read())))
                self._asked = True
                return small
            if self._whole is None:
                self._whole = _built(self._read())
            return self._whole

    def _read(self) -> str:
        # Not as text, which would look for line ends in two megabytes.
        return self.file.read_bytes().decode("utf-8")


def reduced_to(texts: Sequence[str], described: Mapping[str, Any]) -> str:
    """A tokenizer that cuts these texts as the described one does, and may cut no others so.

    It has the tokens that are pieces of a text, and the merges that make them: no other can
    come up on the way from single characters to a text's tokens.

    Args:
        texts: short ones; the work grows with their characters.
        described: a byte-pair tokenizer with `▁` for spaces, as the library writes it.
    """
    model = described["model"]
    vocabulary: Mapping[str, int] = model["vocab"]
    longest = max(map(len, vocabulary))
    pieces = {piece for text in texts for piece in _pieces(text.replace(" ", _SPACE), longest)}
    tokens = pieces & vocabulary.keys()
    merges = model["merges"]
    splits = {f"{token[:at]} {token[at:]}" for token in tokens for at in range(1, len(token))}
    always = _BYTES | {token["content"] for token in described["added_tokens"]}
    kept = {
        "vocab": {token: vocabulary[token] for token in tokens | (always & vocabulary.keys())},
        "merges": [m for m, spelt in zip(merges, _spelt(merges), strict=True) if spelt in splits],
    }
    return json.dumps({**described, "model": {**model, **kept}})


def _spelt(merges: Sequence[Any]) -> Iterable[str]:
    """Both halves of each merge, parted by a space; newer files have them as pairs."""
    return merges if merges and isinstance(merges[0], str) else map(" ".join, merges)


def _pieces(text: str, longest: int) -> Iterator[str]:
    """Every part of a text, also as it is where the text, or what follows a marker, begins."""
    for begin in range(len(text)):
        for end in range(begin + 1, min(begin + longest, len(text)) + 1):
            yield text[begin:end]
            yield _SPACE + text[begin:end]
    yield _SPACE


def _built(description: str) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(description)
    tokenizer.enable_truncation(max_length=_MOST_TOKENS)
    tokenizer.no_padding()
    return tokenizer
