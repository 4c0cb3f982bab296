"""Shared queries: C and C++, JavaScript and TypeScript."""

from __future__ import annotations

C_FUNCTION = """
    (function_definition declarator: [
        (function_declarator declarator: (_) @name)
        (pointer_declarator declarator: (function_declarator declarator: (_) @name))
        (pointer_declarator declarator:
            (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
    ]) @function
"""

C_TYPES = """
    (comment) @comment
    (struct_specifier name: (_) @name body: (_)) @struct
    (union_specifier name: (_) @name body: (_)) @union
    (enum_specifier name: (_) @name body: (_)) @enum
    (type_definition
        type: (struct_specifier !name body: (_) @body) declarator: (_) @name) @struct
    (type_definition
        type: (union_specifier !name body: (_) @body) declarator: (_) @name) @union
    (type_definition
        type: (enum_specifier !name body: (_) @body) declarator: (_) @name) @enum
    (preproc_function_def name: (_) @name value: (_) @body) @macro
"""

JAVASCRIPT = """
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

JAVASCRIPT_FIELDS = """
    (field_definition property: (_) @name value: [
        (arrow_function body: (_) @body)
        (function_expression body: (_) @body)
    ]) @method
"""

TYPESCRIPT = (
    JAVASCRIPT
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

JAVASCRIPT_WRAPPERS = frozenset(
    {
        "ambient_declaration",
        "export_statement",
        "expression_statement",
        "lexical_declaration",
        "variable_declaration",
    }
)
