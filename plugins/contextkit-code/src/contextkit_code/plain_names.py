"""Guess the names that code defines, without a grammar."""

from __future__ import annotations

import re

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


def plain_names(text: str) -> tuple[str, ...]:
    """Return the names that a text seems to define.

    Each appears once, in order.
    """
    found = (match[1].replace("::", ".") for match in _DEFINITION.finditer(text))
    return tuple(dict.fromkeys(found))
