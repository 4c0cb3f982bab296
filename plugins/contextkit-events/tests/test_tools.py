"""The tools of the source, called as an agent's host calls them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_events
from contextkit import ContextKit
from contextkit.agent.tools import offered_tools
from contextkit.testing import ToolCaller, open_kit
from contextkit_events import EventLog, InvalidEventError


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    with open_kit(tmp_path, {"events": contextkit_events}) as opened:
        yield opened


@pytest.fixture
def call(kit: ContextKit) -> ToolCaller:
    """Calls a tool by its name."""
    return ToolCaller(kit)


def test_what_is_offered(kit: ContextKit) -> None:
    """Two tools, one of which only reads."""
    offered = offered_tools(kit.registry)
    assert [(name, offer.tool.read_only) for name, offer in offered.items()] == [
        ("list_events", True),
        ("record_event", False),
    ]
    assert offered["record_event"].input_schema["required"] == ["kind"]


async def test_what_is_recorded_is_in_the_log(kit: ContextKit, call: ToolCaller) -> None:
    """The tools and `EventLog` are two ways to the same records."""
    made = await call("record_event", kind="error", text="boom", session="a")
    (event,) = EventLog(kit.records("events")).list()
    assert event.as_dict() == made.data
    assert made.text == f"Logged {event.id} in the session a: Error: boom"
    await call("record_event", kind="note", text="more")
    listed = await call("list_events", session="a", limit=1)
    assert [found["text"] for found in listed.data["events"]] == ["more"]
    assert listed.data["total"] == 2
    assert listed.text.endswith("1 of 2 events")
    assert (await call("list_events", kind="turn")).text == "No events."


async def test_what_is_wrong_is_said(call: ToolCaller) -> None:
    """In one line, as every tool does."""
    with pytest.raises(InvalidEventError, match="needs a path"):
        await call("record_event", kind="file_read")
