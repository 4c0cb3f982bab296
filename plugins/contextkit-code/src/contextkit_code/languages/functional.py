"""Functional languages: Elixir and Haskell."""

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
