"""The generated pages are what the code gives, and every setting has its help."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit.config.sections import SECTIONS
from contextkit.testing.api_reference import api_reference
from contextkit.testing.command_reference import command_reference
from contextkit.testing.reference import filled
from contextkit.testing.settings_reference import settings_reference

ROOT = Path(__file__).parents[1]
COMMANDS = ROOT / "contextkit" / "cli" / "README.md"
API = ROOT / "plugins" / "api.md"
SETTINGS = ROOT / "contextkit" / "config" / "README.md"


@pytest.mark.parametrize(
    ("page", "reference"),
    [(SETTINGS, settings_reference), (COMMANDS, command_reference), (API, api_reference)],
)
def test_the_page_is_current(page: Path, reference: Callable[[], str]) -> None:
    """Make it anew with the command that stands in it."""
    text = page.read_text(encoding="utf-8")
    assert text == filled(text, reference())


def test_every_setting_has_its_row() -> None:
    """Each has a default, what is valid, who may set it, and what it does, in a sentence."""
    reference = settings_reference()
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in reference.splitlines()
        if line.startswith("| `")
    ]
    assert len(rows) > 80
    for row in rows:
        assert len(row) == 5, row
        assert all(row), row
        assert row[-1][0].isupper() or row[-1][0] == "`", row
        assert row[-1].endswith("."), row
    assert all(f"### `[{section}]`" in reference for section in SECTIONS)


def test_every_command_is_listed_once() -> None:
    """With its subcommands; those of plugins, too."""
    listed = re.findall(r"^\| \[?`(contextkit [a-z -]+)`", command_reference(), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {"contextkit assemble", "contextkit cache show", "contextkit remember"} <= set(listed)


def test_a_script_fills_a_page(tmp_path: Path) -> None:
    """What stands outside of the marks stays; without a file the reference is printed."""
    command = [sys.executable, "-m", "contextkit.testing.settings_reference"]
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- reference -->\nold\n<!-- end of the reference -->\nafter\n")
    subprocess.run([*command, str(page)], check=True)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- reference -->\n\n### Top level")
    assert text.endswith("<!-- end of the reference -->\nafter\n")
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert settings_reference() in printed


def test_a_page_without_marks_is_refused() -> None:
    """Nothing says where the reference would go."""
    with pytest.raises(ValueError, match="reference"):
        filled("# Page\n", "text")
