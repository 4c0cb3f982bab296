"""Scripting languages: Python, Ruby, PHP, Lua, Perl and Julia."""

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

PERL = Language(
    name="perl",
    suffixes=(".pl", ".pm", ".t"),
    grammar="tree_sitter_perl",
    wrappers=frozenset({"expression_statement"}),
    query="""
        [(comment) (pod)] @comment
        (package_statement name: (_) @name (block) @body) @module
        (package_statement name: (_) @name) @module @onward
        (class_statement name: (_) @name (block) @body) @class
        (class_statement name: (_) @name) @class @onward
        (role_statement name: (_) @name (block) @body) @trait
        (subroutine_declaration_statement name: (_) @name) @function
        (method_declaration_statement name: (_) @name) @method
        (assignment_expression
            left: (variable_declaration variable: (scalar (varname) @name))
            right: (anonymous_subroutine_expression body: (_) @body)) @function
    """,
)

_JULIA_CALL = """(call_expression . [
    (identifier) @name
    (operator) @name
    (field_expression value: (_) @name [
        (identifier) @name
        (quote_expression (operator) @name)
        (quote_expression (parenthesized_expression (operator) @name))
    ])
    (parametrized_type_expression . [(identifier) (field_expression)] @name)
    (parenthesized_expression [
        (typed_expression (identifier) @name .)
        (typed_expression (parametrized_type_expression . (identifier) @name))
        (unary_typed_expression (identifier) @name)
        (unary_typed_expression (parametrized_type_expression . (identifier) @name))
        (operator) @name
    ])
])"""
_JULIA_HEADER = f"""[
    {_JULIA_CALL}
    (typed_expression . {_JULIA_CALL})
    (where_expression . {_JULIA_CALL})
    (where_expression . (typed_expression . {_JULIA_CALL}))
    (where_expression . (where_expression . {_JULIA_CALL}))
]"""
_JULIA_TYPE = """(type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . (identifier) @name)
    (binary_expression . (parametrized_type_expression . (identifier) @name))
])"""

JULIA = Language(
    name="julia",
    suffixes=(".jl",),
    grammar="tree_sitter_julia",
    wrappers=frozenset({"const_statement", "macro_argument_list", "macrocall_expression"}),
    query=f"""
        [(line_comment) (block_comment)] @comment
        (source_file [(string_literal) (prefixed_string_literal)] @comment)
        (module_definition [(string_literal) (prefixed_string_literal)] @comment)
        (macrocall_expression (macro_identifier (identifier) @_doc)
            (macro_argument_list . [(string_literal) (prefixed_string_literal)] .)
            (#in? @_doc "doc")) @comment
        (module_definition name: (_) @name . (_) @body) @module
        (module_definition name: (_) @name) @module
        (struct_definition {_JULIA_TYPE} . (_) @body) @struct
        (struct_definition {_JULIA_TYPE}) @struct
        (abstract_definition {_JULIA_TYPE}) @type
        (primitive_definition {_JULIA_TYPE}) @type
        (function_definition (signature {_JULIA_HEADER}) . (_) @body) @function
        (function_definition (signature {_JULIA_HEADER})) @function
        (function_definition (signature (identifier) @name)) @function
        (macro_definition (signature (call_expression . (identifier) @name)) . (_) @body) @macro
        (assignment . {_JULIA_HEADER} . (operator) @body) @function
    """,
)
