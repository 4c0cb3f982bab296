"""Codex CLI: hooks, MCP server and skill in its settings, or a plugin in a marketplace.

It follows Codex' documentation of hooks and plugins of August 2026, the schemas of its events in
`codex-rs/hooks`, and those of hooks and plugins at SchemaStore. Codex asks the user to trust each
hook. A patch is a tool of its own.
"""

from __future__ import annotations

from contextkit.agent import context_output, translate_event
from contextkit_agents import shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from contextkit.models import AgentFile, AgentOffer, Scope

TITLE = "Codex CLI"
LOOKED_UP = "August 2026"
PROGRAMS, FOLDERS = ("codex",), (".codex",)
AFTERWARDS = "Start Codex, and trust the hooks with /hooks."

EVENTS = {
    "SessionStart": shapes.STARTS,
    "UserPromptSubmit": None,
    "PostToolUse": "Bash|apply_patch",
    "Stop": None,
}
answer = context_output


def read(event: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an event."""
    made = translate_event(event, tools={"apply_patch": "Edit"})
    given = made.get("tool_input")
    patch = given.get("command") if isinstance(given, dict) else None
    if made.get("tool_name") == "Edit" and isinstance(patch, str):
        named = (line.partition(": ")[2] for line in patch.splitlines() if line[:4] == "*** ")
        made["tool_input"] = {"file_path": next(filter(None, named), "")}
    return made


def files(offer: AgentOffer, scope: Scope, folder: Path) -> Sequence[AgentFile]:
    """Return the files of Codex."""
    from contextkit.models import AgentFile

    hook = {"type": "command", "command": shapes.shell_command(offer), "timeout": offer.seconds}
    hooks, servers = {"hooks": shapes.groups(EVENTS, hook)}, shapes.server(offer)
    if scope == "folder":
        return _marketplace(offer, folder, hooks, shapes.under("mcpServers", servers))
    own = (shapes.named_folder("CODEX_HOME") if scope == "user" else None) or folder / ".codex"
    found = [AgentFile(own / "hooks.json", hooks), shapes.skill(folder / ".agents", offer)]
    table = shapes.under("mcp_servers", servers)
    return [*found, AgentFile(own / "config.toml", table)] if table else found


def _marketplace(
    offer: AgentOffer, folder: Path, hooks: Mapping[str, Any], servers: Mapping[str, Any]
) -> list[AgentFile]:
    plugin, named = folder / "codex", {"displayName": shapes.NAME}
    category: dict[str, Any] = {"category": "Productivity"}
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    source = {"source": {"source": "local", "path": "./codex"}, "policy": policy}
    entry = {"name": shapes.NAME, **source, **category}
    described = dict.fromkeys(("shortDescription", "longDescription"), shapes.SUMMARY)
    shown = {**named, **described, "developerName": shapes.OWNER["name"], **category}
    shown |= {"capabilities": ["Read"], "defaultPrompt": "What do we remember about retries?"}
    manifest = {**shapes.about(offer), "skills": "./skills/", "interface": shown}
    manifest |= {"mcpServers": "./.mcp.json"} if servers else {}
    listed = {"name": shapes.NAME, "interface": named, "plugins": [entry]}
    return [
        shapes.json_file(folder / ".agents/plugins/marketplace.json", listed),
        shapes.json_file(plugin / ".codex-plugin" / "plugin.json", manifest),
        shapes.json_file(plugin / "hooks" / "hooks.json", hooks),
        *([shapes.json_file(plugin / ".mcp.json", servers)] if servers else []),
        shapes.skill(plugin, offer),
    ]
