"""The tools of the source, called as an agent's host calls them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import contextkit_events
from contextkit import ContextKit, ToolResult
from contextkit.tool_calls import call_tool
from contextkit.tool_offers import offered_tools
from contextkit_events import EventLog, InvalidEventError

Call = Callable[..., Awaitable[ToolResult[dict[str, Any]]]]


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    with ContextKit.open(tmp_path, entry_points=False, environment={}) as opened:
        opened.register(contextkit_events, "events")
        yield opened


@pytest.fixture
def call(kit: ContextKit) -> Call:
    """Calls a tool by its name."""

    def called(name: str, /, **arguments: Any) -> Awaitable[ToolResult[dict[str, Any]]]:
        return call_tool(kit, offered_tools(kit.registry)[name], arguments)

    return called


def test_what_is_offered(kit: ContextKit) -> None:
    """Two tools, one of which only reads."""
    offered = offered_tools(kit.registry)
    assert [(name, offer.tool.read_only) for name, offer in offered.items()] == [
        ("list_events", True),
        ("record_event", False),
    ]
    assert offered["record_event"].input_schema["required"] == ["kind"]


async def test_what_is_recorded_is_in_the_log(kit: ContextKit, call: Call) -> None:
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


async def test_what_is_wrong_is_said(call: Call) -> None:
    """In one line, as every tool does."""
    with pytest.raises(InvalidEventError, match="needs a path"):
        await call("record_event", kind="file_read")
