"""Outlines: what is in them, what they find, and that nobody sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contextkit import ContextItem, Record, Records
from contextkit_code import contextkit_source
from contextkit_code.plain_definitions import plain_names

Ask = Callable[..., list[ContextItem]]
Project = Callable[[dict[str, str]], Any]
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


def test_an_outline_has_path_names_and_first_lines(project: Project, outlines: Outlines) -> None:
    """One for each file that has units."""
    project({"shelf.py": SHELF, "empty.py": "\n"})

    (outline,) = outlines().values()

    assert outline.id == "shelf.py"
    assert outline.fields == {"kind": "outline", "file_path": "shelf.py", "language": "python"}
    lines = [line for line in outline.text.split("\n") if line]
    names = ["Shelf", "Shelf.restock", "Shelf.count"]
    assert lines == ["shelf.py", *names, "Keeps things.", "Put things back."]


def test_an_outline_has_its_files_imports(project: Project, outlines: Outlines) -> None:
    """They are a field of its own: what is searched is as it was without them."""
    body = "\ndef shelve(box):\n    return box\n"
    project({"shelf.py": f"from .boxes import (Box as B, Lid,  # all\n){body}", "bare.py": body})
    found = outlines()
    assert found["shelf.py"].fields["imports"] == [{"module": ".boxes", "names": ["Box", "Lid"]}]
    assert "imports" not in found["bare.py"].fields
    assert found["shelf.py"].text.replace("shelf", "bare") == found["bare.py"].text
    assert not found["shelf.py"].keywords


def test_nobody_sees_an_outline(project: Project, ask: Ask, records: Records) -> None:
    """Neither who asks, whatever the filters, nor who counts."""
    project({"shelf.py": SHELF})

    for filters in ({}, {"kind": "outline"}, {"language": "python"}, {"file_path": "shelf.py"}):
        items = ask("shelf restock count", filters=filters)
        assert items
        assert all("::" in item.id for item in items)
    assert records.count(contextkit_source().count_filters) == 4
    assert records.count() == 5


def test_a_file_that_only_its_outline_finds_shows_its_best_units(
    project: Project, ask: Ask
) -> None:
    """Where so many units are better that none of its own is looked at."""
    noise = "".join(f"def wheel_{n}():\n    return 'wheel wheel'\n\n\n" for n in range(200))
    project(
        {
            "noise.py": noise,
            "timer.py": f'def start():\n    """Turn the wheel."""\n    {"x = 1; " * 300}\n',
        }
    )

    found = {item.metadata["file_path"] for item in ask("wheel")}

    assert found == {"noise.py", "timer.py"}


def test_a_long_list_has_the_whole_of_the_best_files(project: Project, ask: Ask) -> None:
    """Also what the keywords do not find in them, behind what they do."""
    project({"shelf.py": SHELF})
    found = "shelf.py::Shelf.restock"

    short = [item.id for item in ask("put back", limit=20)]
    long = [item.id for item in ask("put back", limit=100)]

    assert short[0] == long[0] == found
    assert "shelf.py::Shelf.count" not in short
    assert "shelf.py::Shelf.count" in long


def test_nonsense_finds_nothing(project: Project, ask: Ask) -> None:
    """And the less of a query is found, the less what is found is worth."""
    project({"shelf.py": SHELF})

    assert ask("xyzzy plugh frobnicate", limit=100) == []
    assert ask("restock xyzzy plugh frobnicate quux")[0].relevance < 0.3
    assert ask("restock things")[0].relevance > 0.9


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


def test_code_without_a_grammar_is_found_by_what_it_defines(project: Project, ask: Ask) -> None:
    """Windows count as holding what they name."""
    project({"a.yaml": "proc restock(x)\n  echo: 1\n", "b.nim": "echo restock\n" * 30})

    item = ask("restock")[0]

    assert item.id == "a.yaml::a.yaml"
