"""Shells: Bash and PowerShell."""

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

POWERSHELL = Language(
    name="powershell",
    suffixes=(".ps1", ".psm1"),
    grammar="tree_sitter_powershell",
    bodies=frozenset({"script_block"}),
    query="""
        (comment) @comment
        (function_statement (function_name) @name . (comment) @docstring) @function
        (function_statement (function_name) @name
            (script_block . (comment) @docstring)) @function
        (function_statement (function_name) @name) @function
        (class_statement . (simple_name) @name) @class
        (class_method_definition (simple_name) @name) @method
        (enum_statement . (simple_name) @name) @enum
    """,
)
