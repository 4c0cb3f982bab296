"""What the README says of languages, fields and settings is so."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextItem, Record
from contextkit.models import Detail
from contextkit_code import contextkit_check_settings, contextkit_format, contextkit_truncate
from contextkit_code.language_table import LANGUAGES

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
    """They are accepted as they stand."""
    shown = README.partition("```toml\n")[2].partition("```")[0]

    assert contextkit_check_settings(tomllib.loads(shown)["sources"]["code"]) == []


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


def test_the_note_is_the_real_one(make_item: Callable[..., ContextItem]) -> None:
    """As it stands behind a shortened unit."""
    (shown,) = contextkit_format([make_item()], "markdown", "full")
    text = contextkit_truncate(make_item(shown), "markdown", 100, len)

    assert text is not None
    assert f"`{text.splitlines()[-1]}`" in README
