"""Handlers for tools: list and call those of a kit."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import mcp_types as types
from attrs import define, field
from mcp import MCPError
from mcp.server.context import ServerRequestContext

from contextkit import ContextKit
from contextkit.agent import OfferedTool, call_tool, log_failure, offered_tools
from contextkit.errors import ContextKitError, PluginError
from contextkit.models import Tool, ToolResult
from contextkit.text import visible
from contextkit_mcp.built_in_tools import built_in_tools, shows_all
from contextkit_mcp.live_kit import LiveKit
from contextkit_mcp.relay import ProgressRelay

_LONGEST_NAME = 100

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

Context = ServerRequestContext[Any, Any]


@define(eq=False)
class ToolHandlers:
    """Lists and calls tools.

    Attributes:
        live: the kit.
    """

    live: LiveKit
    _made_for: tuple[object, ...] = field(default=(), init=False)
    _tools: Mapping[str, OfferedTool] = field(factory=dict, init=False)

    async def list_tools(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await self.listing())

    async def listing(self) -> list[types.Tool]:
        """Return the tools as clients see them."""
        await self.live.refresh()
        with self.live.using() as kit:
            offered = self.offered(kit).values()
            if shows_all(kit):
                return [_in_full(each) for each in offered]
            return [_for_clients(each) for each in offered if each.tool.name not in LESS_USED]

    async def call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        await self.live.refresh()
        with self.live.using() as kit:
            tools = self.offered(kit)
            if params.name not in tools:
                raise MCPError(types.INVALID_PARAMS, unknown("tool", params.name, tools))
            try:
                result = await called(kit, tools[params.name], params.arguments or {}, context)
            except ContextKitError as error:
                said = types.TextContent(text=in_words_of_tools(error, tools))
                return types.CallToolResult(content=[said], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)], structured_content=result.data
        )

    def offered(self, kit: ContextKit) -> Mapping[str, OfferedTool]:
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


async def called(
    kit: ContextKit, offered: OfferedTool, arguments: Mapping[str, Any], context: Context
) -> ToolResult[dict[str, Any]]:
    """Call a tool, sending its progress.

    Raises what `call_tool` raises.
    """
    relay = ProgressRelay(context.session.report_progress)
    sending = asyncio.create_task(relay.send_all())
    try:
        return await call_tool(kit, offered, arguments, relay.report)
    except asyncio.CancelledError:
        relay.give_up()
        sending.cancel()
        raise
    finally:
        relay.close()
        with contextlib.suppress(asyncio.CancelledError):
            await sending


_COMMAND = re.compile(r"`contextkit ((?>[a-z]+(?: [a-z]+)?) ?)[^`]{0,80}`")


def in_words_of_tools(error: ContextKitError, tools: Iterable[str]) -> str:
    """Return an error's text with the equivalent tools in place of commands."""

    def replaced(found: re.Match[str]) -> str:
        words = found[1].split()
        fitting = (name for name in tools if _does(name.split("_"), words))
        tool = next(fitting, None)
        return f"`{tool}`" if tool else found[0]

    return _COMMAND.sub(replaced, visible(str(error)))


def _does(tool: Sequence[str], command: Sequence[str]) -> bool:
    """Return whether a tool matches a command.

    `list_memories` is `memories list`, and `push_task` is `task push`.
    """
    verb, *of = reversed(command)
    return tool[0] == verb and len(tool) == len(command) and all(map(str.startswith, tool[1:], of))


def unknown(what: str, name: str, known: Collection[str]) -> str:
    """Describe a name that does not exist, with the nearest one or all of them."""
    nearest = difflib.get_close_matches(name[:_LONGEST_NAME], known, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"there is: {', '.join(known)}"
    return f"there is no {what} '{visible(name[:_LONGEST_NAME])}'; {hint}"


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
