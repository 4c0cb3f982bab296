"""Ranking: what words, questions, paths and names say, and what comes of it together."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from contextkit import Hit, Record
from contextkit_code.ranking.definitions import named, resembling, spelled
from contextkit_code.ranking.files import RankedFile, rank_files
from contextkit_code.ranking.question import ask
from contextkit_code.ranking.units import cut, ranked_units
from contextkit_code.ranking.words import likeness


def _hit(path: str, name: str = "x", relevance: float = 0.5, text: str = "", **fields: Any) -> Hit:
    known = {
        "file_path": path,
        "name": name,
        "qualified_name": name,
        "unit_type": "function",
        "signature": f"def {name}():",
    }
    record = Record(id=f"{path}::{name}", text=text, fields={**known, **fields})
    return Hit(record=record, relevance=relevance, keyword_score=relevance, similarity=None)


def _paths(*hits: Hit, query: str = "a question about it") -> list[str]:
    return [file.path for file in rank_files(ask(query), hits, ())]


@pytest.mark.parametrize(
    ("word", "asked", "least", "most"),
    [
        ("route", "route", 1, 1),
        ("routes", "route", 1, 1),
        ("serializer", "serialization", 1, 1),
        ("config", "configuration", 0.8, 0.8),
        ("routergroup", "group", 0.1, 0.5),
        ("tree", "trie", 0, 0),
        ("test", "text", 0, 0),
        ("io", "ion", 0, 0),
        ("content", "context", 0, 0),
        ("parse", "parsing", 1, 1),
        ("validator", "validation", 1, 1),
        ("urls", "url", 1, 1),
    ],
)
def test_inflections_are_the_same_word(word: str, asked: str, least: float, most: float) -> None:
    """Beginnings and parts count less, and what only looks alike does not."""
    assert least <= likeness(word, asked) <= most


def test_a_type_of_a_name_counts_before_a_function_and_a_method() -> None:
    """And a window or a definition that only holds the name counts least."""
    question = ask("Shelf")

    def worth(**fields: Any) -> float:
        return named(_hit("a", "Shelf", **fields), question)

    assert worth(unit_type="class") > worth() > worth(unit_type="method") > 0
    assert worth(signature="") == 0
    assert worth(signature="", defines=["a.Shelf"]) == worth(unit_type="method")
    assert named(_hit("a", "Shelf"), ask("what is a shelf")) == 0


def test_what_sets_a_name_comes_before_what_uses_it_and_what_has_its_words() -> None:
    """Neither is a definition that a parser finds: the codes of errors in an object, a macro."""
    question = ask("When is ERR_BAD_TYPE thrown?")

    def worth(text: str) -> float:
        hit = _hit("a", "run")
        return named(evolve(hit, record=evolve(hit.record, text=text)), question)

    for line in ("ERR_BAD_TYPE: make(", "static ERR_BAD_TYPE = 4", "#define ERR_BAD_TYPE 4"):
        assert worth(f"x\n  {line}\n") > worth("throw new ERR_BAD_TYPE()") > 0
    for line in ("if ERR_BAD_TYPE == code:", "fail(ERR_BAD_TYPE=1)", "'ERR_BAD_TYPE': 1"):
        assert worth(line) == worth("throw new ERR_BAD_TYPE()")
    assert worth("a bad type is an error") == 0
    question = ask("What is BadError.ERR_BAD_TYPE?")
    assert worth("ERR_BAD_TYPE = 4") > 0
    question = ask("Why is builtin_str called?")
    assert worth("builtin_str = str") == worth("return builtin_str(x)") > 0


def test_an_option_in_quotes_comes_before_what_only_has_its_words() -> None:
    """`--show-all` is read where `"show-all"` stands; `built-in` is a word."""
    hits = [_hit("words.rs", relevance=0.6), _hit("option.rs", relevance=0.5)]
    texts = ["// Show all built-in items.", 'arg("show-all")']
    hits = [
        evolve(hit, record=evolve(hit.record, text=text))
        for hit, text in zip(hits, texts, strict=True)
    ]
    assert _paths(*hits, query="how does --show-all work?")[0] == "option.rs"
    assert _paths(*hits, query="what is a built-in item?")[0] == "words.rs"
    assert _paths(*hits, query="how does Show-All work?")[0] == "words.rs"


@pytest.mark.parametrize(
    "query",
    [
        "what does `fuse` do",
        "what does fuse() do",
        "what is the difference between split and fuse?",
        "how does split differ from fuse",
        "fuse vs. split",
    ],
)
def test_a_plain_word_that_is_written_as_code_or_compared_is_a_name(query: str) -> None:
    """Its definition precedes a function that calls it several times."""
    units = [_hit("a.py", "join", 0.9), _hit("a.py", "fuse")]
    [best, _] = ranked_units(ask(query), [RankedFile("a.py", 1.0, 1.0, units)], 1)
    assert best.hit.record.fields["name"] == "fuse"
    assert not ask("do these parameter(s) fuse").names


def test_words_spell_a_name() -> None:
    """All words of a name of several, whatever their order; part of them spells nothing."""
    fields = _hit("a", "JsonArray", defines=["JsonArray.asDouble", "x"]).record.fields

    assert spelled(fields, ask("JSON array operations")) == pytest.approx(2 / 3)
    assert spelled(fields, ask("JSON arrays")) == 1.0
    assert spelled(fields, ask("arrays of JSON")) == spelled(fields, ask("an array in JSON")) < 1
    assert spelled(fields, ask("a JSON object")) == 0.0
    assert spelled(_hit("a", "has_json_array").record.fields, ask("JSON arrays")) == 1.0
    assert spelled(_hit("a", "json").record.fields, ask("json")) == 0.0
    assert spelled(fields, ask("???")) == 0.0


def test_several_good_units_are_worth_more_than_one() -> None:
    """A file that is all about a thing comes before one with a chance hit."""
    chance = _hit("z.py", "a", 0.55)
    good = [_hit("b.py", name, 0.5) for name in "abc"]

    assert _paths(chance, *good) == ["b.py", "z.py"]


def test_a_file_that_is_called_as_the_question_comes_first() -> None:
    """By its name, and by a definition of that name."""
    hits = [_hit("use.py", "use", 0.9), _hit("join_set.py", "a", 0.3)]

    assert _paths(*hits, query="JoinSet") == ["join_set.py", "use.py"]
    hits = [_hit("use.py", "use", 0.9), _hit("b.py", "JoinSet", 0.3, unit_type="class")]
    assert _paths(*hits, query="JoinSet") == ["b.py", "use.py"]
    assert _paths(*hits, query="the JoinSet of it") == ["b.py", "use.py"]


def test_hits_of_no_score_are_ranked_by_path() -> None:
    """Nothing is divided by nothing."""
    assert _paths(_hit("b", relevance=0.0), _hit("a", relevance=0.0), query="zz") == ["a", "b"]


def test_the_best_unit_of_a_file_has_the_files_place() -> None:
    """The others follow behind it, windows last."""
    files = [
        RankedFile("a", 1.0, 1.0, [_hit("a", "x", 0.6), _hit("a", "y", 0.6, signature="")]),
        RankedFile("b", 0.5, 1.0, [_hit("b", "z", 0.1)]),
    ]
    units = ranked_units(ask("q"), files, 0.8)

    assert [unit.hit.record.id for unit in units] == ["a::x", "b::z", "a::y"]
    assert [unit.leads for unit in units] == [True, True, False]
    assert [unit.relevance for unit in units[:2]] == [pytest.approx(0.8), pytest.approx(0.4)]
    assert all(0 <= unit.relevance <= 0.8 for unit in units)


def test_a_name_whose_words_are_asked_for_counts() -> None:
    """By the share of them; the name of a window is none."""
    question = ask("default of a missing prompt")
    of = {
        name: resembling(_hit("a", name).record.fields, question)
        for name in ("prompt_default", "promptUser", "unrelated", "")
    }
    assert of == {"prompt_default": 1.0, "promptUser": 0.5, "unrelated": 0.0, "": 0.0}
    assert resembling(_hit("a", "prompt", signature="").record.fields, question) == 0.0
    assert resembling(_hit("a", "prompt").record.fields, ask("of the")) == 0.0

    file = RankedFile("a", 1.0, 1.0, [_hit("a", name, 0.3) for name in ("lead", "x", "prompt")])
    units = ranked_units(question, [file], 1.0)
    assert [unit.hit.record.id for unit in units] == ["a::lead", "a::prompt", "a::x"]


def test_a_function_shows_few_of_its_overloads() -> None:
    """Two lead; what else is as good comes before the others. Parts of a function are none."""
    overloads = [_hit("a", f"mock{n}", 0.5, qualified_name="mock", signature=f"{n}") for n in "abc"]
    parts = [_hit("b", f"part{n}", 0.5, qualified_name="part", signature="p") for n in "abc"]
    files = [RankedFile("a", 1.0, 1.0, overloads), RankedFile("b", 0.9, 1.0, parts)]
    order = [unit.hit.record.id for unit in ranked_units(ask("q"), files, 1.0)]
    assert order[0] == "a::mocka"
    assert order.index("a::mockb") < order.index("b::partc") < order.index("a::mockc")


def test_members_that_match_as_well_as_each_other_do_not_fill_a_context() -> None:
    """The methods of a router for `GET`, `POST`, `PUT` and others have the same words."""
    methods = [_hit("a", name, 0.5, qualified_name=f"Router.{name}") for name in "abcd"]
    others = [_hit("b", name, 0.49) for name in ("find", "match")]
    files = [RankedFile("a", 1.0, 1.0, methods), RankedFile("b", 0.9, 1.0, others)]
    order = [unit.hit.record.id for unit in ranked_units(ask("q"), files, 1.0)]
    assert order.index("a::b") < order.index("b::match") < order.index("a::c")


def test_the_many_methods_of_a_class_do_not_hide_what_uses_it() -> None:
    """The name of the class makes each of them match."""
    methods = [
        _hit("table.py", f"m{n}", 0.9 - n / 100, "x = 1", qualified_name=f"Table.m{n}")
        for n in range(13)
    ]
    used = _hit("user.py", "flush", 0.9, "x = 1")
    files = [RankedFile("table.py", 1.0, 1.0, methods)]
    files += [RankedFile(f"{n}.py", 0.9 - n / 10, 1.0, [_hit(f"{n}.py")]) for n in range(4)]
    files += [RankedFile("user.py", 0.68, 1.0, [used])]

    units = [unit.hit for unit in ranked_units(ask("how is a table flushed?"), files, 1.0)]

    assert units[0] == methods[0]
    assert 8 < units.index(used) < len(units) - 4


@pytest.mark.parametrize(
    ("query", "shown"), [("how are circles handled?", 3), ("is a circle tested?", 8)]
)
def test_many_tests_of_one_thing_do_not_hide_the_code(query: str, shown: int) -> None:
    """Three stand before a weaker match in the code, unless tests are asked for."""
    tests = [_hit(f"tests/test_{n}.py", text="x = 1") for n in range(8)]
    files = [RankedFile(f"tests/test_{n}.py", 0.5, 1.0, [test]) for n, test in enumerate(tests)]
    code = RankedFile("map.py", 0.48, 1.0, [_hit("map.py", text="x = 1")])

    units = [unit.hit for unit in ranked_units(ask(query), [*files, code], 1.0)]

    assert units.index(code.units[0]) == shown


@pytest.mark.parametrize(("kind", "first"), [("extension", "moor"), ("struct", "Pier")])
def test_what_adds_to_a_type_is_not_the_type(kind: str, first: str) -> None:
    """The head of an extension says little: what is in it comes first."""
    head = _hit("pier.swift", "Pier", 0.6, unit_type=kind, signature=f"{kind} Pier {{")
    hits = [
        evolve(hit, record=evolve(hit.record, text="boats += 1"))
        for hit in (head, _hit("pier.swift", "moor", 0.5))
    ]
    units = ranked_units(ask("where are boats?"), [RankedFile("pier.swift", 1.0, 1.0, hits)], 1)
    assert units[0].hit.record.fields["name"] == first


PRIVATE = [
    ("pier.py", "python", "_moor", "def _moor():"),
    ("_pier.py", "python", "moor", "def moor():"),
    ("pier.go", "go", "moor", "func moor() {"),
    ("pier.rs", "rust", "moor", "fn moor() {"),
    ("pier.rs", "rust", "moor", "pub(crate) fn moor() {"),
    ("pier.c", "c", "moor", "static int moor(void) {"),
    ("Pier.java", "java", "moor", "private static int moor() {"),
    ("Pier.swift", "swift", "moor", "fileprivate func moor() {"),
    ("internal/pier.go", "go", "Moor", "func Moor() {"),
    ("Pier.sol", "solidity", "moor", "function moor(uint id) private {"),
]
PUBLIC = [
    ("pier.py", "python", "moor", "def moor():"),
    ("pier.py", "python", "__enter__", "def __enter__(self):"),
    ("pier.go", "go", "Moor", "func Moor() {"),
    ("pier.rs", "rust", "moor", "pub fn moor() {"),
    ("pier.c", "c", "moor", "int moor(void) {"),
    ("Pier.java", "java", "moor", "public static int moor(String privateName) {"),
    ("Pier.java", "java", "internalMoor", "int internalMoor() {"),
    ("Pier.sol", "solidity", "moor", "function moor(uint id) internal {"),
    ("pier.tf", "hcl", "private", 'resource "aws_subnet" "private" {'),
]


@pytest.mark.parametrize(("path", "language", "name", "signature"), [*PRIVATE, *PUBLIC])
def test_nobody_uses_what_is_private(path: str, language: str, name: str, signature: str) -> None:
    """It counts less for who asks how to use something, and in full for who asks where it is."""
    hits = [
        evolve(hit, record=evolve(hit.record, text="boats += 1"))
        for hit in (
            _hit("pier.h", "first", relevance=0.9),
            _hit(path, name, language=language, signature=signature),
        )
    ]

    def relevance(query: str) -> float:
        units = ranked_units(ask(query), [RankedFile(path, 1.0, 1.0, hits)], 1)
        return next(u.relevance for u in units if u.hit.record.fields["name"] == name)

    is_private = (path, language, name, signature) in PRIVATE
    assert (relevance("how do I use a boat?") < relevance("where is a boat used?")) == is_private


def test_the_units_of_a_class_support_each_other() -> None:
    """A method beside a good one comes before one that is alone, never before the best."""
    found = {"A.best": 0.9, "B.alone": 0.3, "A.beside": 0.3, "function": 0.3}
    hits = [_hit("a", name.rpartition(".")[2], r, qualified_name=name) for name, r in found.items()]
    units = ranked_units(ask("q"), [RankedFile("a", 1.0, 1.0, hits)], 1.0)

    names = [unit.hit.record.fields["qualified_name"] for unit in units]
    assert names == ["A.best", "A.beside", "B.alone", "function"]
    assert units[0].relevance == 1.0
    assert units[1].relevance > units[2].relevance == units[3].relevance


def test_windows_of_a_file_are_no_class() -> None:
    """They are called as their file, whose ending is no name within it."""
    windows = [_hit("a.py", f"{n}", 0.3, qualified_name="a.py", signature="") for n in range(3)]
    alone = ranked_units(ask("q"), [RankedFile("a.py", 1.0, 1.0, windows[:2])], 1.0)
    beside = ranked_units(ask("q"), [RankedFile("a.py", 1.0, 1.0, windows)], 1.0)
    assert beside[1].relevance == beside[2].relevance == alone[1].relevance
    assert alone[1].relevance == pytest.approx(0.8 * 0.3)


def test_half_of_a_list_is_for_different_files() -> None:
    """However good the units of the first file are."""
    many = [_hit("a", f"x{number}", 0.9) for number in range(9)]
    files = [RankedFile("a", 1.0, 1.0, many)]
    files += [RankedFile(path, 0.01, 1.0, [_hit(path, "y", 0.01)]) for path in "bcd"]
    units = ranked_units(ask("q"), files, 1.0)

    chosen = cut(units, 6)

    assert [unit.hit.record.fields["file_path"] for unit in chosen] == [*"aaaa", "b", "c"]
    assert cut(units, 1) == units[:1]
    assert cut(units, 100) == units


IMPORTS = """\
'use strict'

const { a,
  b } = require('shelf')
import (
    "fmt"
)
"""


@pytest.mark.parametrize(
    ("text", "query", "first"),
    [
        (IMPORTS, "how are items capped", "b.js"),
        (IMPORTS, "what imports items", "a.js"),
        (f"// It caps the items of a shelf.\n{IMPORTS}", "how are items capped", "a.js"),
        (f"{IMPORTS}\ncap(items)", "how are items capped", "a.js"),
    ],
)
def test_a_window_of_imports_does_not_lead_its_file(text: str, query: str, first: str) -> None:
    """Unless it is what the question asks for, or says more."""
    window = _hit("a.js", signature="", unit_type="lines")
    window = evolve(window, record=evolve(window.record, text=text))
    files = [RankedFile("a.js", 1.0, 1.0, [window]), RankedFile("b.js", 0.9, 1.0, [_hit("b.js")])]
    assert ranked_units(ask(query), files, 1.0)[0].hit.record.fields["file_path"] == first
