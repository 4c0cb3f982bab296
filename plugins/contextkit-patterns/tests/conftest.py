"""What the tests of the patterns source share: a real store, and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_patterns
from contextkit import ContextKit, Records
from contextkit.testing import CommandLine, command_line, open_kit, open_records
from contextkit_patterns import PatternBook

PLUGIN = Path(__file__).parent.parent


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source on a real store on disk."""
    with open_records(tmp_path / "store", "patterns", model="none") as opened:
        yield opened


@pytest.fixture
def book(records: Records) -> PatternBook:
    """A book of no patterns."""
    return PatternBook(records)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    plugins = {"patterns": contextkit_patterns}
    with open_kit(tmp_path, plugins, settings={"embedding.model": "none"}) as opened:
        yield opened


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with command_line(tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened
