"""What the tests of the memories share: a real store and the book on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextkit import Records
from contextkit.testing import CommandLine, command_line, open_records
from contextkit_memories import MemoryBook

PLUGIN = Path(__file__).parent.parent


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source in the project demo."""
    with open_records(tmp_path / "store", "memories", project="demo") as opened:
        yield opened


@pytest.fixture
def book(records: Records) -> MemoryBook:
    """The memories seen in the project demo."""
    return MemoryBook(records)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    with command_line(tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened
