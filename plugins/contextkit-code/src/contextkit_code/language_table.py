"""The nineteen parsed languages.

To add one, add an entry (see `languages`).
"""

from __future__ import annotations

from contextkit_code.languages import Language
from contextkit_code.shared_queries import (
    C_FUNCTION,
    C_TYPES,
    JAVASCRIPT,
    JAVASCRIPT_FIELDS,
    JAVASCRIPT_WRAPPERS,
    TYPESCRIPT,
)

# Where `*` is also a prefix, a row of operators can be read in every combination. The parser's time
# and memory grow with the cube of the number of operators.
_OPERATORS_IN_A_ROW = rb"[-+/%|&^@<>=~!*]{400}"

LANGUAGES = (
    Language(
        name="python",
        suffixes=(".py", ".pyi", ".pyw"),
        grammar="tree_sitter_python",
        wrappers=frozenset({"decorated_definition"}),
        comment_docs=False,
        hopeless=_OPERATORS_IN_A_ROW,
        query="""
            (comment) @comment
            (class_definition name: (_) @name
                body: (block . (expression_statement . (string) @docstring))) @class
            (class_definition name: (_) @name) @class
            (function_definition name: (_) @name
                body: (block . (expression_statement . (string) @docstring))) @function
            (function_definition name: (_) @name) @function
        """,
    ),
    Language(
        name="javascript",
        suffixes=(".js", ".jsx", ".mjs", ".cjs"),
        grammar="tree_sitter_javascript",
        wrappers=JAVASCRIPT_WRAPPERS,
        query=JAVASCRIPT + JAVASCRIPT_FIELDS,
    ),
    Language(
        name="typescript",
        suffixes=(".ts", ".mts", ".cts"),
        grammar="tree_sitter_typescript",
        factory="language_typescript",
        wrappers=JAVASCRIPT_WRAPPERS,
        clauses=True,
        query=TYPESCRIPT,
    ),
    Language(
        name="tsx",
        suffixes=(".tsx",),
        grammar="tree_sitter_typescript",
        factory="language_tsx",
        wrappers=JAVASCRIPT_WRAPPERS,
        clauses=True,
        query=TYPESCRIPT,
    ),
    Language(
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
    ),
    Language(
        name="java",
        suffixes=(".java",),
        grammar="tree_sitter_java",
        query="""
            [(line_comment) (block_comment)] @comment
            (class_declaration name: (_) @name) @class
            (interface_declaration name: (_) @name) @interface
            (annotation_type_declaration name: (_) @name) @interface
            (enum_declaration name: (_) @name) @enum
            (record_declaration name: (_) @name) @record
            (method_declaration name: (_) @name) @method
            (constructor_declaration name: (_) @name) @method
            (compact_constructor_declaration name: (_) @name) @method
            (annotation_type_element_declaration name: (_) @name) @method
        """,
    ),
    Language(
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
    ),
    Language(
        name="c",
        suffixes=(".c", ".h"),
        grammar="tree_sitter_c",
        wrappers=frozenset({"type_definition"}),
        query=C_TYPES + C_FUNCTION,
    ),
    Language(
        name="cpp",
        suffixes=(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl"),
        grammar="tree_sitter_cpp",
        wrappers=frozenset({"template_declaration", "type_definition"}),
        query=C_TYPES
        + C_FUNCTION
        + """
            (function_definition declarator:
                (reference_declarator (function_declarator declarator: (_) @name))) @function
            (function_definition declarator: (operator_cast) @name) @function
            (class_specifier name: (_) @name body: (_)) @class
            (namespace_definition name: (_) @name) @namespace
            (alias_declaration name: (_) @name) @type
            (concept_definition name: (_) @name) @type
        """,
    ),
    Language(
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
    ),
    Language(
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
    ),
    Language(
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
    ),
    Language(
        name="bash",
        suffixes=(".sh", ".bash", ".zsh", ".ksh", ".bats"),
        grammar="tree_sitter_bash",
        query="""
            (comment) @comment
            (function_definition name: (_) @name) @function
        """,
    ),
    Language(
        name="kotlin",
        suffixes=(".kt", ".kts"),
        grammar="tree_sitter_kotlin",
        bodies=frozenset({"class_body", "enum_class_body", "function_body"}),
        nameless="Companion",
        hopeless=_OPERATORS_IN_A_ROW,
        query="""
            [(line_comment) (block_comment)] @comment
            (class_declaration "interface" name: (_) @name) @interface
            (class_declaration
                (modifiers (class_modifier "enum")) name: (_) @name) @enum
            (class_declaration name: (_) @name) @class
            (object_declaration name: (_) @name) @object
            (companion_object name: (_) @name) @object
            (companion_object !name) @object
            (function_declaration name: (_) @name) @function
            (secondary_constructor "constructor" @name) @method
            (type_alias type: (_) @name) @type
        """,
    ),
    Language(
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
    ),
    Language(
        name="scala",
        suffixes=(".scala", ".sc", ".sbt"),
        grammar="tree_sitter_scala",
        query="""
            [(comment) (block_comment)] @comment
            (class_definition name: (_) @name) @class
            (trait_definition name: (_) @name) @trait
            (object_definition name: (_) @name) @object
            (enum_definition name: (_) @name) @enum
            (function_definition name: (_) @name) @function
            (function_declaration name: (_) @name) @function
            (type_definition name: (_) @name) @type
        """,
    ),
    Language(
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
    ),
    Language(
        name="haskell",
        suffixes=(".hs",),
        grammar="tree_sitter_haskell",
        clauses=True,
        query="""
            [(comment) (haddock)] @comment
            (declarations (signature) @signature)
            (data_type name: (_) @name) @type
            (newtype name: (_) @name) @type
            (type_synonym name: (_) @name) @type
            (class name: (_) @name) @class
            (instance name: (_) @name) @instance
            (declarations [(function name: (_) @name) (bind name: (_) @name)] @function)
            (class_declarations (signature name: (_) @name) @method)
            (instance_declarations [(function name: (_) @name) (bind name: (_) @name)] @method)
        """,
    ),
    Language(
        name="elixir",
        suffixes=(".ex", ".exs"),
        grammar="tree_sitter_elixir",
        clauses=True,
        bodies=frozenset({"do_block"}),
        query="""
            (comment) @comment
            (unary_operator operator: "@" operand:
                (call target: (identifier) @_doc (#in? @_doc "doc" "typedoc"))) @comment
            (unary_operator operator: "@") @above
            (unary_operator operator: "@" operand: (call target: (identifier) @_kind
                (arguments . (binary_operator left: [
                    (call target: (identifier) @name)
                    (binary_operator left: (call target: (identifier) @name))
                ])) (#in? @_kind "callback" "macrocallback"))) @function
            (call target: (identifier) @_kind (arguments . (alias) @name)
                (do_block . (unary_operator operand: (call
                    target: (identifier) @_doc (arguments . (string) @docstring))))
                (#in? @_kind "defmodule") (#in? @_doc "moduledoc")) @module
            (call target: (identifier) @_kind (arguments . (alias) @name)
                (#in? @_kind "defmodule")) @module
            (call target: (identifier) @_kind (arguments . (alias) @name)
                (#in? @_kind "defprotocol")) @protocol
            (call target: (identifier) @_kind (arguments . (alias) @name)
                (#in? @_kind "defimpl")) @impl
            (call target: (identifier) @_kind
                (arguments . [
                    (identifier) @name
                    (call target: (identifier) @name)
                    (binary_operator left: [
                        (identifier) @name
                        (call target: (identifier) @name)
                    ])
                ])
                (#in? @_kind "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp"
                    "defdelegate" "defn" "defnp")) @function
        """,
    ),
    Language(
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
    ),
)
"""All parsed languages, in the order of the documentation."""
