"""Outline of a file: its path, names and docstring summaries.

A question is seldom about one function. A file's subject shows in its path, its names and the first
lines of its docstrings. A unit has a few of these, an outline all.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextkit_code.chunks import WINDOW_TYPES, Chunk

_MAX_CHARACTERS = 20_000


def outline_words(path: str, chunks: Sequence[Chunk]) -> str:
    """Return a file's outline.

    It has the path, each qualified name once, and the first lines of docstrings.

    Args:
        path: the file's path.
        chunks: the file's chunks; a window contributes only the names that it defines.
    """
    names = dict.fromkeys(name for chunk in chunks for name in _names(chunk))
    summaries = dict.fromkeys(chunk.docstring.split("\n", 1)[0] for chunk in chunks)
    return "\n".join([path, *names, *summaries])[:_MAX_CHARACTERS]


def _names(chunk: Chunk) -> tuple[str, ...]:
    return (
        chunk.defines if chunk.unit_type in WINDOW_TYPES else (chunk.qualified_name, *chunk.defines)
    )
