"""C, C++ and Objective-C."""

from __future__ import annotations

from contextkit_code.languages.language import Language

_C_FUNCTION = """
    (function_definition declarator: [
        (function_declarator declarator: (_) @name)
        (pointer_declarator declarator: (function_declarator declarator: (_) @name))
        (pointer_declarator declarator:
            (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
    ]) @function
"""

_C_TYPES = """
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

# Where an operand is missing, the parser tries each way to go on. Its memory grows with the square
# of the number of such places: gigabytes for a row of ten thousand.
_MISSING_OPERANDS = rb"(?<![\w(])(?:[\w(]++[-+/%|&^<>=*]{2,3}+){400}"

C = Language(
    name="c",
    suffixes=(".c", ".h"),
    grammar="tree_sitter_c",
    wrappers=frozenset({"type_definition"}),
    hopeless=_MISSING_OPERANDS,
    query=_C_TYPES + _C_FUNCTION,
)

CPP = Language(
    name="cpp",
    suffixes=(
        *(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl"),
        *(".cu", ".cuh", ".ino"),
    ),
    grammar="tree_sitter_cpp",
    wrappers=frozenset({"template_declaration", "type_definition"}),
    query=_C_TYPES
    + _C_FUNCTION
    + """
        (function_definition declarator:
            (reference_declarator (function_declarator declarator: (_) @name))) @function
        (function_definition declarator: (operator_cast) @name) @function
        (class_specifier name: (_) @name body: (_)) @class
        (namespace_definition name: (_) @name) @namespace
        (alias_declaration name: (_) @name) @type
        (concept_definition name: (_) @name) @type
    """,
)

# Macros that say for whom something is. Only the preprocessor knows that they are no declarations.
_ANNOTATIONS = (
    rb"\b\w*(?:_ASSUME_NONNULL_(?:BEGIN|END)|_(?:UN)?AVAILABLE|_DEPRECATED|_SWIFT_)\w*"
    rb"(?:\((?>(?:[^()\n]|\([^()\n]*\))*)\))?"
)

OBJECTIVEC = Language(
    name="objectivec",
    suffixes=(".m", ".mm"),
    grammar="tree_sitter_objc",
    wrappers=frozenset({"type_definition", "implementation_definition"}),
    joint=":",
    skipped=_ANNOTATIONS,
    hopeless=_MISSING_OPERANDS,
    query=_C_TYPES
    + _C_FUNCTION
    + """
        (type_definition type: (macro_type_specifier name: (identifier) @_kind
            . (type_descriptor) . (ERROR (identifier) @name)
            (#in? @_kind "NS_ENUM" "NS_OPTIONS" "NS_CLOSED_ENUM"))) @enum
        (type_definition type: (macro_type_specifier name: (identifier) @_kind
            . (ERROR) . (type_descriptor (type_identifier) @name)
            (#in? @_kind "NS_ENUM" "NS_OPTIONS" "NS_CLOSED_ENUM"))) @enum
        (class_interface . (identifier) @name) @interface
        (class_implementation . (identifier) @name) @class
        (protocol_declaration . (identifier) @name) @protocol
        (method_declaration [(identifier) @name (method_parameter)]+) @method
        (method_definition
            [(identifier) @name (method_parameter)]+ (compound_statement) @body) @method
    """,
)
