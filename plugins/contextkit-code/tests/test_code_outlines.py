"""Outlines: what is in them, what they find, and that nobody sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextItem, ContextRequest, Record, Records
from contextkit_code import contextkit_query, contextkit_source
from contextkit_code.plain_names import plain_names

Outlines = Callable[[], dict[str, Record]]

SHELF = '''\
"""Shelves."""


class Shelf:
    """Keeps things.

    For long.
    """

    def restock(self):
        """Put things back."""

    def count(self):
        number = 0
        for thing in self.things:
            number += 1
        return number
'''


def _ask(records: Records, query: str, **request: Any) -> list[ContextItem]:
    return asyncio.run(contextkit_query(ContextRequest(query=query, records=records, **request)))


def test_an_outline_has_path_names_and_first_lines(
    workspace: Path, index: Callable[..., Any], outlines: Outlines
) -> None:
    """One for each file that has units."""
    (workspace / "shelf.py").write_text(SHELF)
    (workspace / "empty.py").write_text("\n")
    index()

    (outline,) = outlines().values()

    assert outline.id == "shelf.py"
    assert outline.fields == {"kind": "outline", "file_path": "shelf.py", "language": "python"}
    lines = [line for line in outline.text.split("\n") if line]
    names = ["Shelf", "Shelf.restock", "Shelf.count"]
    assert lines == ["shelf.py", *names, "Keeps things.", "Put things back."]


def test_an_outline_has_its_files_imports(
    workspace: Path, index: Callable[..., Any], outlines: Outlines
) -> None:
    """They are a field of its own: what is searched is as it was without them."""
    body = "\ndef shelve(box):\n    return box\n"
    (workspace / "shelf.py").write_text(f"from .boxes import (Box as B, Lid,  # all\n){body}")
    (workspace / "bare.py").write_text(body)
    index()
    found = outlines()
    assert found["shelf.py"].fields["imports"] == [{"module": ".boxes", "names": ["Box", "Lid"]}]
    assert "imports" not in found["bare.py"].fields
    assert found["shelf.py"].text.replace("shelf", "bare") == found["bare.py"].text
    assert not found["shelf.py"].keywords


def test_outlines_follow_their_files(
    workspace: Path, index: Callable[..., Any], outlines: Outlines
) -> None:
    """Changed with them, and gone with them."""
    (workspace / "a.py").write_text("def one():\n    return 1\n")
    index()
    (workspace / "a.py").write_text("def second():\n    return 1\n")
    index()
    changed = outlines()["a.py"].text
    (workspace / "a.py").unlink()
    index()

    assert "second" in changed
    assert "one" not in changed
    assert outlines() == {}


def test_nobody_sees_an_outline(
    workspace: Path, index: Callable[..., Any], records: Records
) -> None:
    """Neither who asks, whatever the filters, nor who counts."""
    (workspace / "shelf.py").write_text(SHELF)
    index()

    for filters in ({}, {"kind": "outline"}, {"language": "python"}, {"file_path": "shelf.py"}):
        items = _ask(records, "shelf restock count", filters=filters)
        assert items
        assert all("::" in item.id for item in items)
    assert records.count(contextkit_source().count_filters) == 4
    assert records.count() == 5


def test_a_file_that_only_its_outline_finds_shows_its_best_units(
    workspace: Path, index: Callable[..., Any], records: Records
) -> None:
    """Where so many units are better that none of its own is looked at."""
    noise = "".join(f"def wheel_{n}():\n    return 'wheel wheel'\n\n\n" for n in range(200))
    (workspace / "noise.py").write_text(noise)
    (workspace / "timer.py").write_text(
        f'def start():\n    """Turn the wheel."""\n    {"x = 1; " * 300}\n'
    )
    index()

    found = {item.metadata["file_path"] for item in _ask(records, "wheel")}

    assert found == {"noise.py", "timer.py"}


def test_a_long_list_has_the_whole_of_the_best_files(
    workspace: Path, index: Callable[..., Any], records: Records
) -> None:
    """Also what the keywords do not find in them, behind what they do."""
    (workspace / "shelf.py").write_text(SHELF)
    index()
    found = "shelf.py::Shelf.restock"

    short = [item.id for item in _ask(records, "put back", limit=20)]
    long = [item.id for item in _ask(records, "put back", limit=100)]

    assert short[0] == long[0] == found
    assert "shelf.py::Shelf.count" not in short
    assert "shelf.py::Shelf.count" in long


def test_nonsense_finds_nothing(
    workspace: Path, index: Callable[..., Any], records: Records
) -> None:
    """And the less of a query is found, the less what is found is worth."""
    (workspace / "shelf.py").write_text(SHELF)
    index()

    assert _ask(records, "xyzzy plugh frobnicate", limit=100) == []
    assert _ask(records, "restock xyzzy plugh frobnicate quux")[0].relevance < 0.3
    assert _ask(records, "restock things")[0].relevance > 0.9


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(x):\nclass A(B):\n", ("f", "A")),
        ("export async function go() {\n  interface I {\n", ("go", "I")),
        ("pub(crate) unsafe fn x<T>() {}\nimpl Foo for Bar {}\n", ("x",)),
        ("func (s *Server) Serve() {\ntype Server struct {\n", ("Serve", "Server")),
        ("proc main() =\nsub run {\nstruct P;\n", ("main", "run", "P")),
        ("def a.b()\ndef a.b()\nnamespace x::y {\n", ("a.b", "x.y")),
        ("the class of things\ntype: string\n# def no\nclassify(x)\n", ()),
        ("", ()),
    ],
)
def test_names_are_told_without_a_grammar(code: str, names: tuple[str, ...]) -> None:
    """By the word before them, at the beginning of a line."""
    assert plain_names(code) == names


def test_code_without_a_grammar_is_found_by_what_it_defines(
    workspace: Path, index: Callable[..., Any], records: Records
) -> None:
    """Its windows count as holding what is named."""
    (workspace / "a.nim").write_text("proc restock(x: int) =\n  echo 1\n")
    (workspace / "b.nim").write_text("echo restock\n" * 30)
    index()

    item = _ask(records, "restock")[0]

    assert item.id == "a.nim::a.nim"
