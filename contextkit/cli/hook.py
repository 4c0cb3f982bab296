"""`contextkit hook`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from contextkit.cli.session import Session, pass_session


@click.command(
    epilog="""\b
Examples:
  contextkit hook < event.json
  contextkit hook --format text < event.json
  contextkit hook --off
"""
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "text"]),
    default="json",
    show_default=True,
    help="json: an object with context and items; text: the context alone.",
)
@click.option("--off", "switch", flag_value="off", help="Disable hooks for a session.")
@click.option("--on", "switch", flag_value="on", help="Enable them again.")
@click.option(
    "--session",
    "session_id",
    metavar="ID",
    help="The session for --off and --on; default: the last one in this workspace.",
)
@pass_session
def hook(session: Session, form: str, switch: str | None, session_id: str | None) -> None:
    """Answer a coding agent's event, JSON on standard input.

    An event has a hook_event_name (SessionStart, UserPromptSubmit, PostToolUse or
    PostToolUseFailure), a session_id, a cwd, and a prompt, or a tool_input with its command and
    a tool_response or an error. Other events get an empty answer; plugins can listen to all
    events.

    On an error the answer is empty and the exit code is 0; hooks/hooks.log beside the store has
    the reason. CONTEXTKIT_HOOKS_ENABLED=false disables all hooks.
    """
    if switch is not None:
        _switch(session, session_id, off=switch == "off")
        return
    if session_id is not None:
        raise click.UsageError("--session needs --off or --on.")
    from contextkit.agent.hook import answer_as_json, run_hook

    run_hook(answer_as_json if form == "json" else _as_text)


def _as_text(_: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    return f"{answer['context']}\n" if answer.get("context") else ""


def _switch(session: Session, session_id: str | None, *, off: bool) -> None:
    from contextkit.agent.sessions import latest_session, switch_off
    from contextkit.workspace.find import find_workspace

    root = find_workspace(session.folder).root
    found = session_id if session_id is not None else latest_session(str(root))
    if found is None:
        raise click.UsageError(f"No session was found for {root}; name one with --session.")
    switch_off(found, off)
    session.warn(f"hooks are {'off' if off else 'on'} for the session {found}")
