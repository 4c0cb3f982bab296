"""Notify clients of changed tools."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import anyio
import mcp_types as types
from attrs import define, field
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

MOST_SESSIONS = 256
"""Most sessions that are notified; a further one replaces the oldest."""

_SECONDS = 5.0


@define(eq=False)
class Announcer:
    """Notifies clients of both protocols of changed tools.

    Since 2026-07-28 a client listens on a request of its own; before, every client with a session
    was notified.

    Attributes:
        bus: notifies the clients that listen.
    """

    bus: InMemorySubscriptionBus = field(factory=InMemorySubscriptionBus)
    _sessions: OrderedDict[str, ServerSession] = field(factory=OrderedDict, init=False)

    async def add_client(
        self, context: ServerRequestContext[Any, Any], _: types.NotificationParams
    ) -> None:
        """Register a client that has begun a session."""
        headers = getattr(context.request, "headers", {})
        # Standard input and output have one client, without an id.
        self._sessions[headers.get("mcp-session-id", "")] = context.session
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)

    async def announce(self) -> None:
        """Notify every client, with a timeout of five seconds each."""
        await self.bus.publish(ToolsListChanged())
        async with anyio.create_task_group() as tasks:
            for session in self._sessions.values():
                tasks.start_soon(_tell, session)


async def _tell(session: ServerSession) -> None:
    # The SDK drops messages to a client that has disconnected.
    with anyio.move_on_after(_SECONDS):
        await session.send_tool_list_changed()
