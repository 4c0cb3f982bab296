"""What the README says of languages, fields and settings is so."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem, Record
from contextkit.models.items import Detail
from contextkit_code import contextkit_format, contextkit_source, contextkit_truncate
from contextkit_code.languages.table import LANGUAGES

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_every_language_is_named() -> None:
    """In the list of what is parsed."""
    listed = README.partition("Parsed with tree-sitter: ")[2].partition(". A grammar")[0]
    words = {word.strip("(),\n") for word in listed.replace("\n", " ").split()}

    assert {language.name for language in LANGUAGES} == words - {"and"}


def test_every_field_is_described(
    workspace: Path, index: Callable[..., Any], stored: Callable[[], dict[str, Record]]
) -> None:
    """In the table of records."""
    (workspace / "a.py").write_text("def f():\n    def g():\n        return 1\n")
    index()
    table = README.partition("## Records")[2].partition("## Settings")[0]

    for record in stored().values():
        assert all(f"`{name}`" in table for name in record.fields)


def test_the_settings_shown_are_right() -> None:
    """They are accepted as they stand, and wrong ones are named."""
    shown = README.partition("```toml\n")[2].partition("```")[0]

    given = tomllib.loads(shown)["sources"]["code"]
    assert list(contextkit_source().setting_problems("code", given)) == []
    wrong = {"include": "*.py", "exclude": ["!"], "max_file_bytes": 0}
    problems = contextkit_source().setting_problems("code", wrong)
    assert [problem.partition(":")[0] for problem in problems] == list(wrong)


@pytest.mark.parametrize("detail", ["full", "summary", "compact"])
def test_the_shown_items_are_the_real_ones(
    make_item: Callable[..., ContextItem], detail: Detail
) -> None:
    """The same method in each detail."""
    code = """\
def restock(self, items):
    \"\"\"Put items on the shelf.\"\"\"
    self.items += items"""
    item = make_item(
        code, signature="def restock(self, items):", docstring="Put items on the shelf."
    )

    (text,) = contextkit_format([item], "markdown", detail)

    assert f"markdown\n{text}\n```" in README


def test_the_excerpt_shown_is_the_real_one(make_item: Callable[..., ContextItem]) -> None:
    """Of a query for what becomes of broken items."""
    rows = ["def restock(self, items):", '    """Put items on the shelf."""']
    rows += [f"    self.prepare({place})" for place in range(5)]
    rows += ["    for item in items:", "        if item.is_broken:"]
    rows += ["            raise BrokenItem(item)"]
    rows += [f"    self.tidy({place})" for place in range(3)]
    docstring = "Put items on the shelf."
    item = make_item("\n".join(rows), end_line=39, signature=rows[0], docstring=docstring)
    (shown,) = contextkit_format([item], "markdown", "full")

    text = contextkit_truncate(
        evolve(item, content=shown), "markdown", 300, len, "what happens to a broken item?"
    )

    assert f"markdown\n{text}\n```" in README
