"""Claude Agent SDK: hooks that give an agent context, and the MCP server."""

from __future__ import annotations

from collections import OrderedDict
from typing import Unpack

from claude_agent_sdk import HookContext, HookInput, HookMatcher
from claude_agent_sdk.types import HookEvent, HookJSONOutput, McpStdioServerConfig

from contextkit import RequestOptions
from contextkit_frameworks.contexts import Contexts, Kit, key_of

_MOST_SESSIONS = 1_000


class _Hooks:
    """Hooks of an agent's sessions, and what each session was shown."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts
        self._shown: OrderedDict[str, list[str]] = OrderedDict()

    async def prompt(self, event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        """Answer a prompt with its context."""
        if event["hook_event_name"] != "UserPromptSubmit":
            return {}
        shown = self._session(event["session_id"])
        context = await self._contexts.aget(event["prompt"], shown)
        if context is None:
            return {}
        shown += [key_of(item) for item in context.items]
        return {
            "hookSpecificOutput": {
                "hookEventName": "UserPromptSubmit",
                "additionalContext": context.markdown,
            }
        }

    async def compaction(self, event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        """Forget what a session was shown, since its summary may lack it."""
        self._shown.pop(event["session_id"], None)
        return {}

    def _session(self, name: str) -> list[str]:
        shown = self._shown.setdefault(name, [])
        self._shown.move_to_end(name)
        if len(self._shown) > _MOST_SESSIONS:
            self._shown.popitem(last=False)
        return shown


def hooks(kit: Kit, **options: Unpack[RequestOptions]) -> dict[HookEvent, list[HookMatcher]]:
    """Return hooks for `ClaudeAgentOptions`, which give each prompt its context.

    An item is shown once per session, and again after a compaction.

    Args:
        kit: what assembles; the caller opens and closes it.
        options: options of each request, such as `max_tokens` or `sources`.
    """
    answering = _Hooks(Contexts(kit, options))
    return {
        "UserPromptSubmit": [HookMatcher(hooks=[answering.prompt])],
        "PreCompact": [HookMatcher(hooks=[answering.compaction])],
    }


def mcp_server() -> McpStdioServerConfig:
    """Return the contextkit MCP server of the agent's folder, which needs contextkit-mcp."""
    return {"type": "stdio", "command": "contextkit", "args": ["mcp"]}
