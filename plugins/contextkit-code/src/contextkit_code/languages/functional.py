"""Functional languages: Elixir, Haskell and OCaml."""

from __future__ import annotations

from contextkit_code.languages.language import Language

ELIXIR = Language(
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
)

HASKELL = Language(
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
)

_OCAML = """
    (comment) @comment
    (type_binding name: (_) @name) @type
    (exception_definition (constructor_declaration (constructor_name) @name)) @exception
    (module_binding (module_name) @name) @module
    (module_type_definition (module_type_name) @name) @module
    (class_binding (class_name) @name) @class
    (class_type_binding (class_type_name) @name) @class
    (method_definition (method_name) @name) @method
    (method_specification (method_name) @name) @method
    (value_specification [(value_name) (parenthesized_operator)] @name) @function
    (external [(value_name) (parenthesized_operator)] @name) @function
"""

_OCAML_WRAPPERS = frozenset(
    {
        "class_definition",
        "class_type_definition",
        "module_definition",
        "type_definition",
        "value_definition",
    }
)

# The scanner follows comments within comments by recursion: a hundred thousand overflow its stack.
_OCAML_COMMENTS = rb"\A(?:(?>(?:[^(]|\((?!\*))*)\(\*){10000}"

_OCAML_CHAINS = frozenset({"sequence_expression", "tuple_expression", "tuple_type"})

# A function within a function is no definition: it is what a loop is elsewhere.
OCAML = Language(
    name="ocaml",
    suffixes=(".ml",),
    grammar="tree_sitter_ocaml",
    factory="language_ocaml",
    wrappers=_OCAML_WRAPPERS,
    chains=_OCAML_CHAINS,
    hopeless=_OCAML_COMMENTS,
    query=_OCAML
    + "".join(
        f"""
        ({place} (value_definition (let_binding
            pattern: [(value_name) (parenthesized_operator)] @name) @function))
        """
        for place in ("compilation_unit", "structure", "ERROR")
    ),
)

OCAML_INTERFACE = Language(
    name="ocaml_interface",
    suffixes=(".mli",),
    grammar="tree_sitter_ocaml",
    factory="language_ocaml_interface",
    wrappers=_OCAML_WRAPPERS,
    chains=_OCAML_CHAINS,
    hopeless=_OCAML_COMMENTS,
    docs_below=True,
    query=_OCAML,
)
