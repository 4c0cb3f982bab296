"""The names that code defines, as far as a line tells without a grammar."""

from __future__ import annotations

import re

# Words before the name that begin a definition in one language or another, and words that may
# stand before those. A line that goes on as a sentence does is none.
_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async"
    r"|sealed|open|override|inline|pub(?:\([a-z]+\))?|unsafe|extern|local|data|case)[ \t]+)*"
    r"(?:class|def|defp|defmodule|enum|fn|fun|func|function|impl|interface|macro_rules!|module"
    r"|namespace|object|package|proc|protocol|record|struct|sub|trait|type|typedef|union)[ \t]+"
    r"(?:\([^()\n]*\)[ \t]*)?"
    r"([A-Za-z_$][\w$]*+(?:(?:::|\.)[A-Za-z_$][\w$]*+)*)(?=[ \t]*(?:[({<:=\[;,]|$|\w+[ \t]*\{))",
    re.MULTILINE,
)


def plain_names(text: str) -> tuple[str, ...]:
    """The names of what a text of code seems to define, each once, in order."""
    found = (match[1].replace("::", ".") for match in _DEFINITION.finditer(text))
    return tuple(dict.fromkeys(found))
