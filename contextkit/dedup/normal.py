"""The forms of a text in which duplicates are looked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from contextkit.text.clean import FORMAT_CHARACTERS

# Punctuation and symbols that say nothing about whether two texts mean the same: ASCII,
# Latin-1, general punctuation, CJK punctuation, and characters that are not shown at all.
# What they do say is the guard's business.
_ASCII_DROPPED = "".join(chr(code) for code in range(0x21, 0x7F) if not chr(code).isalnum())
# Bytes are translated in a third of the time that characters take.
_LOWER_ASCII = bytes(range(256)).lower()
_DROPPED_BYTES = _ASCII_DROPPED.encode()
_DROPPED = re.compile(
    f"[{re.escape(_ASCII_DROPPED)}"
    "\u00a1-\u00a9\u00ab-\u00ae\u00b6-\u00b8\u00bb\u00bf\u2010-\u2027\u2030-\u205e"
    f"\u3001-\u3003\u3008-\u3011\u3014-\u301f\u30fb{FORMAT_CHARACTERS}]+"
)
# In pieces, as putting a run of marks in order takes the square of its length.
_COMPOSED = re.compile("[\x00-\x7f]?[^\x00-\x7f]{1,500}")
_CLAUSE_END = re.compile(r"[.!?:,](?=\s|$)|[;\n。！？；，、：]|\band\b|\s[-–—]\s", re.IGNORECASE)

# A prefix is this short at most; with more before it, a text says something of its own.
_PREFIX_CHARACTERS = 32
_PREFIX_WORDS = 5
# Longer texts reach the threshold of likeness by themselves with a prefix, or without a word.
_PREFIXED_TEXT = 400
_TEXT_MISSING_A_WORD = 130
# What is left must still say something.
_LEAST_REST = 12


def normal_text(text: str) -> str:
    """`text` in lower case, without punctuation, its words one space apart.

    A text of nothing but punctuation is only folded.
    """
    return " ".join(_bare(composed(text)).split()) or " ".join(text.split())


def clauses(text: str) -> list[str]:
    """The normal forms of a text's sentences and clauses, sorted."""
    parts = (_bare(part).split() for part in _CLAUSE_END.split(composed(text)))
    return sorted(" ".join(part) for part in parts if part)


def composed(text: str) -> str:
    """`text` with its characters and marks in one form (NFKC)."""
    return text if text.isascii() else _COMPOSED.sub(_normalized, text)


def _normalized(run: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", run.group())


def _bare(text: str) -> str:
    if text.isascii():
        return text.encode().translate(_LOWER_ASCII, _DROPPED_BYTES).decode()
    return _DROPPED.sub("", text.lower())


def is_rotation(text: str, other: str) -> bool:
    """Whether two normal texts are two halves in either order: `a b` and `b a`."""
    return len(text) == len(other) and f" {other} " in f" {text} {text} "


def shortened(text: str, lengths: Collection[int]) -> Iterator[str]:
    """A short normal text without its first words, and without each one of its words.

    A dropped word or a prefix of three words is more than a tenth of such a text, so
    that likeness alone does not tell.

    Args:
        text: the text.
        lengths: how long what is left may be.
    """
    if len(text) > _PREFIXED_TEXT:
        return
    start = 0
    for _ in range(_PREFIX_WORDS):
        start = text.find(" ", start) + 1
        if start == 0 or start > _PREFIX_CHARACTERS or len(text) - start < _LEAST_REST:
            break
        if len(text) - start in lengths:
            yield text[start:]
    if len(text) > _TEXT_MISSING_A_WORD:
        return
    words = text.split(" ")
    end = len(words[0])
    for word in words[1:]:
        left = len(text) - 1 - len(word)
        if left >= _LEAST_REST and left in lengths:
            yield text[:end] + text[end + 1 + len(word) :]
        end += 1 + len(word)
