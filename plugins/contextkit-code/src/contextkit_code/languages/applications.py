"""C# and Swift: languages of applications."""

from __future__ import annotations

from contextkit_code.languages.language import Language

CSHARP = Language(
    name="csharp",
    suffixes=(".cs", ".csx"),
    grammar="tree_sitter_c_sharp",
    query="""
        (comment) @comment
        (class_declaration name: (_) @name) @class
        (interface_declaration name: (_) @name) @interface
        (struct_declaration name: (_) @name) @struct
        (record_declaration name: (_) @name) @record
        (enum_declaration name: (_) @name) @enum
        (delegate_declaration name: (_) @name) @type
        (method_declaration name: (_) @name) @method
        (constructor_declaration name: (_) @name) @method
        (destructor_declaration name: (_) @name) @method
        (local_function_statement name: (_) @name) @function
        (namespace_declaration name: (_) @name) @namespace
    """,
)

SWIFT = Language(
    name="swift",
    suffixes=(".swift",),
    grammar="tree_sitter_swift",
    query="""
        [(comment) (multiline_comment)] @comment
        (class_declaration "struct" name: (_) @name) @struct
        (class_declaration "enum" name: (_) @name) @enum
        (class_declaration "extension" name: (_) @name) @extension
        (class_declaration "actor" name: (_) @name) @actor
        (class_declaration name: (_) @name) @class
        (protocol_declaration name: (_) @name) @protocol
        (function_declaration name: (simple_identifier) @name) @function
        (protocol_function_declaration name: (simple_identifier) @name) @method
        (init_declaration "init" @name) @method
        (deinit_declaration "deinit" @name) @method
        (typealias_declaration name: (_) @name) @type
    """,
)
