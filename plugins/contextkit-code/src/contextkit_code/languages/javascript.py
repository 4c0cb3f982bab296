"""JavaScript and TypeScript, which share most of their queries."""

from __future__ import annotations

from contextkit_code.languages.language import Language

_JAVASCRIPT = """
    (comment) @comment
    (class_declaration name: (_) @name) @class
    (function_declaration name: (_) @name) @function
    (generator_function_declaration name: (_) @name) @function
    (method_definition name: (_) @name) @method
    (variable_declarator name: (identifier) @name value: [
        (arrow_function body: (_) @body)
        (function_expression body: (_) @body)
        (generator_function body: (_) @body)
    ]) @function
    (variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
    (assignment_expression left: [(identifier) (member_expression)] @name right: [
        (arrow_function body: (_) @body)
        (function_expression body: (_) @body)
        (generator_function body: (_) @body)
    ]) @function
    (assignment_expression
        left: [(identifier) (member_expression)] @name right: (class body: (_) @body)) @class
    (export_statement value: [
        (arrow_function body: (_) @body)
        (function_expression body: (_) @body)
    ]) @function
    (export_statement value: (class body: (_) @body)) @class
"""

_JAVASCRIPT_FIELDS = """
    (field_definition property: (_) @name value: [
        (arrow_function body: (_) @body)
        (function_expression body: (_) @body)
    ]) @method
"""

_TYPESCRIPT = (
    _JAVASCRIPT
    + """
    (abstract_class_declaration name: (_) @name) @class
    (interface_declaration name: (_) @name) @interface
    (type_alias_declaration name: (_) @name) @type
    (enum_declaration name: (_) @name) @enum
    (internal_module name: (_) @name) @namespace
    (module name: (_) @name) @namespace
    (function_signature name: (_) @name) @function
    (method_signature name: (_) @name) @method
    (abstract_method_signature name: (_) @name) @method
    (public_field_definition name: (_) @name value: [
        (arrow_function body: (_) @body)
        (function_expression body: (_) @body)
    ]) @method
"""
)

_JAVASCRIPT_WRAPPERS = frozenset(
    {
        "ambient_declaration",
        "export_statement",
        "expression_statement",
        "lexical_declaration",
        "variable_declaration",
    }
)

JAVASCRIPT = Language(
    name="javascript",
    suffixes=(".js", ".jsx", ".mjs", ".cjs"),
    grammar="tree_sitter_javascript",
    wrappers=_JAVASCRIPT_WRAPPERS,
    query=_JAVASCRIPT + _JAVASCRIPT_FIELDS,
)

TYPESCRIPT = Language(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    grammar="tree_sitter_typescript",
    factory="language_typescript",
    wrappers=_JAVASCRIPT_WRAPPERS,
    clauses=True,
    query=_TYPESCRIPT,
)

TSX = Language(
    name="tsx",
    suffixes=(".tsx",),
    grammar="tree_sitter_typescript",
    factory="language_tsx",
    wrappers=_JAVASCRIPT_WRAPPERS,
    clauses=True,
    query=_TYPESCRIPT,
)
