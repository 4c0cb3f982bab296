"""The page of all hooks is what the hookspecs say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from contextkit.plugin.status import HOOKS
from contextkit.testing.hook_reference import hook_reference, main

PAGE = Path(__file__).parents[2] / "plugins" / "hooks.md"


def test_the_committed_page_is_what_the_hookspecs_give() -> None:
    """Make it anew with `python -m contextkit.testing.hook_reference plugins/hooks.md`."""
    assert PAGE.read_text(encoding="utf-8") == hook_reference()


def test_every_hook_has_its_signature_and_its_row() -> None:
    """What it is for, when it is called, and what happens without it: no cell is empty."""
    page = hook_reference()
    rows = [line for line in page.splitlines() if line.startswith("| [`contextkit_")]
    assert len(rows) == len(HOOKS)
    for hook, row in zip(HOOKS, rows, strict=True):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        assert cells[0] == f"[`{hook}`](#{hook})"
        assert all(cells), row
        assert f"\n## {hook}\n\n```python\ndef {hook}(" in page


def test_the_fields_of_an_item_are_there() -> None:
    """The values that hooks get and give are on the same page, with types and defaults."""
    page = hook_reference()
    assert "| `sequence` | `str \\| None` | `None` | the sequence of its source's items" in page
    assert "| `created_at` | `datetime` | computed | the creation time" in page
    assert "- `await search(query: str" in page


def test_the_script_writes_a_file_or_prints(tmp_path: Path) -> None:
    """With a file's name it is written there."""
    command = [sys.executable, "-m", "contextkit.testing.hook_reference"]
    file = tmp_path / "page.md"
    subprocess.run([*command, str(file)], check=True)
    assert file.read_text(encoding="utf-8") == hook_reference()
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert printed.stdout == hook_reference()


def test_an_option_is_not_taken_for_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--help` explains the command, and writes no page of that name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["hook_reference", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert "the page; without it, it is printed" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
