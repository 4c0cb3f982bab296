"""Languages of systems and servers: Go, Rust and Zig."""

from __future__ import annotations

from contextkit_code.languages.language import Language

GO = Language(
    name="go",
    suffixes=(".go",),
    grammar="tree_sitter_go",
    wrappers=frozenset({"type_declaration"}),
    query="""
        (comment) @comment
        (function_declaration name: (_) @name) @function
        (method_declaration
            receiver: (parameter_list (parameter_declaration type: [
                (type_identifier) @scope
                (generic_type type: (type_identifier) @scope)
                (pointer_type (type_identifier) @scope)
                (pointer_type (generic_type type: (type_identifier) @scope))
            ]))
            name: (_) @name) @method
        (type_spec name: (_) @name type: (struct_type)) @struct
        (type_spec name: (_) @name type: (interface_type)) @interface
        (type_spec name: (_) @name) @type
        (type_alias name: (_) @name) @type
    """,
)

RUST = Language(
    name="rust",
    suffixes=(".rs",),
    grammar="tree_sitter_rust",
    query="""
        [(line_comment) (block_comment)] @comment
        (attribute_item) @above
        (function_item name: (_) @name) @function
        (function_signature_item name: (_) @name) @function
        (struct_item name: (_) @name) @struct
        (union_item name: (_) @name) @union
        (enum_item name: (_) @name) @enum
        (trait_item name: (_) @name) @trait
        (impl_item type: (_) @name) @impl
        (mod_item name: (_) @name body: (_)) @module
        (type_item name: (_) @name) @type
        (macro_definition name: (_) @name) @macro
    """,
)

ZIG = Language(
    name="zig",
    suffixes=(".zig", ".zon"),
    grammar="tree_sitter_zig",
    query="""
        (comment) @comment
        (variable_declaration . (identifier) @name (struct_declaration)) @struct
        (variable_declaration . (identifier) @name (enum_declaration)) @enum
        (variable_declaration . (identifier) @name (union_declaration)) @union
        (function_declaration name: (_) @name) @function
        (test_declaration (string) @name) @test
    """,
)
