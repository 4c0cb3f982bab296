"""Scripting languages: Python, Ruby, PHP and Lua."""

from __future__ import annotations

from contextkit_code.languages.language import OPERATORS_IN_A_ROW, Language

PYTHON = Language(
    name="python",
    suffixes=(".py", ".pyi", ".pyw"),
    grammar="tree_sitter_python",
    wrappers=frozenset({"decorated_definition"}),
    comment_docs=False,
    hopeless=OPERATORS_IN_A_ROW,
    query="""
        (comment) @comment
        (class_definition name: (_) @name
            body: (block . (expression_statement . (string) @docstring))) @class
        (class_definition name: (_) @name) @class
        (function_definition name: (_) @name
            body: (block . (expression_statement . (string) @docstring))) @function
        (function_definition name: (_) @name) @function
    """,
)

RUBY = Language(
    name="ruby",
    suffixes=(".rb", ".rake", ".gemspec", ".ru"),
    grammar="tree_sitter_ruby",
    query="""
        (comment) @comment
        (class name: (_) @name) @class
        (module name: (_) @name) @module
        (program (method name: (_) @name) @function)
        (method name: (_) @name) @method
        (singleton_method name: (_) @name) @method
    """,
)

PHP = Language(
    name="php",
    suffixes=(".php", ".phtml"),
    grammar="tree_sitter_php",
    factory="language_php",
    query="""
        (comment) @comment
        (class_declaration name: (_) @name) @class
        (interface_declaration name: (_) @name) @interface
        (trait_declaration name: (_) @name) @trait
        (enum_declaration name: (_) @name) @enum
        (method_declaration name: (_) @name) @method
        (function_definition name: (_) @name) @function
        (namespace_definition name: (_) @name body: (_)) @namespace
    """,
)

LUA = Language(
    name="lua",
    suffixes=(".lua",),
    grammar="tree_sitter_lua",
    wrappers=frozenset({"variable_declaration"}),
    query="""
        (comment) @comment
        (function_declaration name: (method_index_expression) @name) @method
        (function_declaration name: (_) @name) @function
        (assignment_statement
            (variable_list . name: (_) @name .)
            (expression_list . value: (function_definition body: (_) @body) .)) @function
    """,
)
