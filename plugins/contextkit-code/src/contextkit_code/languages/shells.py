"""Shells: Bash."""

from __future__ import annotations

from contextkit_code.languages.language import Language

BASH = Language(
    name="bash",
    suffixes=(".sh", ".bash", ".zsh", ".ksh", ".bats"),
    grammar="tree_sitter_bash",
    query="""
        (comment) @comment
        (function_definition name: (_) @name) @function
    """,
)
