"""Normalise texts for the comparison of duplicates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from contextkit.text.clean import FORMAT_CHARACTERS
from contextkit.text.derived import cached_by_text

# Punctuation and symbols that do not change a text's meaning: ASCII, Latin-1, general
# punctuation, CJK punctuation, and invisible characters. The guard checks the cases in which
# they do.
_ASCII_DROPPED = "".join(chr(code) for code in range(0x21, 0x7F) if not chr(code).isalnum())
# Translating bytes takes a third of the time that translating characters takes.
_LOWER_ASCII = bytes(range(256)).lower()
_DROPPED_BYTES = _ASCII_DROPPED.encode()
_DROPPED = re.compile(
    f"[{re.escape(_ASCII_DROPPED)}"
    "\u00a1-\u00a9\u00ab-\u00ae\u00b6-\u00b8\u00bb\u00bf\u2010-\u2027\u2030-\u205e"
    f"\u3001-\u3003\u3008-\u3011\u3014-\u301f\u30fb{FORMAT_CHARACTERS}]+"
)
# In pieces, because sorting a run of combining marks takes quadratic time.
_COMPOSED = re.compile("[\x00-\x7f]?[^\x00-\x7f]{1,500}")
_CLAUSE_END = re.compile(r"[.!?:,](?=\s|$)|[;\n。！？；，、：]|\band\b|\s[-–—]\s", re.IGNORECASE)

# A longer prefix has a meaning of its own.
_PREFIX_CHARACTERS = 32
_PREFIX_WORDS = 5
# Longer texts are similar enough without these routes even with a prefix or without a word.
_PREFIXED_TEXT = 400
_TEXT_MISSING_A_WORD = 130
# The rest must still have a meaning.
_LEAST_REST = 12


@cached_by_text
def normal_text(text: str) -> str:
    """`text` in lower case without punctuation, its spaces normalised.

    If nothing is left of it, only its white space is normalised.
    """
    return " ".join(_bare(composed(text)).split()) or " ".join(text.split())


def clauses(text: str) -> list[str]:
    """The normal forms of a text's sentences and clauses, sorted."""
    parts = (_bare(part).split() for part in _CLAUSE_END.split(composed(text)))
    return sorted(" ".join(part) for part in parts if part)


def composed(text: str) -> str:
    """`text` in Unicode normal form NFKC."""
    return text if text.isascii() else _COMPOSED.sub(_normalized, text)


def _normalized(run: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", run.group())


def _bare(text: str) -> str:
    if text.isascii():
        return text.encode().translate(_LOWER_ASCII, _DROPPED_BYTES).decode()
    return _DROPPED.sub("", text.lower())


def is_rotation(text: str, other: str) -> bool:
    """Whether two normal texts are swapped halves of each other."""
    return len(text) == len(other) and f" {other} " in f" {text} {text} "


def shortened(text: str, lengths: Collection[int]) -> Iterator[str]:
    """Yield a short text without its prefix or one word.

    One word or a prefix of three words is more than a tenth of such a text, so that their
    similarity is below the threshold.

    Args:
        text: the text.
        lengths: the lengths that are of interest.
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
