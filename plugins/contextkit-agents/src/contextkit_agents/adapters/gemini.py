"""Gemini CLI: an extension for the user, or settings of a project.

It follows the documentation of Gemini CLI 0.56. Timeouts are milliseconds. An event comes before
the history is compressed, and none after it.
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

TITLE = "Gemini CLI"
LOOKED_UP = "0.56"
PROGRAMS = ("gemini",)
FOLDERS = (".gemini",)
AFTERWARDS = "Restart Gemini CLI."

EVENTS = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
}
_FIELDS = {"prompt_response": "last_assistant_message"}
_TOOLS = {
    "run_shell_command": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "replace": "Edit",
}
_EXIT = r"(?m)^Exit Code: (\d{1,9})$"


def read(event: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an event."""
    made = translate_event(event, events=EVENTS, fields=_FIELDS, tools=_TOOLS)
    prompt = made.get("prompt")
    # Gemini puts what a session's start gave before the first prompt.
    if isinstance(prompt, str) and prompt.startswith("<hook_context>"):
        made["prompt"] = prompt.partition("</hook_context>")[2].lstrip()
    response = made.get("tool_response")
    told = response.get("llmContent") if isinstance(response, dict) else None
    if isinstance(told, str):
        import re

        code = re.search(_EXIT, told)
        made["tool_response"] = {"output": told, "exit_code": int(code[1]) if code else 0}
    return made


def answer(event: str, context: str) -> Mapping[str, Any] | None:
    """Format a context."""
    return context_output({ours: own for own, ours in EVENTS.items()}.get(event, event), context)


def files(offer: AgentOffer, scope: Scope, folder: Path) -> Sequence[AgentFile]:
    """Return the files of Gemini CLI."""
    from contextkit.models import AgentFile

    command = {"type": "command", "command": shapes.shell_command(offer)}
    hook = {"name": shapes.NAME, **command, "timeout": offer.seconds * 1000}
    events = {event: "|".join(_TOOLS) if event == "AfterTool" else None for event in EVENTS}
    hooks = {"hooks": shapes.groups(events, hook)}
    servers = shapes.under("mcpServers", shapes.server(offer))
    if scope == "project":
        settings = AgentFile(folder / ".gemini" / "settings.json", {**hooks, **servers})
        return [settings, shapes.skill(folder / ".agents", offer)]
    own = folder / (".gemini/extensions/contextkit" if scope == "user" else "gemini")
    about = {key: value for key, value in shapes.about(offer).items() if key != "author"}
    manifest = shapes.json_file(own / "gemini-extension.json", {**about, **servers})
    return [manifest, shapes.json_file(own / "hooks/hooks.json", hooks), shapes.skill(own, offer)]
