"""`contextkit hook`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from contextkit.cli.session import Session, pass_session

if TYPE_CHECKING:
    from contextkit.models.agents import AgentAdapter


@click.command(
    epilog="""\b
Examples:
  contextkit hook < event.json
  contextkit hook --agent codex < event.json
  contextkit hook --off
"""
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "text"]),
    default="json",
    show_default=True,
    help="json: an object with context and items; text: the context only.",
)
@click.option(
    "--agent", metavar="NAME", help="Read and answer in this agent's format; see `install`."
)
@click.option("--off", "switch", flag_value="off", help="Turn hooks off for a session.")
@click.option("--on", "switch", flag_value="on", help="Turn hooks on again.")
@click.option(
    "--session",
    "session_id",
    metavar="ID",
    help="Session for --off and --on; default: the latest in this workspace.",
)
@pass_session
def hook(
    session: Session, form: str, agent: str | None, switch: str | None, session_id: str | None
) -> None:
    """Answer an event of a coding agent.

    The event is JSON on standard input. It has a hook_event_name (SessionStart, UserPromptSubmit,
    PostToolUse or PostToolUseFailure), a session_id, a cwd, and a prompt, or a tool_input with
    its command and a tool_response or an error. Other events get an empty answer. After a
    PreCompact, items are shown again. Plugins that listen receive every event. --agent reads the
    events of another agent, and answers in its format.

    On an error, the exit code is 0 and the answer empty; hooks/hooks.log in the data folder has
    the reason. CONTEXTKIT_HOOKS_ENABLED=false turns all hooks off.
    """
    if switch is not None:
        _switch(session, session_id, off=switch == "off")
        return
    if session_id is not None:
        raise click.UsageError("--session goes with --off or --on.")
    from contextkit.agent.hook import answer_as_json, run_hook

    if agent is not None:
        from contextkit.agent.adapters import answer_with

        adapter = _adapter(session, agent)
        if adapter is not None:
            run_hook(answer_with(adapter.answer), adapter.read, agent)
        return
    run_hook(answer_as_json if form == "json" else _as_text)


def _adapter(session: Session, agent: str) -> AgentAdapter | None:
    from contextkit.agent.adapters import offered_adapters

    adapters = offered_adapters(session.registry)
    if agent not in adapters:
        # Agents take an exit code of 2 as an order to block the user's prompt.
        session.warn(f"there is no agent '{agent}'; there are: {', '.join(adapters) or 'none'}")
    return adapters.get(agent)


def _as_text(_: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    return f"{answer['context']}\n" if answer.get("context") else ""


def _switch(session: Session, session_id: str | None, *, off: bool) -> None:
    from contextkit.agent.sessions import latest_session, switch_off
    from contextkit.workspace.find import find_workspace

    root = find_workspace(session.folder).root
    found = session_id if session_id is not None else latest_session(str(root))
    if found is None:
        raise click.UsageError(f"No session has been seen in {root}; name one with --session.")
    switch_off(found, off)
    session.warn(f"hooks are {'off' if off else 'on'} for the session {found}")
