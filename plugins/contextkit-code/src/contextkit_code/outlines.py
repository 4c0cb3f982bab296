"""Outline of a file: its path, names and docstring summaries.

A question is seldom about one function. A file's subject shows in its path, its names and the first
lines of its docstrings. A unit has a few of these, an outline all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contextkit_code.chunks import WINDOW_TYPES, Chunk

_MAX_CHARACTERS = 20_000
# Keywords that begin a definition in some language, and modifiers that may precede them. A line
# that continues like a sentence is not a definition.
_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async"
    r"|sealed|open|override|inline|pub(?:\([a-z]+\))?|unsafe|extern|local|data|case)[ \t]+)*"
    r"(?:class|def|defp|defmodule|enum|fn|fun|func|function|impl|interface|macro_rules!|module"
    r"|namespace|object|package|proc|protocol|record|struct|sub|trait|type|typedef|union)[ \t]+"
    r"(?:\([^()\n]*\)[ \t]*)?"
    r"([A-Za-z_$][\w$]*+(?:(?:::|\.)[A-Za-z_$][\w$]*+)*)(?=[ \t]*(?:[({<:=\[;,]|$|\w+[ \t]*\{))",
    re.MULTILINE,
)


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


def plain_names(text: str) -> tuple[str, ...]:
    """Return the names that a text seems to define.

    Each appears once, in order.
    """
    found = (match[1].replace("::", ".") for match in _DEFINITION.finditer(text))
    return tuple(dict.fromkeys(found))
