"""MCP server: list and call the tools of a kit."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import anyio
import mcp_types as types
from attrs import define, field
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler

import contextkit
from contextkit import ContextKit
from contextkit.agent import OfferedTool, call_tool, log_failure, offered_tools
from contextkit.errors import ContextKitError, PluginError
from contextkit.models import Tool
from contextkit.text import visible
from contextkit_mcp.announcing import Announcer
from contextkit_mcp.built_in_tools import built_in_tools, shows_all
from contextkit_mcp.live_kit import LiveKit
from contextkit_mcp.relay import ProgressRelay

LOOK_SECONDS = 1.0
"""Seconds between two checks for changed tools."""

LESS_USED = frozenset(
    {
        *("explain", "index", "list_documents", "list_events", "list_experiences"),
        *("update_experience", "push_task", "pop_task", "show_tasks", "task_context"),
        *("add_pattern", "list_patterns", "pattern_applied", "remove_pattern"),
        *("find_related", "relate_entities", "unrelate_entities", "remember_entity"),
        *("forget_entity", "record_event", "report_open_files"),
    }
)
"""Tools listed with `tools = "all"` only.

Those of other plugins are always listed.
"""

_INSTRUCTIONS = (
    "contextkit knows this project: its code and history, what was remembered, and what was tried. "
    "Call assemble_context before you begin with a task or answer a question about the project. "
    "Call remember for what will be worth knowing in a later session."
)

_Context = ServerRequestContext[Any, Any]


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
    handlers = _Handlers(live)

    @contextlib.asynccontextmanager
    async def watching(_: Server[None]) -> AsyncIterator[None]:
        # Listed before the first client sees them, so that no later change is missed.
        seen = await handlers.listing()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, handlers, announcer, seen)
            yield
            tasks.cancel_scope.cancel()

    server = _ChangingServer(
        "contextkit",
        version=contextkit.__version__,
        title="contextkit",
        instructions=_INSTRUCTIONS,
        lifespan=watching,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call,
        on_subscriptions_listen=ListenHandler(announcer.bus),
    )
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, announcer.add_client
    )
    return server


async def _watch(handlers: _Handlers, announcer: Announcer, announced: list[types.Tool]) -> None:
    """Announce every change of the tools or their descriptions."""
    while True:
        await anyio.sleep(LOOK_SECONDS)
        listing = await handlers.listing()
        if listing != announced:
            announced = listing
            await announcer.announce()


@define(eq=False)
class _Handlers:
    """The server's request handlers.

    Attributes:
        live: the kit.
    """

    live: LiveKit
    _made_for: tuple[object, ...] = field(default=(), init=False)
    _tools: Mapping[str, OfferedTool] = field(factory=dict, init=False)

    async def list_tools(
        self, _: _Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await self.listing())

    async def listing(self) -> list[types.Tool]:
        """Return the tools as clients see them."""
        await self.live.refresh()
        with self.live.using() as kit:
            offered = self._offered(kit).values()
            if shows_all(kit):
                return [_in_full(each) for each in offered]
            return [_for_clients(each) for each in offered if each.tool.name not in LESS_USED]

    async def call(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        await self.live.refresh()
        with self.live.using() as kit:
            tools = self._offered(kit)
            if params.name not in tools:
                raise MCPError(types.INVALID_PARAMS, _unknown(params.name, tools))
            result = await _called(kit, tools[params.name], params.arguments or {}, context)
            return _speaking_of_tools(result, tools) if result.is_error else result

    def _offered(self, kit: ContextKit) -> Mapping[str, OfferedTool]:
        """Return contextkit's own tools, then those of the plugins."""
        states = [(plugin.name, plugin.state) for plugin in kit.registry.plugins]
        made_for = (kit, self.live.problem, *states)
        if made_for != self._made_for:
            self._tools, self._made_for = _all_tools(kit, self.live.problem), made_for
        return self._tools


def _all_tools(kit: ContextKit, problem: str | None) -> Mapping[str, OfferedTool]:
    notes = [f"the configuration is still the one before: {problem}"] if problem else []

    def failed(plugin: str, hook: str, reason: str) -> None:
        log_failure(plugin, hook, reason)
        notes.append(f"the tools of '{plugin}' are missing: {reason}")

    try:
        others = offered_tools(kit.registry, failed)
    except PluginError as error:
        # A source that was enabled meanwhile has a tool of a name that is taken.
        others = {}
        notes.append(f"the tools of the plugins are missing: {error}")
    own = {o.tool.name: o for o in built_in_tools(kit, notes, in_full=shows_all(kit))}
    notes += [
        f"the tool '{name}' of '{others[name].plugin}' is left out: contextkit has one"
        for name in sorted(own.keys() & others.keys())
    ]
    return {**own, **others, **own}


async def _called(
    kit: ContextKit, offered: OfferedTool, arguments: Mapping[str, Any], context: _Context
) -> types.CallToolResult:
    """Call a tool, sending its progress."""
    relay = ProgressRelay(context.session.report_progress)
    sending = asyncio.create_task(relay.send_all())
    try:
        result = await call_tool(kit, offered, arguments, relay.report)
    except ContextKitError as error:
        said = types.TextContent(text=visible(str(error)))
        return types.CallToolResult(content=[said], is_error=True)
    except asyncio.CancelledError:
        relay.give_up()
        sending.cancel()
        raise
    finally:
        relay.close()
        with contextlib.suppress(asyncio.CancelledError):
            await sending
    return types.CallToolResult(
        content=[types.TextContent(text=result.text)], structured_content=result.data
    )


_COMMAND = re.compile(r"`contextkit ((?>[a-z]+(?: [a-z]+)?) ?)[^`]{0,80}`")


def _speaking_of_tools(
    result: types.CallToolResult, tools: Mapping[str, OfferedTool]
) -> types.CallToolResult:
    """Replace commands in an error by the equivalent tools."""

    def replaced(found: re.Match[str]) -> str:
        words = found[1].split()
        fitting = (name for name in tools if _does(name.split("_"), words))
        tool = next(fitting, None)
        return f"`{tool}`" if tool else found[0]

    said = [c for c in result.content if isinstance(c, types.TextContent)]
    return types.CallToolResult(
        content=[types.TextContent(text=_COMMAND.sub(replaced, each.text)) for each in said],
        is_error=True,
    )


def _does(tool: Sequence[str], command: Sequence[str]) -> bool:
    """Return whether a tool matches a command.

    `list_memories` is `memories list`, and `push_task` is `task push`.
    """
    verb, *of = reversed(command)
    return tool[0] == verb and len(tool) == len(command) and all(map(str.startswith, tool[1:], of))


def _unknown(name: str, tools: Mapping[str, OfferedTool]) -> str:
    nearest = difflib.get_close_matches(name, tools, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"there is: {', '.join(tools)}"
    return f"there is no tool '{name}'; {hint}"


def _for_clients(offered: OfferedTool) -> types.Tool:
    """Return a tool as clients see it, in few tokens."""
    tool, schema = offered.tool, offered.input_schema
    if not schema["required"]:
        del schema["required"]
    del schema["additionalProperties"]
    return types.Tool(
        name=tool.name,
        description=visible(tool.description),
        input_schema=schema,
        annotations=_hints(tool),
    )


def _hints(tool: Tool) -> types.ToolAnnotations | None:
    """Return hints that differ from a client's defaults.

    Only the hint that a tool is destructive does.
    """
    if tool.read_only:
        return types.ToolAnnotations(read_only_hint=True)
    return None if tool.destructive else types.ToolAnnotations(destructive_hint=False)


def _in_full(offered: OfferedTool) -> types.Tool:
    tool = offered.tool
    return types.Tool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=visible(tool.description),
        input_schema=offered.input_schema,
        output_schema=offered.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            open_world_hint=False,
        ),
    )
