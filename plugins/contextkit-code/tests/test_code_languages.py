"""Every language: what its sample defines, and how its comments are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextkit_code.definitions import Definition, find_definitions
from contextkit_code.grammars import Grammars
from contextkit_code.language_table import LANGUAGES
from contextkit_code.text_files import parsed_language

SAMPLES = Path(__file__).parent / "samples"

# file -> (language, "unit_type qualified_name first-last" of every definition)
EXPECTED: dict[str, tuple[str, list[str]]] = {
    "Account.java": (
        "java",
        [
            "class Account 5-31",
            "method Account.Account 10-13",
            "method Account.withdraw 15-24",
            "class Account.Entry 26-30",
            "method Account.Entry.amount 27-29",
            "interface Holder 33-35",
            "method Holder.withdraw 34-34",
            "enum Kind 37-44",
            "method Kind.pays 41-43",
            "record Transfer 46-50",
            "method Transfer.reversed 47-49",
            "interface Audited 52-54",
            "method Audited.reason 53-53",
        ],
    ),
    "Mailer.php": (
        "php",
        [
            "class Mailer 5-19",
            "method Mailer.__construct 12-12",
            "method Mailer.send 14-18",
            "interface Transport 21-24",
            "method Transport.send 23-23",
            "trait Logs 26-32",
            "method Logs.log 28-31",
            "enum Priority 34-42",
            "method Priority.label 38-41",
            "function quote_header 44-48",
        ],
    ),
    "Orders.cs": (
        "csharp",
        [
            "namespace Shop.Orders 3-38",
            "class Shop.Orders.Order 5-23",
            "method Shop.Orders.Order.Order 11-14",
            "method Shop.Orders.Order.Add 16-20",
            "enum Shop.Orders.Order.State 22-22",
            "interface Shop.Orders.IOrder 25-28",
            "method Shop.Orders.IOrder.Add 27-27",
            "struct Shop.Orders.Line 30-33",
            "record Shop.Orders.Receipt 35-35",
            "type Shop.Orders.Changed 37-37",
        ],
    ),
    "Parser.scala": (
        "scala",
        [
            "class Parser 3-9",
            "method Parser.next 5-8",
            "trait Reader 11-13",
            "method Reader.next 12-12",
            "class Token 15-15",
            "object Parser 17-19",
            "method Parser.apply 18-18",
            "enum Kind 21-23",
            "function split 25-26",
        ],
    ),
    "Player.kt": (
        "kotlin",
        [
            "class Player 3-16",
            "method Player.play 7-11",
            "object Player.Companion 13-15",
            "method Player.Companion.muted 14-14",
            "interface Device 18-20",
            "method Device.play 19-19",
            "class Track 22-22",
            "enum Mode 24-24",
            "object Library 26-28",
            "method Library.all 27-27",
            "function duration 30-33",
            "function asTrack 35-35",
            "type Tracks 37-37",
        ],
    ),
    "Store.swift": (
        "swift",
        [
            "class Store 3-15",
            "method Store.init 7-9",
            "method Store.value 11-14",
            "protocol Keeping 17-19",
            "method Keeping.value 18-18",
            "struct Entry 21-26",
            "method Entry.clear 24-25",
            "enum Failure 28-30",
            "extension Store 32-34",
            "method Store.isEmpty 33-33",
            "function openStore 36-39",
            "actor Counter 41-43",
            "method Counter.next 42-42",
        ],
    ),
    "Tree.hs": (
        "haskell",
        [
            "type Tree 5-8",
            "type Depth 10-10",
            "type Forest 12-12",
            "class Measured 14-16",
            "method Measured.measure 16-16",
            "instance Measured 18-20",
            "method Measured.measure 19-20",
            "function insert 22-27",
            "function empty 29-30",
        ],
    ),
    "cache.rs": (
        "rust",
        [
            "enum Policy 5-10",
            "struct Cache 12-15",
            "trait Store 17-25",
            "method Store.store 19-20",
            "method Store.describe 22-24",
            "impl Cache 27-33",
            "method Cache.new 28-32",
            "impl Cache 35-39",
            "method Cache.store 36-38",
            "function hash_key 41-44",
            "type Shared 46-46",
            "macro cached 48-52",
            "module tests 54-59",
            "function tests.stores_nothing 55-58",
        ],
    ),
    "cart.js": (
        "javascript",
        [
            "class Cart 3-22",
            "method Cart.add 7-13",
            "method Cart.empty 15-17",
            "method Cart.size 19-21",
            "function total 24-27",
            "function show 29-30",
            "function checkout 32-34",
            "function pages 36-38",
            "function refund 40-42",
            "method Cart.clear 44-46",
        ],
    ),
    "deploy.sh": (
        "bash",
        [
            "function warn 4-7",
            "function build_image 9-11",
        ],
    ),
    "garden.rb": (
        "ruby",
        [
            "module Garden 1-26",
            "class Garden.Bed 3-25",
            "method Garden.Bed.initialize 7-9",
            "method Garden.Bed.water! 11-14",
            "method Garden.Bed.empty 16-18",
            "method Garden.Bed.build 21-23",
            "function dig 28-31",
        ],
    ),
    "inventory.py": (
        "python",
        [
            "class Shelf 10-32",
            "class Shelf.Slot 13-16",
            "method Shelf.__init__ 18-19",
            "method Shelf.capacity 21-25",
            "method Shelf.restock 27-32",
            "function find_shelf 35-41",
            "function find_shelf.matches 38-39",
        ],
    ),
    "ledger.ex": (
        "elixir",
        [
            "module Bank.Ledger 1-26",
            "function Bank.Ledger.add 8-16",
            "function Bank.Ledger.sum 18-21",
            "function Bank.Ledger.audited 23-25",
            "protocol Bank.Show 28-31",
            "method Bank.Show.show 29-30",
            "impl Bank.Show 33-35",
            "method Bank.Show.show 34-34",
        ],
    ),
    "list.c": (
        "c",
        [
            "struct node 3-7",
            "struct list_t 9-11",
            "enum order 13-13",
            "union number 15-18",
            "macro SWAP 20-20",
            "function make_node 22-30",
            "function list_free 32-36",
        ],
    ),
    "list.h": (
        "c",
        [
            "struct cursor 4-7",
        ],
    ),
    "panel.jsx": (
        "javascript",
        [
            "function Panel 1-4",
            "function Footer 6-8",
        ],
    ),
    "queue.lua": (
        "lua",
        [
            "function Queue.new 4-7",
            "method Queue.push 9-13",
            "function clamp 15-17",
            "function double 19-21",
            "function Queue.size 23-25",
        ],
    ),
    "router.ts": (
        "typescript",
        [
            "interface Route 1-5",
            "method Route.handle 4-4",
            "type Method 7-8",
            "enum Status 10-13",
            "class Router 15-25",
            "method Router.register 18-22",
            "method Router.match 24-24",
            "namespace paths 27-32",
            "function paths.join 28-31",
            "function normalise 34-34",
            "function fetchRoute 36-36",
        ],
    ),
    "server.go": (
        "go",
        [
            "interface Handler 6-9",
            "struct Server 11-14",
            "type ID 16-17",
            "struct Pair 20-21",
            "function New 24-27",
            "method Server.Serve 29-32",
            "method Pair.Left 34-34",
            "function Map 36-39",
        ],
    ),
    "shape.cpp": (
        "cpp",
        [
            "namespace geometry 3-31",
            "class geometry.Shape 5-16",
            "method geometry.Shape.~Shape 8-8",
            "method geometry.Shape.name 11-12",
            "struct geometry.Point 18-21",
            "method geometry.Point.operator+ 20-20",
            "enum geometry.Colour 23-23",
            "function geometry.scale 25-29",
            "method geometry.Circle.area 33-35",
            "method geometry.Circle.Circle 37-38",
            "function find 40-42",
        ],
    ),
    "stack.zig": (
        "zig",
        [
            "struct Stack 3-12",
            "method Stack.push 7-11",
            "enum Order 14-14",
            "union Value 16-16",
            "function add 18-21",
            "test adds 23-25",
        ],
    ),
    "view.tsx": (
        "tsx",
        [
            "interface Props 1-3",
            "function View 5-8",
            "class Board 10-14",
            "method Board.render 11-13",
        ],
    ),
}

# file -> (qualified name, signature, docstring) of one definition with a doc comment
DOCUMENTED: dict[str, tuple[str, str, str]] = {
    "Account.java": (
        "Account.withdraw",
        "@Override\npublic boolean withdraw(long amount)",
        "Takes money out.\n\n@param amount in cents",
    ),
    "Mailer.php": (
        "Mailer.send",
        "public function send(string $to, string $body): bool",
        "Send one message.",
    ),
    "Orders.cs": (
        "Shop.Orders.Order",
        "public class Order : IOrder",
        "<summary>An order.</summary>",
    ),
    "Parser.scala": ("Parser.next", "def next(): Option[Token] =", "The next token."),
    "Player.kt": ("Player.play", "override fun play(track: String): Boolean", "Start a track."),
    "Store.swift": (
        "Store.value",
        "public func value(for key: String) -> Int?",
        "The value of a key.",
    ),
    "Tree.hs": ("insert", "insert :: Ord a => a -> Tree a -> Tree a", "Insert a value."),
    "cache.rs": ("Cache.new", "pub fn new() -> Self", "Make an empty cache."),
    "cart.js": ("Cart.add", "add(item)", "Add an item.\n@param {string} item what to add"),
    "deploy.sh": ("warn", "warn()", "Print a line to the error stream."),
    "garden.rb": ("Garden", "module Garden", "Plants and beds."),
    "inventory.py": (
        "Shelf.restock",
        "async def restock(\n    self,\n    items: list[str],\n) -> int:",
        "Put items on the shelf.",
    ),
    "ledger.ex": (
        "Bank.Ledger.add",
        "def add(ledger, amount) when amount > 0",
        "Add an entry.",
    ),
    "list.c": ("make_node", "static struct node *make_node(int value)", "Make a node."),
    "list.h": ("cursor", "struct cursor", "A cursor over a list."),
    "panel.jsx": ("Panel", "export const Panel = ({ title }) =>", "Shows a panel."),
    "queue.lua": (
        "Queue.push",
        "function Queue:push(value)",
        "Add one value.\nOver the limit nothing is added.",
    ),
    "router.ts": ("Router.register", "register(route: T): this", "Register a route."),
    "server.go": (
        "Server.Serve",
        "func (s *Server) Serve(address string) error",
        "Serve starts the server on an address.",
    ),
    "shape.cpp": (
        "geometry.scale",
        "template <typename T>\nT scale(const T& value, double by)",
        "Scales a shape.",
    ),
    "stack.zig": (
        "Stack.push",
        "pub fn push(self: *Stack, item: u32) void",
        "Push one number.",
    ),
    "view.tsx": (
        "View",
        "export function View({ title }: Props): JSX.Element",
        "A titled view.",
    ),
}


def _all(definitions: list[Definition]) -> Iterator[Definition]:
    for definition in definitions:
        yield definition
        yield from _all(definition.members)


def _definitions(name: str) -> tuple[str, list[Definition]]:
    content = (SAMPLES / name).read_bytes()
    language = parsed_language(name, content)
    assert language is not None
    grammar = Grammars().get(language)
    assert grammar is not None
    return language.name, list(
        _all(find_definitions(grammar.matches(content), content, grammar.language))
    )


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_definition_of_a_sample_is_found(name: str) -> None:
    """Each definition has its type, its dotted name and its lines, comments included."""
    language, definitions = _definitions(name)

    found = [f"{d.unit_type} {d.qualified_name} {d.first + 1}-{d.last + 1}" for d in definitions]

    assert EXPECTED[name] == (language, found)


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_signature_and_docstring_are_read(name: str) -> None:
    """A definition's header goes up to its body, its docstring has no comment marks."""
    expected_name, signature, docstring = DOCUMENTED[name]

    (found,) = (d for d in _definitions(name)[1] if d.qualified_name == expected_name)

    assert (signature, docstring) == (found.signature, found.docstring)


def test_every_language_has_a_sample() -> None:
    """The nineteen grammars, TypeScript's two, are all tried."""
    assert {language.name for language in LANGUAGES} == {name for name, _ in EXPECTED.values()}
    assert set(EXPECTED) == set(DOCUMENTED) == {path.name for path in SAMPLES.iterdir()}
    assert len({language.grammar for language in LANGUAGES}) == 19


def test_no_suffix_belongs_to_two_languages() -> None:
    """A file's name decides for one language."""
    suffixes = [suffix for language in LANGUAGES for suffix in language.suffixes]

    assert sorted(set(suffixes)) == sorted(suffixes)


def test_queries_use_their_own_condition_only() -> None:
    """tree-sitter's own predicates crash on a tree that was read by parts."""
    for language in LANGUAGES:
        assert set(re.findall(r"#[\w-]+\?", language.query)) <= {"#in?"}, language.name
