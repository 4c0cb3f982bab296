"""Cursor: hooks and MCP server in its settings.

It follows Cursor's documentation of hooks of 2026 (`cursor.com/docs/agent/hooks`). Its prompt hook
can only block a prompt, so that a prompt's context comes with the first tool that is used. A hook
that prints nothing counts as failed.
"""

from __future__ import annotations

from contextkit.agent import translate_event
from contextkit_agents import shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from contextkit.models import AgentFile, AgentOffer, Scope

TITLE = "Cursor"
LOOKED_UP = "2026"
PROGRAMS = ("cursor", "cursor-agent")
FOLDERS = (".cursor",)
AFTERWARDS = "Restart Cursor, and enable the MCP server contextkit in its settings."

EVENTS = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "postToolUse": "PostToolUse",
    "preCompact": "PreCompact",
    "stop": "Stop",
}
_FIELDS = {"tool_output": "tool_response", "conversation_id": "session_id"}


def read(event: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an event."""
    made = translate_event(event, events=EVENTS, fields=_FIELDS, tools={"Shell": "Bash"})
    made["answer_later"] = made.get("hook_event_name") == "UserPromptSubmit"
    roots = event.get("workspace_roots")
    if not made.get("cwd") and isinstance(roots, list) and roots:
        made["cwd"] = roots[0]
    if isinstance(made.get("tool_response"), str):
        import json

        # The output is JSON in a text.
        try:
            made["tool_response"] = json.loads(made["tool_response"])
        except ValueError:
            return made
    return made


def answer(event: str, context: str) -> Mapping[str, Any]:
    """Format a context."""
    return {"additional_context": context} if context and event else {}


def files(offer: AgentOffer, scope: Scope, folder: Path) -> Sequence[AgentFile]:
    """Return the files of Cursor."""
    from contextkit.models import AgentFile

    if scope == "folder":
        return []
    hook = {"command": shapes.shell_command(offer), "timeout": offer.seconds}
    matched = {"postToolUse": {"matcher": "Shell|Read|Write"}}
    hooks = {event: [{**hook, **matched.get(event, {})}] for event in EVENTS}
    own, servers = folder / ".cursor", shapes.under("mcpServers", shapes.server(offer))
    found = [
        AgentFile(own / "hooks.json", {"version": 1, "hooks": hooks}),
        shapes.skill(folder / ".agents", offer),
    ]
    return [*found, AgentFile(own / "mcp.json", servers)] if servers else found
