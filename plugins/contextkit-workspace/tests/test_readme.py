"""What the README says is so."""

from __future__ import annotations

import tomllib
from pathlib import Path

from contextkit_workspace import contextkit_source
from contextkit_workspace.question import ask
from contextkit_workspace.tools import TOOLS

README = (Path(__file__).parent.parent / "README.md").read_text()


def asking_words(item: str) -> list[str]:
    """The words in the table that ask for an item."""
    row = next(line for line in README.splitlines() if line.startswith(item))
    return row.partition("(not")[0].split("|")[2].split("*")[1::2]


def test_the_settings_shown_are_right() -> None:
    """They are known, with the defaults that are named."""
    block = README.partition("## Settings\n\n```toml\n")[2].partition("```")[0]
    settings = tomllib.loads(block)["sources"]["workspace"]
    assert list(contextkit_source().setting_problems("workspace", settings)) == []
    defaults = contextkit_source().setting_defaults
    assert settings.keys() == defaults.keys()
    assert {**settings, "open_files": []} == defaults


def test_the_words_that_ask_do() -> None:
    """Each one that the table names, alone."""
    changes, recent = asking_words("| `status`"), asking_words("| | or asks what is at work")
    structure = asking_words("| `structure`")
    assert min(map(len, (changes, recent, structure))) >= 4
    assert [word for word in changes if not ask(word).changes] == []
    assert [word for word in recent if not ask(word).recent] == []
    assert [word for word in structure if not ask(word).structure] == []
    assert not ask("what status code is sent?").changes


def test_the_tool_is_named() -> None:
    """By the name that hosts list."""
    assert all(f"`{tool.name}(" in README for tool in TOOLS)
