"""What the README says is so."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contextkit import Record
from contextkit_documents import contextkit_source
from contextkit_documents.chunks import MAX_CHARACTERS
from contextkit_documents.file_kinds import kind_of

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_every_field_is_described(
    workspace: Path, index: Callable[..., Any], stored: Callable[[], list[Record]]
) -> None:
    """In the table of records."""
    (workspace / "a.md").write_text("# A\n\ntext\n")
    index()
    table = README.partition("## Records")[2].partition("## Beside")[0]
    for record in stored():
        assert all(f"`{name}`" in table for name in record.fields)


def test_the_settings_shown_are_right() -> None:
    """They are known, with the defaults that are named; wrong ones are problems."""
    block = README.partition("## Settings\n\n```toml\n")[2].partition("```")[0]
    settings = tomllib.loads(block)["sources"]["documents"]
    assert list(contextkit_source().setting_problems("documents", settings)) == []
    wrong = {"include": "docs", "exclude": ["!"], "max_file_bytes": 0}
    problems = contextkit_source().setting_problems("documents", wrong)
    assert [problem.partition(":")[0] for problem in problems] == list(wrong)
    defaults = contextkit_source().setting_defaults
    assert settings.keys() == defaults.keys()
    assert settings["max_file_bytes"] == defaults["max_file_bytes"]


def test_the_files_of_each_kind_are_those_listed() -> None:
    """Each suffix and name of the table is of the kind of its row."""
    for kind in ("documentation", "configuration", "metadata"):
        row = README.partition(f"| `{kind}` |")[2].partition("|")[0]
        names = [name.replace("*", "-dev") for name in row.split("`")[1::2]]
        assert len(names) > 5
        for name in names:
            whole = f"a{name}" if name.startswith(".") and name != ".editorconfig" else name
            found = kind_of(whole)
            assert found is not None
            assert found.kind == kind


def test_the_length_of_a_chunk_is_the_one_named() -> None:
    """And that of a piece of a line."""
    assert f"A chunk has {MAX_CHARACTERS:,} characters at most" in README
    assert f"cut within, at {2 * MAX_CHARACTERS:,}" in README
