"""Adapters of coding agents: find them, and translate events and answers.

It imports almost nothing, because every hook loads it.
"""

from __future__ import annotations

from contextkit.agent.small_json import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from contextkit.models.agents import AgentAdapter
    from contextkit.plugin.manager import SourceRegistry

HOOK = "contextkit_agents"

PATHS = ("file_path", "notebook_path", "filePath", "absolute_path", "target_file", "path")
"""The names that agents' tools have for the file they read or change."""


def translate_event(
    event: Mapping[str, Any],
    *,
    events: Mapping[str, str] | None = None,
    fields: Mapping[str, str] | None = None,
    tools: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Translate an agent's event to the fields of Claude Code.

    Args:
        event: the event as the agent wrote it.
        events: the agent's name of an event -> Claude Code's: `SessionStart`, `UserPromptSubmit`,
            `PostToolUse`, `PostToolUseFailure`, `PreCompact` or `Stop`. Other names stay.
        fields: the agent's name of a field -> Claude Code's: `hook_event_name`, `session_id`,
            `cwd`, `source`, `prompt`, `tool_name`, `tool_input`, `tool_response`, `error`.
            An event with `answer_later: True` is answered with the next one: for an agent that
            takes no context from a prompt's hook.
        tools: the agent's name of a tool -> Claude Code's: `Bash`, `Read`, `Write` or `Edit`.
    """
    made = {(fields or {}).get(name, name): value for name, value in event.items()}
    for field, names in (("hook_event_name", events), ("tool_name", tools)):
        if names and field in made:
            made[field] = names.get(made[field], made[field])
    given = made.get("tool_input")
    if isinstance(given, dict) and "file_path" not in given:
        path = next((given[name] for name in PATHS if name in given), None)
        made["tool_input"] = given if path is None else {**given, "file_path": path}
    return made


def context_output(name: str, context: str) -> dict[str, Any] | None:
    """Format a context as Claude Code and the agents that follow it read it.

    Args:
        name: the agent's own name of the event.
        context: the context; nothing is printed for an empty one.
    """
    if not context:
        return None
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}


def answer_with(
    answer: Callable[[str, str], Mapping[str, Any] | None],
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], str]:
    """Return the function with which `run_hook` formats answers of an adapter."""

    def show(event: Mapping[str, Any], found: Mapping[str, Any]) -> str:
        told = answer(str(event.get("hook_event_name", "")), found.get("context") or "")
        return "" if told is None else f"{to_json(told)}\n"

    return show


def offered_adapters(registry: SourceRegistry) -> Mapping[str, AgentAdapter]:
    """Map names to the adapters of the enabled plugins.

    A plugin whose hook fails offers none; the failure is logged.

    Raises `PluginError` where two plugins offer one name.
    """
    from contextkit.plugin.checks import checked_adapters

    return registry.offered(HOOK, checked_adapters, "agent")
