"""Copilot in VS Code and as a CLI: hook files, and MCP servers.

It follows the references of hooks of VS Code (July 2026) and of GitHub Copilot (2026). Both read
`.github/hooks`. VS Code takes no context from a prompt's hook, so it comes with the first tool; the
CLI takes it. VS Code reads the context in `hookSpecificOutput`, the CLI at the top.
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

TITLE = "VS Code and Copilot CLI"
LOOKED_UP = "July 2026"
PROGRAMS = ("code", "copilot")
FOLDERS = (".copilot", ".vscode")
AFTERWARDS = "Restart VS Code, and start the MCP server contextkit there; or restart the CLI."

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop")
_FIELDS = {
    "sessionId": "session_id",
    "hookEventName": "hook_event_name",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "tool_result": "tool_response",
}
_TOOLS = {
    **dict.fromkeys(("bash", "powershell", "runInTerminal", "run_in_terminal"), "Bash"),
    **dict.fromkeys(("view", "readFile", "read_file"), "Read"),
    **dict.fromkeys(("create", "createFile", "create_file"), "Write"),
    **dict.fromkeys(("edit", "editFiles", "replace_string_in_file", "apply_patch"), "Edit"),
}


def read(event: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an event."""
    made = translate_event(event, fields=_FIELDS, tools=_TOOLS)
    # Only VS Code names its transcript with a prompt.
    asked = made.get("hook_event_name") == "UserPromptSubmit"
    made["answer_later"] = asked and "transcript_path" in event
    response = made.get("tool_response")
    if isinstance(response, dict) and "text_result_for_llm" in response:
        made["tool_response"] = response["text_result_for_llm"]
    return made


def answer(event: str, context: str) -> Mapping[str, Any] | None:
    """Format a context, for both programs."""
    told = context_output(event, context)
    return None if told is None else {"additionalContext": context, **told}


def files(offer: AgentOffer, scope: Scope, folder: Path) -> Sequence[AgentFile]:
    """Return the files of VS Code and of the Copilot CLI."""
    from contextkit.models import AgentFile

    if scope == "folder":
        return []
    command = {"type": "command", "command": shapes.shell_command(offer)}
    hooks = {event: [{**command, "timeout": offer.seconds}] for event in EVENTS}
    hook_file = folder / (".copilot" if scope == "user" else ".github") / "hooks/contextkit.json"
    if scope == "user":
        path, key, kind = folder / ".copilot/mcp-config.json", "mcpServers", {"type": "local"}
        servers = shapes.server(offer, **kind, tools=["*"])
    else:
        path, key = folder / ".vscode/mcp.json", "servers"
        servers = shapes.server(offer, type="stdio")
    found = [
        shapes.json_file(hook_file, {"version": 1, "hooks": hooks}),
        shapes.skill(folder / ".agents", offer),
    ]
    return [*found, AgentFile(path, {key: servers})] if servers else found
