"""What a memory's text mentions, and how a file contains a name."""

from __future__ import annotations

import pytest

from contextkit_memories.occurrences import DEFINED, MENTIONED, NOT_FOUND, USED, grade
from contextkit_memories.references import MAX_REFERENCES, references_in
from tests.growing import assert_linear


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("Login is in src/auth/login.py.", ["path src/auth/login.py"]),
        ("See `src/auth/login.py:12`, (docs/).", ["path src/auth/login.py", "path docs/"]),
        ("validate_token() and checkToken", ["name validate_token", "name checkToken"]),
        ("`tabs` but not spaces", ["word tabs"]),
        ("`Shelf::restock` or `Shelf`", ["word Shelf", "word restock"]),
        ("run `tidy up --all-files MAX_AGE`", ["name --all-files", "name MAX_AGE"]),
        ("set `max-age` and $MAX_AGE", ["name max-age", "name MAX_AGE"]),
        ("since 3f2a1bc", ["commit 3f2a1bc"]),
        ("1234567 facade deadbeef times", []),
        ("Ask before you push, e.g. on Monday: 10:30, and/or later.", ["path and/or"]),
        ("../secrets.txt and https://example.org/a/b", []),
        ("Der Zähler über_alles läuft", []),
    ],
)
def test_what_looks_like_code_is_a_reference(text: str, references: list[str]) -> None:
    """In backticks any word is; prose is none, unless a path of the workspace looks like it."""
    assert [f"{each.kind} {each.text}" for each in references_in(text)] == references


def test_a_memory_has_so_many_references_at_most() -> None:
    """A pasted list does not make later contexts slow."""
    assert len(references_in(" ".join(f"name_{n}" for n in range(100)))) == MAX_REFERENCES


@pytest.mark.parametrize(
    ("text", "path", "name", "expected"),
    [
        ("def tidy(room):\n", "a.py", "tidy", DEFINED),
        ("class Shelf:\n", "a.py", "Shelf", DEFINED),
        ("func (s *Shelf) Restock() {}\n", "a.go", "Restock", DEFINED),
        ("exports.tidy = () => 1;\n", "a.js", "tidy", DEFINED),
        ('{"max_age": 3}\n', "a.json", "max_age", USED),
        ("max_age = 3\n", "a.toml", "max_age", DEFINED),
        ("x = tidy(room)\n", "a.py", "tidy", USED),
        ('names = ["tidy"]\n', "a.py", "tidy", USED),
        ('option("-a, --all", help="keep all")\n', "a.py", "--all", USED),
        ('raise ValueError("call tidy first")\n', "a.py", "tidy", MENTIONED),
        ("x = 1  # tidy\n", "a.py", "tidy", MENTIONED),
        ("/* tidy\n * tidy() */\n", "a.js", "tidy", MENTIONED),
        ('"""Say how\n\ntidy(1)\n"""\n', "a.py", "tidy", MENTIONED),
        ("`tidy` is gone\n", "CHANGES.rst", "tidy", MENTIONED),
        ("untidy = tidy_up\n", "a.py", "tidy", NOT_FOUND),
        ("--all-files\n", "Makefile", "--all", NOT_FOUND),
        ("tidy:\n\trm x\n", "Makefile", "tidy", DEFINED),
    ],
)
def test_a_name_is_defined_used_or_only_mentioned(
    text: str, path: str, name: str, expected: int
) -> None:
    """Comments, docstrings, messages and prose mention a name after it is gone."""
    assert grade(text, path, name) == expected


@pytest.mark.parametrize("piece", ["a_b ", "`", "a.", "-", "/a", "a::", "`a b` "])
def test_reading_a_text_takes_linear_time(piece: str) -> None:
    """Also one that is made to be slow."""
    assert_linear(references_in, lambda size: (piece * size)[:size])


@pytest.mark.parametrize(
    "piece", ["tidy ", '"tidy', "'''tidy", "/*tidy\n", "tidy\n", "# tidy", "\\"]
)
@pytest.mark.parametrize("path", ["a.py", "a.js"])
def test_reading_a_file_takes_linear_time(piece: str, path: str) -> None:
    """A repository's files are untrusted."""
    assert_linear(lambda text: grade(text, path, "tidy"), lambda size: (piece * size)[:size])
