"""Chunks: whole functions, tiny classes, heads and members of larger ones, windows."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from contextkit_code.chunks import MAX_CHARACTERS, Chunk, chunk_file
from contextkit_code.definitions import find_definitions
from contextkit_code.grammars import Grammars
from contextkit_code.languages.table import LANGUAGES

_GRAMMARS = Grammars()


def _chunks(source: str, language: str = "python") -> list[Chunk]:
    grammar = _GRAMMARS.get(next(known for known in LANGUAGES if known.name == language))
    assert grammar is not None
    definitions = find_definitions(
        grammar.matches(source.encode()), source.encode(), grammar.language
    )
    return chunk_file(source.split("\n"), definitions, "file.py", "lines")


def _windows(text: str) -> list[Chunk]:
    return chunk_file(text.split("\n"), (), "notes.md", "section")


def _shape(chunks: list[Chunk]) -> list[tuple[str, str, int, int]]:
    return [(c.unit_type, c.qualified_name, c.first + 1, c.last + 1) for c in chunks]


def _function(name: str, lines: int, indent: str = "") -> str:
    body = "".join(f"{indent}    step_{n}()\n" for n in range(lines - 1))
    return f"{indent}def {name}(self):\n{body}"


MEMBERS = _function("__init__", 5, "    ") + "\n" + _function("b", 12, "    ")


@pytest.mark.parametrize(
    ("language", "source", "shape"),
    [
        (
            "python",
            "import os\n\n# Why.\ndef f():\n    return 1\n\n\nif True:\n    f()\n",
            [("lines", "file.py", 1, 1), ("function", "f", 3, 5), ("lines", "file.py", 8, 9)],
        ),
        ("python", f"class A:\n{MEMBERS}", [("class", "A", 1, 6), ("method", "A.b", 8, 19)]),
        (
            "python",
            f'class A:\n    """Why."""\n{MEMBERS}',
            [("class", "A", 1, 2), ("method", "A.__init__", 3, 7), ("method", "A.b", 9, 20)],
        ),
        (
            "cpp",
            "namespace a {\nclass B { int c; };\nint d() { return 1; }\n}\n",
            [("lines", "a", 1, 1), ("class", "a.B", 2, 2), ("function", "a.d", 3, 3)],
        ),
        ("python", _function("f", 150), [("function", "f", 1, 150)]),
        ("python", _function("f", 151), [("function", "f", 1, 100), ("function", "f", 101, 151)]),
        ("python", _function("f", 220), [("function", "f", 1, 100), ("function", "f", 101, 220)]),
        (
            "javascript",
            "function a() {} function b() {} function c() {}\n",
            [("function", "a", 1, 1)],
        ),
        (
            "python",
            "# -- part one --\n\n\ndef f():\n    return 1\n\n\n# A somewhat longer remark stays.\n",
            [("function", "f", 4, 5), ("lines", "file.py", 8, 8)],
        ),
    ],
    ids=[
        "functions are whole, the rest is windows",
        "a head that says nothing has its first member",
        "a head with a docstring is one",
        "a namespace gives a name and no chunk",
        "a function is whole up to 150 lines",
        "a longer one is split at a hundred lines",
        "a short rest joins the part before it",
        "definitions on one line are one chunk",
        "a short comment between definitions is none",
    ],
)
def test_what_becomes_a_chunk(
    language: str, source: str, shape: list[tuple[str, str, int, int]]
) -> None:
    """Functions, heads of classes and their members, and windows of the other lines."""
    assert _shape(_chunks(source, language)) == shape


def test_a_part_of_a_long_function_begins_with_a_statement_at_its_top() -> None:
    """And not in the middle of a loop."""
    blocks = "".join(f"    for x in rows_{n}:\n" + "        step()\n" * 30 for n in range(7))

    parts = [c.text.split("\n")[0] for c in _chunks(f"def f():\n{blocks}")]

    assert parts == ["def f():", "    for x in rows_3:", "    for x in rows_6:"]


def test_a_tiny_class_is_whole_and_names_what_it_defines() -> None:
    """Up to twelve lines a class is one chunk."""
    source = "class A:\n" + _function("b", 5, "    ") + _function("c", 6, "    ")

    (chunk,) = _chunks(source)

    assert (chunk.unit_type, chunk.qualified_name, chunk.last + 1) == ("class", "A", 12)
    assert chunk.defines == ("A.b", "A.c")


def test_a_large_class_is_a_head_and_its_members() -> None:
    """Over twelve lines: head, members, and windows of the lines between them."""
    source = (
        'class A:\n    """Doc."""\n\n    field = 1\n\n'
        + _function("b", 30, "    ")
        + "\n    between = 2\n\n"
        + _function("c", 30, "    ")
    )

    chunks = _chunks(source)

    assert _shape(chunks) == [
        ("class", "A", 1, 4),
        ("method", "A.b", 6, 35),
        ("lines", "A", 37, 37),
        ("method", "A.c", 39, 68),
    ]
    assert (
        chunks[0].signature,
        chunks[0].docstring,
        chunks[0].defines,
    ) == ("class A:", "Doc.", ())


def test_functions_are_not_taken_apart_by_what_they_define() -> None:
    """A function within a function is in its text, and in `defines`."""
    source = "def f():\n    def g():\n        def h(): ...\n        return h\n    return g\n"

    (chunk,) = _chunks(source)

    assert (chunk.qualified_name, chunk.defines) == ("f", ("f.g", "f.g.h"))


def test_parts_name_only_what_begins_in_them() -> None:
    """What is defined in the second hundred lines is not in the first part's `defines`."""
    source = _function("f", 120) + "    def g():\n        return 1\n" + "    x()\n" * 60

    assert [c.defines for c in _chunks(source)] == [(), ("f.g",)]


def test_windows_are_fifty_lines_and_skip_what_says_nothing() -> None:
    """Blank ends, closing brackets and `end` are no chunk; a short rest joins."""
    assert _shape(_windows("word\n" * 105)) == [
        ("section", "notes.md", 1, 50),
        ("section", "notes.md", 51, 105),
    ]
    assert _windows("\n  \n}\n)];\n  end\nfi\n") == []
    assert _windows("") == []
    assert _shape(_windows("\n\nword\n\n")) == [("section", "notes.md", 3, 3)]
    assert _shape(_windows("# Title\n")) == [("section", "notes.md", 1, 1)]


@pytest.mark.parametrize(
    ("comment", "kept"),
    [
        ("// Copyright 2015 The Authors\n//\n// Licensed under the Apache License\n// of 2.0.", []),
        (
            "/* shelf.c - Keep the items in order.\n *\n * Copyright (c) A.\n * All rights. */",
            [0],
        ),
        (
            "/*\n * Copyright (C) 2011 A.\n *\n * You may\n */\n\n/* Why items are kept. */",
            [6],
        ),
        (
            "#!/bin/sh\n# SPDX-License-Identifier: MIT\n\n# Keeps the items of a shelf in order.",
            [3],
        ),
        ("(* Copyright A *)\n{- License:\n\nnone. -}", []),
        ("# Keeps items.\n#include <shelf.h>\n# the copyright of items", [0, 1, 2]),
    ],
)
def test_the_licence_above_the_code_is_left_out(comment: str, kept: list[int]) -> None:
    """Its words are those of each other file; what else the comment says is kept."""
    lines = comment.split("\n")
    shown = [
        row
        for chunk in chunk_file([*lines, "shelf = 1"], (), "shelf.c", "lines")
        for row in range(chunk.first, chunk.last + 1)
    ]
    assert [row for row in shown if row < len(lines) and re.search(r"\w|/\*", lines[row])] == kept
    assert len(lines) in shown


def test_a_licence_directly_above_a_definition_does_not_document_it() -> None:
    """Its comment is read as the definition's documentation otherwise."""
    chunks = _chunks("/*\n * Copyright 2020 A.\n */\nfunction keep() {\n}\n", "javascript")
    assert [(chunk.text, chunk.docstring) for chunk in chunks] == [("function keep() {\n}", "")]


def test_no_chunk_is_longer_than_the_limit() -> None:
    """Long lines, and many of them, are cut into pieces that lose nothing."""
    text = "a" * (2 * MAX_CHARACTERS + 5) + "\n" + "\n".join(["b" * 9_000] * 5)

    chunks = _windows(text)

    assert max(len(c.text) for c in chunks) <= MAX_CHARACTERS
    assert text.replace("\n", "") == "".join(c.text.replace("\n", "") for c in chunks)
    assert [(c.first + 1, c.last + 1) for c in chunks[:3]] == [(1, 1)] * 3


_LINE = st.sampled_from(
    [
        "class A:",
        "    def b(self):",
        "        return 1",
        "def c():",
        "    x = 2",
        "",
        "}",
        "d(",
        "# e",
    ]
)


@given(st.lists(_LINE, max_size=300).map("\n".join))
def test_every_line_with_a_word_is_in_a_chunk(source: str) -> None:
    """Whatever a file looks like, nothing that says something is lost, and order is kept."""
    chunks = _chunks(source)
    covered = {row for chunk in chunks for row in range(chunk.first, chunk.last + 1)}

    for row, line in enumerate(source.split("\n")):
        assert row in covered or not re.search(r"\w", line) or line.startswith("#")
    assert chunks == sorted(chunks, key=lambda chunk: chunk.first)
    for chunk in chunks:
        assert chunk.text == "\n".join(source.split("\n")[chunk.first : chunk.last + 1])
