"""What the tests of the tasks source share: a real store, and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import contextkit_tasks
from contextkit import ContextKit, Records
from contextkit.testing import CommandLine, command_line, open_kit, open_records
from contextkit_tasks import TaskStack

BEGIN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
PLUGIN = Path(__file__).parent.parent


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source on a real store on disk."""
    with open_records(tmp_path / "store", "tasks", model="none") as opened:
        yield opened


@pytest.fixture
def stack(records: Records) -> TaskStack:
    """The project's default stack, whose clock goes on by a minute with every look at it."""
    looks = iter(range(1_000_000))
    return TaskStack(records, clock=lambda: BEGIN + timedelta(minutes=next(looks)))


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    plugins = {"tasks": contextkit_tasks}
    with open_kit(tmp_path, plugins, settings={"embedding.model": "none"}) as opened:
        yield opened


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    with command_line(tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened
