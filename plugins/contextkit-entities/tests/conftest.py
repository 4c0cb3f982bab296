"""What the tests of the entities source share: a real store, and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_entities
from contextkit import ContextKit, Records
from contextkit.testing import CommandLine, command_line, open_kit, open_records
from contextkit_entities import EntityBook, relations_source

PLUGIN = Path(__file__).parent.parent


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source on a real store on disk."""
    with open_records(tmp_path / "store", "entities", model="none") as opened:
        yield opened


@pytest.fixture
def book(records: Records) -> EntityBook:
    """A book of no entities."""
    return EntityBook(records)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with these two sources and no other."""
    plugins = {"entities": contextkit_entities, "relations": relations_source}
    with open_kit(tmp_path, plugins, settings={"embedding.model": "none"}) as opened:
        yield opened


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    with command_line(tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened
