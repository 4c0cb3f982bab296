"""`contextkit install` and `contextkit uninstall`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contextkit.agent import offered_adapters
from contextkit.cli import Session, pass_session
from contextkit.errors import ContextKitError

if TYPE_CHECKING:
    from contextkit.cli import Command
    from contextkit.models import AgentAdapter, AgentFile, Scope
    from contextkit_agents.installing import Plan


def _options(command: Command) -> Command:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show the changes, and write nothing."),
        click.option("--yes", is_flag=True, help="Do not ask before writing."),
        click.option(
            "--to",
            "shared",
            metavar="FOLDER",
            type=click.Path(file_okay=False, path_type=Path),
            help="Write plugins to share, such as a marketplace, into this folder.",
        ),
        click.option("--user", "scope", flag_value="user", help="For all your projects."),
        click.option(
            "--project",
            "scope",
            flag_value="project",
            default=True,
            help="For this project; the default.",
        ),
        click.option(
            "--agent", "names", metavar="NAME", multiple=True, help="Only this agent; repeatable."
        ),
    ):
        command = option(command)
    return command


@click.command(
    epilog="""\b
Examples:
  contextkit install
  contextkit install --agent codex --user --dry-run
  contextkit install --agent claude-code --agent codex --to ~/marketplace
"""
)
@_options
@pass_session
def install(
    session: Session,
    names: Sequence[str],
    scope: Scope,
    shared: Path | None,
    yes: bool,
    dry_run: bool,
) -> None:
    """Connect the coding agents that are installed.

    Each gets hooks, the MCP server and a skill, as far as it has them. The changes are shown
    first, and asked for one agent at a time. Existing settings stay, and a file that is not valid
    is refused.
    """
    adapters = offered_adapters(session.registry)
    chosen = _named(adapters, names) or [a for a in adapters.values() if _is_installed(a)]
    if not chosen:
        raise click.UsageError(
            f"No coding agent was found. Name one with --agent: {', '.join(adapters)}."
        )
    _run(session, chosen, scope, shared, "install", yes=yes, dry_run=dry_run)


@click.command(
    epilog="""\b
Examples:
  contextkit uninstall
  contextkit uninstall --agent codex --user --yes
"""
)
@_options
@pass_session
def uninstall(
    session: Session,
    names: Sequence[str],
    scope: Scope,
    shared: Path | None,
    yes: bool,
    dry_run: bool,
) -> None:
    """Disconnect coding agents: remove everything that `install` added."""
    adapters = offered_adapters(session.registry)
    chosen = _named(adapters, names) or list(adapters.values())
    _run(session, chosen, scope, shared, "uninstall", yes=yes, dry_run=dry_run)


def _named(adapters: Mapping[str, AgentAdapter], names: Sequence[str]) -> list[AgentAdapter]:
    for name in names:
        if name not in adapters:
            raise click.UsageError(f"There is no agent '{name}': use {', '.join(adapters)}.")
    return [adapters[name] for name in dict.fromkeys(names)]


def _is_installed(adapter: AgentAdapter) -> bool:
    home = Path.home()
    return any(shutil.which(program) for program in adapter.programs) or any(
        (home / folder).is_dir() for folder in adapter.folders
    )


def _run(
    session: Session,
    adapters: Sequence[AgentAdapter],
    scope: Scope,
    shared: Path | None,
    action: str,
    *,
    yes: bool,
    dry_run: bool,
) -> None:
    from contextkit_agents.installing import Plan

    refused: list[ContextKitError] = []
    waiting, idle = False, []
    for adapter in adapters:
        # A plan is made after the one before was carried out: agents may share a file.
        plan = Plan(adapter.name)
        try:
            getattr(plan, action)(_files(session, adapter, scope, shared))
            for remark in plan.remarks:
                session.warn(f"{adapter.name}: {remark}")
            for change in plan.changes:
                session.emit(None, change.difference.rstrip("\n"), as_json=False)
            if not plan.changes:
                idle.append(adapter.name)
            elif not (yes or dry_run or _can_ask()):
                waiting = True
                continue
            if not dry_run and (
                yes
                or not plan.changes
                or click.confirm(f"{action.capitalize()} for {adapter.title}?", err=True)
            ):
                _carry_out(session, adapter, plan, action)
        except ContextKitError as error:
            refused.append(error)
    if idle and (action == "install" or len(idle) == len(adapters)):
        done = "already installed" if action == "install" else "not installed"
        session.warn(f"{done}: {', '.join(idle)}")
    if waiting:
        raise click.UsageError("Nothing was written: add --yes to write without being asked.")
    for each in refused[:-1]:
        session.warn(str(each))
    if refused:
        raise refused[-1]


def _can_ask() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _files(
    session: Session, adapter: AgentAdapter, scope: Scope, shared: Path | None
) -> Sequence[AgentFile]:
    from contextkit.indexing import find_workspace
    from contextkit_agents.ours import offer_for

    offer = offer_for(adapter, shared=shared is not None)
    if shared is not None:
        return adapter.files(offer, "folder", shared.expanduser().resolve())
    if scope == "user":
        return adapter.files(offer, "user", Path.home())
    return adapter.files(offer, "project", find_workspace(Path(session.folder)).root)


def _carry_out(session: Session, adapter: AgentAdapter, plan: Plan, action: str) -> None:
    plan.carry_out()
    for change in plan.changes:
        session.warn(f"{'removed' if change.after is None else 'wrote'} {change.file}")
    if plan.changes and action == "install" and adapter.afterwards:
        session.warn(adapter.afterwards)
