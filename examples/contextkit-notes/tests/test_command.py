"""`contextkit note`, as installed."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest
from contextkit_notes.database import FILE, find_notes

from contextkit.testing import command_line


def installed() -> bool:
    """Whether the plugin's entry point is there."""
    points = importlib.metadata.entry_points(group="contextkit")
    return "contextkit_notes" in {found.module for found in points}


@pytest.mark.skipif(not installed(), reason="commands come through the entry point")
def test_the_command_writes_a_note(tmp_path: Path) -> None:
    """It is listed, it writes, and what it wrote is found."""
    with command_line(tmp_path) as run:
        assert "Write a note down." in run("--help").stdout
        result = run("note", "The pump is red", "--notebook", "pumps")
    assert (result.exit_code, result.stdout) == (0, "note 1\n")
    (note,) = find_notes(tmp_path / FILE, "red", 5)
    assert (note.text, note.notebook) == ("The pump is red", "pumps")
