"""Languages of applications: C#, Dart and Swift."""

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

# A function's body stands behind it. A constructor's own name is the last before its parameters.
_DART_SIGNATURE = """[
    (function_signature name: (_) @name)
    (getter_signature name: (_) @name)
    (setter_signature name: (_) @name)
    (operator_signature "operator" . _ @name . (formal_parameter_list))
    (constructor_signature name: (_) @name . parameters: (_))
    (constant_constructor_signature (identifier) @name . (formal_parameter_list))
    (factory_constructor_signature (identifier) @name . (formal_parameter_list))
    (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))
]"""
_DART_FUNCTION = """[
    (function_signature name: (_) @name)
    (getter_signature name: (_) @name)
    (setter_signature name: (_) @name)
] @function"""

DART = Language(
    name="dart",
    suffixes=(".dart",),
    grammar="tree_sitter_dart",
    bodies=frozenset({"class_body"}),
    query=f"""
        [(comment) (documentation_comment)] @comment
        (annotation) @above
        (class_definition name: (_) @name) @class
        (class_definition (mixin_application_class . (identifier) @name)) @class
        (mixin_declaration (mixin) . (identifier) @name) @mixin
        (enum_declaration name: (_) @name) @enum
        (extension_declaration name: (_) @name) @extension
        (extension_declaration !name class: (_) @name) @extension
        (extension_type_declaration name: (_) @name) @extension
        (type_alias (type_identifier) @name . (formal_parameter_list)) @type
        (type_alias . (type_identifier) @name) @type
        ((method_signature {_DART_SIGNATURE}) @method . (function_body) @body)
        (method_signature {_DART_SIGNATURE}) @method
        (declaration {_DART_SIGNATURE}) @method
        (program {_DART_FUNCTION} . (function_body) @body)
        (program {_DART_FUNCTION})
        (ERROR {_DART_FUNCTION} . (function_body) @body)
        (lambda_expression parameters: (function_signature name: (_) @name)) @function
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
