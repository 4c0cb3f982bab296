"""`contextkit serve`."""

from __future__ import annotations

import os

import click

from contextkit.cli.session import Session, json_option, pass_session
from contextkit.errors import ContextKitError

_SECONDS = 5.0


@click.command(
    epilog="""\b
Examples:
  contextkit serve
  contextkit serve --status --json
  contextkit serve --stop
"""
)
@click.option(
    "--idle-minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Exit after this idle time; default: hooks.idle_minutes.",
)
@click.option("--status", "task", flag_value="status", help="Show whether the server is running.")
@click.option("--stop", "task", flag_value="end", help="Stop the running server.")
@json_option
@pass_session
def serve(session: Session, idle_minutes: float | None, task: str | None, as_json: bool) -> None:
    """Run the background server for agent hooks.

    It listens on a local socket that only you can reach, one for each CONTEXTKIT_HOME. You do not
    need to start it: a hook does so. It exits when it has been idle for a while.

    While it runs, it also does the work of `assemble`, `explain` and `premortem` whose output is
    not a terminal. CONTEXTKIT_HOOKS_RESIDENT=no prevents that.
    """
    if task is not None:
        _ask(session, task, as_json)
        return
    from contextkit.agent.running import run_here
    from contextkit.cli.background import run_command

    minutes = session.config.hooks.idle_minutes if idle_minutes is None else idle_minutes
    served = run_here(minutes * 60, str(session.folder), run_command)
    if served is None:
        raise ContextKitError("found no folder for a socket that only you can reach")
    if not served:
        session.warn("a server is already running: see `contextkit serve --status`")


def _ask(session: Session, task: str, as_json: bool) -> None:
    from contextkit.agent.client import ask

    answer = ask({"op": task}, os.environ, _SECONDS)
    said = "ended" if task == "end" else "running"
    text = f"{said}: process {answer['pid']}" if answer else "no server is running"
    session.emit({"running": bool(answer and task == "status"), **(answer or {})}, text, as_json)
