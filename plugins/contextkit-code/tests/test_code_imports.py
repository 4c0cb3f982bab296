"""What files import, in each language whose imports are looked for."""

from __future__ import annotations

import pytest

from contextkit_code.grammars import Grammars
from contextkit_code.imports import find_imports, import_query
from contextkit_code.languages.table import LANGUAGES

EXPECTED = {
    "python": (
        "import a.b as c, d\nfrom .x import (y,  # not z\n w as v)\nfrom . import q\n"
        "from m import *\ndef f():\n    import late\n",
        [("a.b",), ("d",), (".x", "y", "w"), (".", "q"), ("m",), ("late",)],
    ),
    "javascript": (
        "import a, {b as c, d} from './x';\nimport 'https://deno.land/x';\nexport * from '../y';\n"
        "export {z} from 'pkg';\nconst e = require('f/g');\nother('no');\n",
        [("./x", "b", "d"), ("https://deno.land/x",), ("../y",), ("pkg", "z"), ("f/g",)],
    ),
    "typescript": (
        "import {type B} from './x';\nimport k = require('k');\n",
        [("./x", "B"), ("k",)],
    ),
    "tsx": ("import {B} from './x';\n", [("./x", "B")]),
    "go": (
        'package p\nimport "fmt"\nimport (\n x "github.com/o/r/pkg"\n _ "z/y"\n)\n',
        [("fmt",), ("github.com/o/r/pkg",), ("z/y",)],
    ),
    "java": (
        "import java.util.List; // why\nimport static a.b.C.d;\nimport x.y.*;\nclass A {}\n",
        [("java.util.List",), ("a.b.C.d",), ("x.y",)],
    ),
    "rust": (
        "use crate::a::{b::C, d::{e, f}, self};\npub use super::x::*;\nuse std::io as foo;\n",
        [
            ("crate::a::b::C",),
            ("crate::a::d::e",),
            ("crate::a::d::f",),
            ("crate::a",),
            ("super::x",),
            ("std::io",),
        ],
    ),
    "c": ('#include "a/b.h"\n#include <stdio.h>\n', [("a/b.h",), ("stdio.h",)]),
    "cpp": ('#include "a/b.h"\n#include <vector>\n', [("a/b.h",), ("vector",)]),
    "csharp": (
        "using System;\nusing static A.B.C;\nusing X = A.B;\nclass A {}\n",
        [("System",), ("A.B.C",), ("A.B",)],
    ),
    "dart": (
        "import 'dart:async' show Future;\nimport '../a/b.dart' as b;\nexport 'src/c.dart';\n"
        "part 'd.g.dart';\n",
        [("dart:async",), ("../a/b.dart",), ("src/c.dart",), ("d.g.dart",)],
    ),
    "julia": (
        'using A, B.C\nusing ..D\nimport Base: show, ==\nimport E as F\ninclude("src/g.jl")\n'
        'other("no")\n',
        [("A",), ("B.C",), ("..D",), ("Base",), ("E",), ("src/g.jl",)],
    ),
    "objectivec": (
        '#import <A/B.h>\n#import "c.h"\n@import UIKit;\n',
        [("A/B.h",), ("c.h",), ("UIKit",)],
    ),
    "perl": (
        "use v5.10;\nuse A::B 'c';\nuse D -e;\nrequire F::G;\nno H;\n",
        [("A::B",), ("D",), ("F::G",)],
    ),
    "solidity": (
        'import "./A.sol";\nimport {B, C as D} from "../b/B.sol";\nimport * as E from "e/E.sol";\n',
        [("./A.sol",), ("../b/B.sol", "B", "C"), ("e/E.sol",)],
    ),
    "ruby": ("require 'json'\nrequire_relative '../a/b'\nputs 'c'\n", [("json",), ("../a/b",)]),
    "php": (
        "<?php\nuse A\\B\\C;\nuse A\\{D, E as F};\nuse function A\\g;\n",
        [("A\\B\\C",), ("A\\D",), ("A\\E",), ("A\\g",)],
    ),
    "kotlin": (
        "package a\nimport a.b.C\nimport a.b.*\nimport x.y.Z as W\n",
        [("a.b.C",), ("a.b",), ("x.y.Z",)],
    ),
    "swift": ("import Foundation\nimport struct A.B\n", [("Foundation",), ("A.B",)]),
    "scala": (
        "import a.b.C\nimport a.b.{D, E => F, _}\n",
        [("a.b.C",), ("a.b.D",), ("a.b.E",), ("a.b",)],
    ),
    "haskell": (
        "module M where\nimport qualified Data.Map as M\nimport Foo.Bar (baz)\nx = 1\n",
        [("Data.Map",), ("Foo.Bar",)],
    ),
}


def _found(name: str, text: str) -> list[tuple[str, ...]]:
    language = next(each for each in LANGUAGES if each.name == name)
    grammar = Grammars().get(language)
    assert grammar is not None
    source = text.encode()
    return [
        (each.module, *each.names) for each in find_imports(grammar.matches(source), source, name)
    ]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_imports_are_found_as_they_stand_in_the_file(name: str) -> None:
    """Modules in order, with the names that are taken from them; comments say nothing."""
    text, expected = EXPECTED[name]
    assert _found(name, text) == expected


@pytest.mark.parametrize("name", ["bash", "lua", "elixir", "hcl", "zig"])
def test_languages_without_imports_have_none(name: str) -> None:
    """Those whose imports are calls like any other."""
    assert import_query(name) == ""
    assert _found(name, "a = 1\n") == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("python", "from a import b\nfrom a import c, b\n", [("a", "b", "c")]),
        ("python", f"import {'a' * 300}\nfrom b import {'c' * 300}\n", [("b",)]),
        ("python", "from  import\nimport \n", []),
        ("javascript", "import {a from 'x\n", []),
        ("rust", "use a::{b, c;\nfn f() {}\n", []),
    ],
)
def test_imports_that_are_double_long_or_broken(
    name: str, text: str, expected: list[tuple[str, ...]]
) -> None:
    """A module is told once; what is no name, or longer than one, is left out."""
    assert _found(name, text) == expected


def test_a_file_of_imports_alone() -> None:
    """A thousand modules are enough."""
    found = _found("python", "".join(f"import m{number}\n" for number in range(1_500)))
    assert found[0] == ("m0",)
    assert len(found) == 1_000
