"""`contextkit prune`: what would go, what went, what stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit import ContextKit
from contextkit_events import EventLog

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine


@pytest.fixture
def config(home: Path) -> Path:
    """The user's own configuration."""
    return home / "config.toml"


@pytest.fixture
def old_events(contextkit: CommandLine, config: Path) -> None:
    """Two events of long ago and one of now."""
    config.write_text("[sources.events]\nkeep_days = 100000\n")
    with ContextKit.open(contextkit.folder) as kit:
        log = EventLog(kit.records("events"), kit.retention("events"))
        for when in ("2001-01-01T00:00:00Z", "2002-01-01T00:00:00Z"):
            log.add("note", text=when, session="a", created_at=when)
        log.add("note", text="now", session="a")


def test_a_dry_run_tells_what_would_go(
    contextkit: CommandLine, old_events: None, config: Path
) -> None:
    """Nothing is deleted until it is run without."""
    config.write_text("[sources.events]\nkeep_days = 3650\n")
    told = contextkit("prune", "--dry-run")
    assert [line.split() for line in told.stdout.splitlines()] == [
        ["SOURCE", "TOO", "OLD", "TOO", "MANY", "LEFT"],
        ["events", "2", "0", "1"],
    ]
    assert "nothing was deleted" in told.stderr
    assert contextkit.json("prune") == {"events": {"too_old": 2, "too_many": 0, "left": 1}}
    assert contextkit.json("prune", "events")["events"]["too_old"] == 0


def test_a_source_of_which_all_is_kept_says_so(contextkit: CommandLine) -> None:
    """Naming it does not delete anything."""
    kept = contextkit("prune", "memories")
    assert kept.exit_code == 0
    assert kept.stdout == "nothing to delete\n"
    assert "memories: nothing to delete" in kept.stderr


def test_a_mistyped_source_is_an_error(contextkit: CommandLine) -> None:
    """And nothing else is pruned for it."""
    assert "Did you mean 'events'?" in contextkit.line(2, "prune", "event")


def test_a_mistyped_time_is_named_by_its_option(contextkit: CommandLine) -> None:
    """With the forms that the help offers."""
    said = contextkit.line(2, "prune", "--checkouts", "soon")
    assert said.startswith("--checkouts must be a date as in 2026-05-01, or how long ago as in 12h")
    assert said.endswith("30d or 8w, got 'soon'")
