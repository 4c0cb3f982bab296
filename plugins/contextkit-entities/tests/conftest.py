"""What the tests of the entities source share: a real store, and the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
from click.testing import CliRunner, Result

import contextkit_entities
from contextkit import ContextKit, Records
from contextkit.cli import cli
from contextkit.testing import open_records
from contextkit_entities import EntityBook, relations_source

Run = Callable[..., Result]

METADATA = "Metadata-Version: 2.1\nName: contextkit-entities\nVersion: 0.1.0\n"
ENTRY_POINT = """\
[contextkit]
entities = contextkit_entities
relations = contextkit_entities.relations_source
"""


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
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContextKit]:
    """A kit with these two sources and no other."""
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    settings = {"embedding.model": "none"}
    with ContextKit.open(tmp_path, settings=settings, entry_points=False, environment={}) as opened:
        opened.register(contextkit_entities, "entities")
        opened.register(relations_source, "relations")
        yield opened


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run the command line in an empty workspace, with this plugin as it is in the checkout."""
    installed = tmp_path / "installed" / "contextkit_entities-0.1.0.dist-info"
    workspace = tmp_path / "workspace"
    for folder in (installed, workspace):
        folder.mkdir(parents=True)
    (installed / "METADATA").write_text(METADATA)
    (installed / "entry_points.txt").write_text(ENTRY_POINT)
    monkeypatch.syspath_prepend(str(installed.parent))
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CONTEXTKIT_PROJECT", "demo")
    logging = structlog.get_config()

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["-C", str(workspace), *arguments])

    yield invoke
    structlog.configure(**logging)
