"""MCP server over a kit, which follows the kit's changes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler

import contextkit
from contextkit_mcp.announcing import Announcer
from contextkit_mcp.live_kit import LiveKit
from contextkit_mcp.resource_handlers import ResourceHandlers
from contextkit_mcp.tool_handlers import ToolHandlers

LOOK_SECONDS = 1.0
"""Seconds between two checks for changed tools."""

_INSTRUCTIONS = (
    "contextkit knows this project: its code and history, what was remembered, and what was tried. "
    "Call assemble_context before you begin with a task or answer a question about the project. "
    "Call remember for what will be worth knowing in a later session."
)


class _ChangingServer(Server[None]):
    """A server that declares changing tools in every protocol version."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def make_server(live: LiveKit) -> Server[None]:
    """Return a kit's server, which watches the kit while running."""
    announcer = Announcer()
    tools = ToolHandlers(live)
    others = ResourceHandlers(tools)

    @contextlib.asynccontextmanager
    async def watching(_: Server[None]) -> AsyncIterator[None]:
        # Listed before the first client sees them, so that no later change is missed.
        seen = await tools.listing()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, tools, announcer, seen)
            yield
            tasks.cancel_scope.cancel()

    server = _ChangingServer(
        "contextkit",
        version=contextkit.__version__,
        title="contextkit",
        instructions=_INSTRUCTIONS,
        lifespan=watching,
        on_list_tools=tools.list_tools,
        on_call_tool=tools.call,
        on_list_resources=others.list_resources,
        on_list_resource_templates=others.list_templates,
        on_read_resource=others.read_resource,
        on_list_prompts=others.list_prompts,
        on_get_prompt=others.get_prompt,
        on_completion=others.complete,
        on_subscriptions_listen=ListenHandler(announcer.bus),
    )
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, announcer.add_client
    )
    return server


async def _watch(tools: ToolHandlers, announcer: Announcer, announced: list[types.Tool]) -> None:
    """Announce every change of the tools or their descriptions."""
    while True:
        await anyio.sleep(LOOK_SECONDS)
        listing = await tools.listing()
        if listing != announced:
            announced = listing
            await announcer.announce()
