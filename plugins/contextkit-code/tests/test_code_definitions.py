"""Finding definitions: what belongs to one, what its name is, and broken files."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from contextkit_code.definitions import Definition, find_definitions
from contextkit_code.grammars import Grammars, ParseTooLongError
from contextkit_code.languages.language import Language
from contextkit_code.languages.table import LANGUAGES

_GRAMMARS = Grammars()


def _language(name: str) -> Language:
    return next(language for language in LANGUAGES if language.name == name)


def _find(language: str, source: str) -> list[Definition]:
    grammar = _GRAMMARS.get(_language(language))
    assert grammar is not None
    return find_definitions(grammar.matches(source.encode()), source.encode(), grammar.language)


def _walk(definitions: list[Definition]) -> Iterator[Definition]:
    for definition in definitions:
        yield definition
        yield from _walk(definition.members)


def _names(language: str, source: str) -> list[str]:
    return [d.qualified_name for d in _walk(_find(language, source))]


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("cpp", "int a::B<int>::c() { return 1; }", ["a.B.c"]),
        ("cpp", "bool operator<(A a, A b) { return true; }", ["operator<"]),
        ("cpp", "A& A::operator=(const A& o) { return *this; }", ["A.operator="]),
        ("dart", "extension on int { int twice() => this * 2; }", ["int", "int.twice"]),
        ("hcl", 'resource "a_b" "c" {}\nmodule "d" {}\n', ["a_b.c", "module.d"]),
        ("hcl", 'job "a" {\n  group "b" {}\n}\n', ["job.a"]),
        ("julia", "Base.:(==)(a::A, b::A) = true\n(a::A)(x) = x\n", ["Base.==", "A"]),
        ("objectivec", "@interface A\n- (void)b:(int)c d:(int)e;\n@end", ["A", "A.b:d"]),
        ("ocaml", "let rec a x = b x\nand b x = a x\nlet c = let d e = e in d", ["a", "b", "c"]),
        ("perl", "package A::B;\nsub c {}\npackage D {}\nsub e {}", ["A.B", "A.B.c", "D", "e"]),
        ("powershell", "function global:Get-It { 1 }", ["global.Get-It"]),
        ("solidity", "contract A { receive() external payable {} }", ["A", "A.receive"]),
        ("go", "package p\nfunc (s *Set[T]) Add(v T) {}", ["Set.Add"]),
        ("go", "package p\nfunc (Set) Len() int { return 0 }", ["Set.Len"]),
        ("javascript", "module.exports.send = () => 1;", ["send"]),
        ("javascript", "export default () => 1;", ["default"]),
        ("javascript", "export default class { run() {} }", ["default", "default.run"]),
        ("javascript", "app.use = function (f) {};", ["app.use"]),
        ("javascript", "class A { go = () => 1; }", ["A", "A.go"]),
        (
            "kotlin",
            "class A {\n  companion object {\n    fun b() = 1\n  }\n}",
            ["A", "A.Companion", "A.Companion.b"],
        ),
        ("kotlin", "fun `does it well`() {}", ["doesitwell"]),
        ("php", "<?php namespace A\\B { class C {} }", ["A.B", "A.B.C"]),
        ("ruby", "class A::B\n  def c; end\nend", ["A.B", "A.B.c"]),
        ("rust", "impl<T> fmt::Display for Box<T> { fn fmt(&self) {} }", ["Box", "Box.fmt"]),
        ("typescript", 'declare module "x" { export function y(): void; }', ["x", "x.y"]),
    ],
)
def test_names_are_dotted(language: str, source: str, expected: list[str]) -> None:
    """Whatever a language writes between names becomes a dot, and type arguments go."""
    assert expected == _names(language, source)


STUB = "@overload\ndef a(x: {}) -> None: ...\n\n\n"
OVERLOADS = STUB.format("int") + STUB.format("str") + "def a(x):\n    return x\n"


@pytest.mark.parametrize(
    ("language", "source", "rows", "signature", "docstring"),
    [
        (
            "python",
            "@first\n@second(\n    1,\n)\ndef f(a):\n    return a\n",
            (0, 5),
            "def f(a):",
            "",
        ),
        ("python", "# why\ndef f():\n    # how\n    return 1\n", (0, 3), "def f():", ""),
        ("python", OVERLOADS, (0, 9), "def a(x):", ""),
        (
            "go",
            "package p\n// far\n\n// near\n// nearer\nfunc f() {}\n",
            (3, 5),
            "func f()",
            "near\nnearer",
        ),
        ("go", "package p\nvar x = 1 // of x\nfunc f() {}\n", (2, 2), "func f()", ""),
        ("dart", "@a\n@b(1)\nint f(int x) {\n  return x;\n}\n", (0, 4), "int f(int x)", ""),
        ("julia", '"""\nwhy\n"""\nf(x) =\n  x\n', (0, 4), "f(x)", "why"),
        ("ocaml_interface", "val f : int\n(** why *)\n\n", (0, 1), "val f : int", "why"),
        ("powershell", "function f {\n<# why #>\n1\n}\n", (0, 3), "function f", "why"),
    ],
    ids=[
        *("decorators", "comment", "overloads", "comments above", "comment behind code"),
        *("body behind", "string above", "comment below", "comment within"),
    ],
)
def test_what_belongs_to_a_definition(
    language: str, source: str, rows: tuple[int, int], signature: str, docstring: str
) -> None:
    """Decorators, overloads, and comments right above; the signature is the header alone."""
    (found,) = _find(language, source)

    assert ((found.first, found.last), found.signature) == (rows, signature)
    assert found.docstring == docstring


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ('"""One line."""', "One line."),
        ("'single'", "single"),
        ('r"""Raw \\d."""', "Raw \\d."),
        ('"""\n    First.\n\n      Deeper.\n    """', "First.\n\n  Deeper."),
        ("1", ""),
    ],
)
def test_python_docstrings(literal: str, expected: str) -> None:
    """Quotes, prefixes and common indentation go; anything but a string is none."""
    (found,) = _find("python", f"def f():\n    {literal}\n")

    assert expected == found.docstring


@pytest.mark.parametrize(
    ("language", "comment", "expected"),
    [
        ("c", "/* one */", "one"),
        ("c", "/**\n * a\n *\n *   b\n */", "a\n\n  b"),
        ("c", "/*! doxygen */", "doxygen"),
        ("rust", "/// one\n/// two", "one\ntwo"),
        ("rust", "/** block */", "block"),
        ("lua", "--[[ long\n  text ]]", "long\ntext"),
        ("haskell", "{- | block -}", "block"),
        ("haskell", "-- | one\n--   two", "one\ntwo"),
        ("ruby", "=begin\nlong\n=end", "long"),
        ("bash", "#!/bin/bash\n# words", "/bin/bash\nwords"),
        ("elixir", '@doc ~S"""\nraw\n"""', "raw"),
        ("elixir", "@doc false", ""),
        ("ocaml", "(** one\n    * two *)", "one\ntwo"),
        ("julia", '"one"', "one"),
        ("julia", "#= one\n   two =#", "one\ntwo"),
        ("perl", "=head2 one\n\ntwo\n\n=cut", "one\n\ntwo"),
        ("powershell", "<#\n.SYNOPSIS\n  one\n#>", ".SYNOPSIS\n  one"),
    ],
)
def test_comment_marks_go(language: str, comment: str, expected: str) -> None:
    """A doc comment's words are left, in whatever way the language marks comments."""
    body = {
        "c": "int f(void) { return 1; }",
        "rust": "fn f() {}",
        "lua": "function f() end",
        "haskell": "f = 1",
        "ruby": "def f; end",
        "bash": "f() { :; }",
        "elixir": "def f, do: 1",
        "ocaml": "let f x = x",
        "julia": "f(x) = x",
        "perl": "sub f { 1 }",
        "powershell": "function f { 1 }",
    }[language]
    (found,) = _find(language, f"{comment}\n{body}\n")

    assert expected == found.docstring


def test_clauses_of_one_function_are_one_definition() -> None:
    """Overloads and clauses in a row are joined; a function in between parts them."""
    source = "function a(x: string): void;\nfunction a(x: number): void;\nfunction a(x: any) {}\n"

    assert [(d.qualified_name, d.first, d.last) for d in _find("typescript", source)] == [
        ("a", 0, 2)
    ]
    assert _names("elixir", "def a(1), do: 1\ndef b, do: 2\ndef a(2), do: 2\n") == ["a", "b", "a"]


def test_a_function_within_a_class_is_a_method_and_within_a_method_a_function() -> None:
    """The kind of a function follows from what it stands in."""
    source = "class A:\n    def b(self):\n        def c(): ...\ndef d(): ...\n"

    kinds = [(d.qualified_name, d.unit_type) for d in _walk(_find("python", source))]

    assert kinds == [("A", "class"), ("A.b", "method"), ("A.b.c", "function"), ("d", "function")]


def test_an_attribute_belongs_to_the_code_behind_it() -> None:
    """Not to what stands on the next line."""
    source = "class A {\n  @a int b() => 1;\n  int c() => 2;\n}\n"

    assert [(d.name, d.first) for d in _walk(_find("dart", source))][1:] == [("b", 1), ("c", 2)]


def test_a_syntax_error_costs_only_its_place() -> None:
    """What stands before and behind the error is found."""
    source = "def good():\n    return 1\n\n\ndef bad(:\n    pass\n\n\ndef too():\n    return 3\n"

    assert _names("python", source) == ["good", "bad", "too"]


def test_nesting_beyond_reason_is_cut_off() -> None:
    """Thousands of nested classes need no stack, and their names no memory."""
    found = list(_walk(_find("java", "class A {\n" * 2_000 + "}\n" * 2_000)))

    assert max(d.qualified_name.count(".") for d in found) == 19


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", "/*\n" * 50_000),
        ("c", "x = 1;\n" * 1000 + "{\n" * 100_000),
        ("c", "a => " * 20_000),
        ("dart", "`" * 200_000),
        ("julia", "\x01" * 200_000),
        ("julia", ("\u20ac" * 1_600 + "a") * 50),
        ("objectivec", "a(> +" * 20_000),
        ("ocaml", "let f () = " + "g x; " * 100_000),
        ("ocaml", "(* a " * 160_000),
        ("ocaml_interface", "(* (* *) " * 160_000),
    ],
)
def test_a_hopeless_file_is_given_up_soon(
    language: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text that would keep a parser busy for hours is given up after seconds."""
    monkeypatch.setattr("contextkit_code.grammars.PARSE_SECONDS", 0.5)
    started = time.thread_time()

    with pytest.raises(ParseTooLongError):
        _find(language, source)

    assert time.thread_time() - started < 5


def test_a_parser_is_of_use_after_it_gave_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Giving up on one file does not spoil the next."""
    monkeypatch.setattr("contextkit_code.grammars.PARSE_SECONDS", 0.0)
    with pytest.raises(ParseTooLongError):
        _find("go", "package p\n" + "func f() {}\n" * 1000)
    monkeypatch.undo()

    assert _names("go", "package p\nfunc f() {}\n") == ["f"]


def test_a_grammar_that_does_not_load_is_named_once() -> None:
    """A missing wheel, and a query for another version of it, cost one language each."""
    grammars = Grammars()
    missing = Language(name="cobol", suffixes=(".cob",), grammar="tree_sitter_cobol", query="")
    renamed = Language(
        name="other", suffixes=(".o",), grammar="tree_sitter_go", query="(no_such_node) @function"
    )

    assert grammars.get(missing) is None
    assert grammars.get(missing) is None
    assert grammars.get(renamed) is None
    assert "ModuleNotFoundError" in grammars.problems["cobol"]
    assert "QueryError" in grammars.problems["other"]
    assert grammars.get(_language("go")) is not None


def test_an_unknown_condition_never_holds() -> None:
    """A query with a condition that is not ours finds nothing, rather than crash."""
    language = Language(
        name="strange",
        suffixes=(".x",),
        grammar="tree_sitter_go",
        query='((function_declaration name: (_) @name) @function (#strange? @name "f"))',
    )
    grammar = Grammars().get(language)
    assert grammar is not None

    source = b"package p\nfunc f() {}\n"
    assert find_definitions(grammar.matches(source), source, grammar.language) == []
