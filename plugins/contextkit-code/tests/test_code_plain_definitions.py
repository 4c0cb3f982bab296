"""Code without a grammar: what defines something is found by its first words and indentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import dedent

import pytest

from contextkit_code.definitions import Definition
from contextkit_code.plain_definitions import plain_definitions

SAMPLES = {
    "r": """
        #' Restock a shelf
        #'
        #' @param items What to put there.
        restock <- function(shelf,
                            items = NULL) {
          for (item in items) {
            shelf$add(item)
          }
        }

        limits <- c(1, 2)
        tidy = function(x) x
    """,
    "clojure": """
        ;; How many of each.
        (def ^{:private true} limits {:a 1
                               :b 2})

        (defn restock
          "Put items on the shelf."
          [shelf items]
          (update shelf :items concat items))

        (defprotocol Holder
          (hold [this x]))
    """,
    "erlang": """
        -module(shop).

        %% Starts it.
        start(Name) ->
            Pid = spawn(fun() -> loop(Name, []) end),
            register(Name, Pid).

        loop(Name, Items) when length(Items) > 0 ->
            ok;
        loop(_, []) ->
            none.
    """,
    "protobuf": """
        syntax = "proto3";
        package shop.v1;

        // One order.
        message Order {
          string id = 1;
          message Line {
            int32 amount = 1;
          }
        }

        service Orders {
          // Places it.
          rpc Place(Order) returns (Receipt);
        }
    """,
    "graphql": '''
        """An order."""
        type Order implements Node {
          id: ID!
        }
        extend type Query {
          order(id: ID!): Order
        }
        enum State { OPEN CLOSED }
    ''',
    "sql": """
        -- People who buy.
        CREATE TABLE IF NOT EXISTS shop.customers (
            id serial PRIMARY KEY
        );
        create unique index by_name on shop.customers (name);

        CREATE OR REPLACE FUNCTION add_customer(n text) RETURNS int AS $$
        BEGIN
            INSERT INTO shop.customers (name) VALUES (n);

            RETURN 1;
        END;
        $$ LANGUAGE plpgsql;

        CREATE VIEW `names` AS
        SELECT name
        FROM shop.customers

        SELECT 1;
    """,
    "fsharp": """
        module Shop.Core

        type Order =
            { Id: int
              Lines: Line list }

        /// Adds them.
        let private total (lines: Line list) =
            match lines with
            | [] -> 0
    """,
    "elm": """
        type alias Shelf =
            { items : List String }

        -- Puts them back.
        restock : List String -> Shelf -> Shelf
        restock items shelf =
            { shelf | items = items }
    """,
    "text": """
        struct Shelf
          def restock(items)
            @items += items
          end
        end

        function area(r) result(x)
          x = r
        end function

        proc twice*(x: int) = x
        the class of things is not one
    """,
    "makefile": """
        GO := go
        build: deps
        \tgo build
    """,
    "yaml": """
        class: Shelf
          def: x
    """,
}
EXPECTED = {
    "r": "function restock 1-9\nfunction tidy 12-12",
    "clojure": "variable limits 1-3\nfunction restock 5-8\nprotocol Holder 10-11",
    "erlang": "function start 3-6\nfunction loop 8-11",
    "protobuf": "struct Order 4-10\nstruct Order.Line 7-9\n"
    "interface Orders 12-15\nmethod Orders.Place 13-14",
    "graphql": "type Order 1-4\ntype Query 5-7\nenum State 8-8",
    "sql": "table shop.customers 1-4\nindex by_name 5-5\nfunction add_customer 7-13\n"
    "view names 15-17",
    "fsharp": "type Order 3-5\nfunction total 7-10",
    "elm": "type Shelf 1-2\nfunction restock 4-7",
    "text": "struct Shelf 1-5\nmethod Shelf.restock 2-4\nfunction area 7-9\nfunction twice 11-11",
    "makefile": "function build 2-3",
    "yaml": "",
}


def _all(definitions: Sequence[Definition]) -> Iterator[Definition]:
    for definition in definitions:
        yield definition
        yield from _all(definition.members)


def _found(language: str, text: str) -> list[Definition]:
    return list(_all(plain_definitions(dedent(text).strip("\n").split("\n"), language)))


@pytest.mark.parametrize("language", SAMPLES)
def test_definitions_are_found_without_a_grammar(language: str) -> None:
    """With their lines: the comments above, and the line that ends a block."""
    found = _found(language, SAMPLES[language])

    assert EXPECTED[language].splitlines() == [
        f"{one.unit_type} {one.qualified_name} {one.first + 1}-{one.last + 1}" for one in found
    ]


@pytest.mark.parametrize(
    ("language", "name", "signature", "docstring"),
    [
        (
            "r",
            "restock",
            "restock <- function(shelf,\n                    items = NULL)",
            "Restock a shelf\n\n@param items What to put there.",
        ),
        ("erlang", "start", "start(Name) ->", "Starts it."),
        ("clojure", "limits", "(def ^{:private true} limits", "How many of each."),
        ("graphql", "Order", "type Order implements Node", "An order."),
        ("protobuf", "Orders.Place", "rpc Place(Order) returns (Receipt)", "Places it."),
        ("sql", "shop.customers", "CREATE TABLE IF NOT EXISTS shop.customers (", "People who buy."),
    ],
)
def test_signatures_and_docstrings_are_told(
    language: str, name: str, signature: str, docstring: str
) -> None:
    """The first statement, and the comment above it without its marks."""
    [found] = [one for one in _found(language, SAMPLES[language]) if one.qualified_name == name]

    assert (found.signature, found.docstring) == (signature, docstring)
