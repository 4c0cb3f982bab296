"""Put those files first that may answer a question."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from contextkit.indexing.listing import FileListing, WorkspaceFile

_READING_SECONDS = 0.3
"""Files are read for so long; the others are compared by their paths alone."""

_IN_PATH = 1.5
"""How much more a word in a path says than one in a file."""

_REPEATED = 1.2
"""BM25's saturation: how soon a word that occurs again says no more."""

_BY_LENGTH = 0.3
"""BM25's normalization: how much less a word says in a long file."""

_LONG = 4
"""Length of words that are also looked for within others."""

_WORD = re.compile(r"\w{3,}")
_PARTS = re.compile(rb"[\W_]+")


@frozen
class _Seen:
    """How often a question's words occur in a file, and those in its path."""

    inside: dict[bytes, int]
    in_path: frozenset[bytes]
    length: int


def likely_first(
    files: Sequence[WorkspaceFile], listing: FileListing, query: str
) -> Sequence[WorkspaceFile]:
    """Sort files by the question's words in them, as BM25 does, then by their age.

    Args:
        files: the files.
        listing: the listing that has them.
        query: the question; without words, the order stays.
    """
    words = sorted({word.encode() for word in _WORD.findall(query.lower())})
    if not words:
        return files
    seen = _look(files, listing, words)
    inside = _rarity(len(files), Counter(word for each in seen for word in each.inside))
    in_paths = _rarity(len(files), Counter(word for each in seen for word in each.in_path))
    usual = sum(each.length for each in seen) / len(files) or 1

    def rank(row: int) -> tuple[float, int]:
        file = seen[row]
        most = _REPEATED * (1 - _BY_LENGTH + _BY_LENGTH * file.length / usual)
        score = sum(
            inside[word] * times * (_REPEATED + 1) / (times + most)
            for word, times in file.inside.items()
        )
        score += _IN_PATH * sum(in_paths[word] for word in file.in_path)
        return -score, -files[row].stamp.mtime

    return [files[row] for row in sorted(range(len(files)), key=rank)]


def _look(
    files: Sequence[WorkspaceFile], listing: FileListing, words: Sequence[bytes]
) -> list[_Seen]:
    """Count the words in the files, those with words in their paths first."""
    ends = time.monotonic() + _READING_SECONDS
    named = [_named(file.path.lower().encode(), words) for file in files]
    seen = [_Seen({}, each, 0) for each in named]
    for row in sorted(range(len(files)), key=lambda row: -len(named[row])):
        content = _content(listing, files[row])
        counted = {word: times for word in words if (times := content.count(word))}
        seen[row] = _Seen(counted, named[row], len(content))
        if time.monotonic() > ends:
            break
    return seen


def _named(path: bytes, words: Sequence[bytes]) -> frozenset[bytes]:
    """The words in a path; a short one only as a whole part of it."""
    parts = _PARTS.split(path)
    return frozenset(word for word in words if word in (parts if len(word) < _LONG else path))


def _rarity(files: int, holding: Counter[bytes]) -> dict[bytes, float]:
    """How much each word tells; nothing if all files have it."""
    return {word: max(0.0, math.log((files + 1) / (n + 0.5))) for word, n in holding.items()}


def _content(listing: FileListing, file: WorkspaceFile) -> bytes:
    try:
        return listing.read(file)[0].lower()
    except (OSError, ValueError):
        # The run itself reports it.
        return b""
