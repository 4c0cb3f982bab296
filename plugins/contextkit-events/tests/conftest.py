"""Records on a real store, a log over them, and a world for real processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from contextkit import Records
from contextkit.testing import OwnUser, open_records, own_user, wait_until
from contextkit_events import EventLog


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """The records of the source, in an empty store."""
    with open_records(tmp_path / "store", "events", project="demo") as opened:
        yield opened


@pytest.fixture
def log(records: Records) -> EventLog:
    """An empty log."""
    return EventLog(records)


@frozen
class World(OwnUser):
    """A user of an agent whose events are kept, with a workspace."""

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this world gets."""
        return {**super().environment, "CONTEXTKIT_EMBEDDING_MODEL": "none"}

    def hook(self, name: str, session: str = "s1", /, **fields: Any) -> dict[str, Any]:
        """What `contextkit hook` answers an event with."""
        variables = fields.pop("variables", {})
        event = {
            "hook_event_name": name,
            "session_id": session,
            "cwd": str(self.workspace),
            **fields,
        }
        told = self.contextkit("hook", "--format", "json", given=json.dumps(event), **variables)
        answer: dict[str, Any] = json.loads(told)
        return answer

    def tool(self, tool: str, session: str = "s1", /, **fields: Any) -> dict[str, Any]:
        """The answer to a tool that was used, or, with an `error`, that failed."""
        name = "PostToolUseFailure" if "error" in fields else "PostToolUse"
        return self.hook(name, session, tool_name=tool, **fields)

    def events(self, *arguments: str) -> list[dict[str, Any]]:
        """What the log has, newest first."""
        found: list[dict[str, Any]] = json.loads(
            self.contextkit("events", "list", "--json", *arguments)
        )
        return found

    def wait_for_events(self, number: int) -> list[dict[str, Any]]:
        """The events, once there are so many; nobody waits for what feeds them."""
        found: list[dict[str, Any]] = []

        def are_there() -> bool:
            found[:] = self.events()
            return len(found) >= number

        wait_until(are_there, f"{number} events")
        return found


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], bool], str], None]:
    """Waits for a condition."""
    return wait_until


@pytest.fixture
def world() -> Iterator[World]:
    """A world with this plugin, as it is in the checkout, and an empty workspace."""
    with own_user(World) as made:
        yield made
