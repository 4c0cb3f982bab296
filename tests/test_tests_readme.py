"""The tests that the README of this folder and SECURITY.md name are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
README = (TESTS / "README.md").read_text(encoding="utf-8")
SECURITY = (TESTS.parent / ".github" / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/-]+\.py)::(\w+)`", README + SECURITY)))
PROMISES = re.findall(r"^\| (?!promise |-)(.+) \| (.+) \|$", SECURITY, re.MULTILINE)
ROWS = re.findall(r"^\| ([A-E]\d+) \|.*\| (.+) \|$", README, re.MULTILINE)


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of a file's test functions."""
    tree = ast.parse((TESTS.parent / path).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, functions) and node.name.startswith("test_")
    )


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_named_test_is_there(path: str, name: str) -> None:
    """In the file that is named, from the top of the repository."""
    assert name in names_in(path)


def test_every_feature_has_its_test() -> None:
    """Each row names one at least, and none is missing."""
    last = {"A": 11, "B": 12, "C": 5, "D": 15, "E": 5}
    expected = [f"{part}{n}" for part, most in last.items() for n in range(1, most + 1)]
    assert [row for row, _ in ROWS] == expected
    assert all("::test_" in shown for _, shown in ROWS)


def test_every_promise_of_security_has_its_test() -> None:
    """Each row of its tables names one at least."""
    assert len(PROMISES) > 12
    assert all("::test_" in shown for _, shown in PROMISES)
