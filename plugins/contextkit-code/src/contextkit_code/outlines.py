"""A file's outline: its path, the names of all that it defines, and what they are for.

A question is seldom about one function. What a file is about stands in its path, in the names
in it and in the first lines of docstrings, of which a unit has a few and an outline all.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextkit_code.chunks import WINDOW_TYPES, Chunk

_MAX_CHARACTERS = 20_000


def outline_words(path: str, chunks: Sequence[Chunk]) -> str:
    """The outline of a file: its path, each qualified name once, first lines of docstrings.

    Args:
        path: the file's.
        chunks: the file's; of a window only what it defines has a name.
    """
    names = dict.fromkeys(name for chunk in chunks for name in _names(chunk))
    summaries = dict.fromkeys(chunk.docstring.split("\n", 1)[0] for chunk in chunks)
    return "\n".join([path, *names, *summaries])[:_MAX_CHARACTERS]


def _names(chunk: Chunk) -> tuple[str, ...]:
    return (
        chunk.defines if chunk.unit_type in WINDOW_TYPES else (chunk.qualified_name, *chunk.defines)
    )
