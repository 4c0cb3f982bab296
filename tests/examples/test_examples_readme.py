"""The list of examples: what is there, and nothing else."""

from __future__ import annotations

import re

from tests.examples.conftest import ROOT

EXAMPLES = ROOT / "examples"


def test_every_example_is_listed() -> None:
    """Each script, each distribution and each folder with a page, once; what is listed is there."""
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    linked = [
        path.removesuffix("/README.md")
        for path in re.findall(r"^\| \[.*?\]\((.*?)\)", text, re.MULTILINE)
    ]
    found = [*EXAMPLES.glob("**/pyproject.toml"), *EXAMPLES.glob("*/README.md")]
    projects = {path.parent for path in found}
    there = {path.relative_to(EXAMPLES).as_posix() for path in {*EXAMPLES.glob("*.py"), *projects}}
    assert sorted(linked) == sorted(there)
    for path in re.findall(r"\]\((.*?)\)", text):
        assert (EXAMPLES / path).exists(), path


def test_the_examples_are_short_enough_to_read() -> None:
    """Under 100 lines each, the command that runs it in the first ones."""
    for path in EXAMPLES.glob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) < 100, path.name
        assert any(path.stem in line for line in lines[:6]), path.name
