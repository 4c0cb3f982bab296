"""Reduce a tokenizer to the tokens of short texts.

A process that answers one question needs about a hundred of 32,000 tokens. Parsing the
tokenizer's file takes most of the time, so its tokens are cached in groups for the next process,
which reads only the groups of its question.
"""

from __future__ import annotations

import json
import marshal
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit.disk_cache import cache_file, read_cache, write_cache

SPACE = "▁"
"""The marker that starts every text and replaces spaces."""

_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))
"""The tokens for characters without tokens of their own."""

_BEGINNING = 3
"""Characters that the tokens of a group have in common: 10,000 groups."""


@frozen
class TokenGroups:
    """A byte-pair tokenizer with `▁` for spaces, its tokens in groups.

    Attributes:
        described: the tokenizer in the format of the `tokenizers` library, without its tokens.
        always: token -> number, of the tokens that every text may need.
        longest: the length of the longest token.
        groups: beginning -> the tokens with it, by `marshal`: token -> its number, then the rank
            of each of its merges and the length of the merge's left half.
    """

    described: Mapping[str, Any]
    always: Mapping[str, int]
    longest: int
    groups: Mapping[str, bytes]

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> TokenGroups:
        """Group the tokens of a tokenizer in the library's format."""
        model: Mapping[str, Any] = described["model"]
        vocabulary: Mapping[str, int] = model["vocab"]
        groups: dict[str, dict[str, list[int]]] = defaultdict(dict)
        for token, number in vocabulary.items():
            groups[token[:_BEGINNING]][token] = [number]
        for rank, merge in enumerate(model["merges"]):
            # Newer files have pairs.
            left, right = merge.split(" ") if isinstance(merge, str) else merge
            groups[(left + right)[:_BEGINNING]][left + right] += rank, len(left)
        always = _BYTES | {token["content"] for token in described["added_tokens"]}
        return cls(
            described={**described, "model": {**model, "vocab": {}, "merges": []}},
            always={token: vocabulary[token] for token in always & vocabulary.keys()},
            longest=max(map(len, vocabulary)),
            groups={beginning: marshal.dumps(found) for beginning, found in groups.items()},
        )

    @classmethod
    def read(cls, file: Path) -> TokenGroups:
        """Read a tokenizer's file, or its cache.

        Raises what reading the file raises.
        """
        found, cache = file.stat(), cache_file(__file__, "tokens")
        state = [str(file), found.st_size, found.st_mtime_ns]
        content = read_cache(cache, state)
        if content is not None:
            return cls(*content)
        made = cls.of(json.loads(file.read_bytes()))
        write_cache(cache, state, [made.described, made.always, made.longest, made.groups])
        return made

    def reduced_to(self, texts: Sequence[str]) -> str:
        """Describe the tokenizer with the tokens of these texts alone.

        It keeps the tokens that are parts of a text, and the merges that form them; no others can
        occur when these texts are split. Other texts may be split differently.

        Args:
            texts: short texts; the work grows with their length.
        """
        pieces = {
            piece for text in texts for piece in _pieces(text.replace(" ", SPACE), self.longest)
        }
        beginnings = {piece[:_BEGINNING] for piece in pieces} & self.groups.keys()
        found: dict[str, list[int]] = {}
        for beginning in beginnings:
            found |= marshal.loads(self.groups[beginning])  # noqa: S302 - made above
        tokens = {token: found[token] for token in pieces & found.keys()}
        merges = sorted(
            (rank, token[:left], token[left:])
            for token, [_, *merges_of] in tokens.items()
            for rank, left in zip(merges_of[::2], merges_of[1::2], strict=True)
        )
        kept = {
            "vocab": {**self.always, **{token: number for token, [number, *_] in tokens.items()}},
            "merges": [pair for _, *pair in merges],
        }
        return json.dumps({**self.described, "model": {**self.described["model"], **kept}})


def _pieces(text: str, longest: int) -> Iterator[str]:
    """Yield every substring of a text, also after the marker."""
    for begin in range(len(text)):
        for end in range(begin + 1, min(begin + longest, len(text)) + 1):
            yield text[begin:end]
            yield SPACE + text[begin:end]
    yield SPACE
