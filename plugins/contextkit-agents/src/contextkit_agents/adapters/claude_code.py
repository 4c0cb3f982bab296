"""Claude Code: hooks and MCP server in its settings, or a plugin in a marketplace.

It follows Claude Code 2.1.240, and the schemas of its settings, plugins and marketplaces at
SchemaStore of August 2026. Handlers are in exec form, which needs no quoting.
"""

from __future__ import annotations

from contextkit.agent import context_output
from contextkit_agents import shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from contextkit.models import AgentFile, AgentOffer, Scope

TITLE = "Claude Code"
LOOKED_UP = "2.1.240"
PROGRAMS = ("claude",)
FOLDERS = (".claude",)
AFTERWARDS = "Restart Claude Code."

_TOOLS = "Bash|Read|Write|Edit|MultiEdit|NotebookEdit"
EVENTS = {
    "SessionStart": None,
    "UserPromptSubmit": None,
    "PostToolUse": _TOOLS,
    "PostToolUseFailure": _TOOLS,
    "Stop": None,
}

read, answer = dict, context_output


def files(offer: AgentOffer, scope: Scope, folder: Path) -> Sequence[AgentFile]:
    """Return the files of Claude Code."""
    from contextkit.models import AgentFile

    program, *arguments = offer.hook
    hook = {"type": "command", "command": program, "args": arguments, "timeout": offer.seconds}
    hooks = {"hooks": shapes.groups(EVENTS, hook)}
    servers = shapes.under("mcpServers", shapes.server(offer, type="stdio"))
    if scope == "folder":
        return _marketplace(offer, folder, [("hooks/hooks.json", hooks), (".mcp.json", servers)])
    own, server_file = folder / ".claude", folder / ".mcp.json"
    if scope == "user":
        named = shapes.named_folder("CLAUDE_CONFIG_DIR")
        own, server_file = named or own, (named or folder) / ".claude.json"
    found = [AgentFile(own / "settings.json", hooks), shapes.skill(own, offer)]
    return [*found, AgentFile(server_file, servers)] if servers else found


def _marketplace(
    offer: AgentOffer, folder: Path, parts: Sequence[tuple[str, dict[str, Any]]]
) -> list[AgentFile]:
    about, plugin = shapes.about(offer), folder / "claude-code"
    listed = {
        "name": shapes.NAME,
        "owner": shapes.OWNER,
        "plugins": [{**about, "source": "./claude-code"}],
    }
    return [
        shapes.json_file(folder / ".claude-plugin" / "marketplace.json", listed),
        shapes.json_file(plugin / ".claude-plugin" / "plugin.json", about),
        *(shapes.json_file(plugin / name, value) for name, value in parts if value),
        shapes.skill(plugin, offer),
    ]
