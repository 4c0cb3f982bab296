"""Put those files first that may answer a question."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Sequence

from contextkit.indexing.listing import FileListing, WorkspaceFile

_READING_SECONDS = 0.3
"""Files are read for so long; the others are compared by their paths alone."""

_IN_PATH = 2.0
"""How much more a word in a path says than one in a file."""

_WORD = re.compile(r"\w{4,}")


def likely_first(
    files: Sequence[WorkspaceFile], listing: FileListing, query: str
) -> Sequence[WorkspaceFile]:
    """Sort files by the question's words in them, rare ones first, then by their age.

    Args:
        files: the files.
        listing: the listing that has them.
        query: the question; without words, the order stays.
    """
    words = [word.encode() for word in {*_WORD.findall(query.lower())}]
    if not words:
        return files
    ends = time.monotonic() + _READING_SECONDS
    inside, in_paths = [], []
    for file in files:
        content = b"" if time.monotonic() > ends else _content(listing, file)
        inside.append([word for word in words if word in content])
        path = file.path.lower().encode()
        in_paths.append([word for word in words if word in path])
    usual = Counter(word for found in (*inside, *in_paths) for word in found)
    worth = {word: math.log(1 + len(files) / count) for word, count in usual.items()}

    def rank(row: int) -> tuple[float, int]:
        score = sum(worth[word] for word in inside[row])
        score += _IN_PATH * sum(worth[word] for word in in_paths[row])
        return -score, -files[row].stamp.mtime

    return [files[row] for row in sorted(range(len(files)), key=rank)]


def _content(listing: FileListing, file: WorkspaceFile) -> bytes:
    try:
        return listing.read(file)[0].lower()
    except (OSError, ValueError):
        # The run itself reports it.
        return b""
