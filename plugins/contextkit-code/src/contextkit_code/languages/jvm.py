"""Languages of the Java virtual machine: Java, Kotlin and Scala."""

from __future__ import annotations

from contextkit_code.languages.language import OPERATORS_IN_A_ROW, Language

JAVA = Language(
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
)

KOTLIN = Language(
    name="kotlin",
    suffixes=(".kt", ".kts"),
    grammar="tree_sitter_kotlin",
    bodies=frozenset({"class_body", "enum_class_body", "function_body"}),
    nameless="Companion",
    hopeless=OPERATORS_IN_A_ROW,
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
)

SCALA = Language(
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
)
