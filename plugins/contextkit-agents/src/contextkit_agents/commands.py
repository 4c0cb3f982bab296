"""`contextkit install` and `contextkit uninstall`."""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contextkit.agent import offered_adapters
from contextkit.cli import Session, pass_session
from contextkit.errors import ContextKitError, PluginError, in_words

if TYPE_CHECKING:
    from contextkit.cli import Command
    from contextkit.models import AgentAdapter, AgentFile, Scope
    from contextkit_agents.installing import Plan


class _AgentOption(click.Option):
    """`--agent`, whose help names the agents that plugins offer."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        known = ", ".join(offered_adapters(ctx.find_root().obj.registry))
        self.help = f"Only this agent; repeatable: {known}."
        return super().get_help_record(ctx)


def _options(command: Command) -> Command:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show all changes, and write nothing."),
        click.option("--yes", is_flag=True, help="Do not ask before writing."),
        click.option(
            "--to",
            "shared",
            metavar="FOLDER",
            type=click.Path(file_okay=False, path_type=Path),
            help="Folder of plugins to share, such as a marketplace.",
        ),
        click.option("--user", "scope", flag_value="user", help="For all your projects."),
        click.option(
            "--project",
            "scope",
            flag_value="project",
            default=True,
            help="For this project; the default.",
        ),
        click.option("--agent", "names", cls=_AgentOption, metavar="NAME", multiple=True),
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

    Each gets hooks, the MCP server and a skill, as far as it has them. New files are named and
    changes of others shown first, and asked for one agent at a time. Existing settings stay, and
    a file that is not valid is refused.
    """
    adapters = offered_adapters(session.registry)
    chosen = _named(adapters, names) or [a for a in adapters.values() if _is_installed(a)]
    if not chosen:
        raise click.UsageError(
            f"No coding agent was found. Name one with --agent: {', '.join(adapters)}."
        )
    if not importlib.metadata.entry_points(group="contextkit", name="mcp"):
        session.warn("contextkit-mcp is not installed: the MCP server is left out")
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
    idle, waiting = [], False
    for adapter in adapters:
        # A plan is made after the one before was carried out: agents may share a file.
        plan = Plan(adapter.name)
        try:
            files = _files(session, adapter, scope, shared)
            getattr(plan, action)(files)
            may_write = yes or not plan.changes or _can_ask()
            _show(session, plan, brief=may_write and not dry_run)
            if not plan.changes:
                idle.append(adapter.name)
            waiting |= not (may_write or dry_run)
            question = f"{action.capitalize()} for {adapter.title}?"
            if dry_run or not may_write:
                continue
            if yes or not plan.changes or click.confirm(question, err=True):
                _carry_out(session, plan)
                if plan.changes and action == "install" and not shared:
                    session.warn(adapter.afterwards)
        except ContextKitError as error:
            refused.append(error)
    if idle and (action == "install" or len(idle) == len(adapters)):
        done = "nothing to do" if action == "install" else "not installed"
        session.warn(f"{done}: {', '.join(idle)}")
    for each in refused if waiting else refused[:-1]:
        session.warn(str(each))
    if waiting:
        raise click.UsageError("Nothing was written: add --yes to write without being asked.")
    if refused:
        raise refused[-1]


def _can_ask() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _files(
    session: Session, adapter: AgentAdapter, scope: Scope, shared: Path | None
) -> Sequence[AgentFile]:
    from contextkit.indexing import find_workspace
    from contextkit_agents.errors import SettingsFileError
    from contextkit_agents.ours import offer_for

    offer = offer_for(adapter, shared=shared is not None)
    if shared is not None:
        scope, folder = "folder", shared.expanduser().resolve()
    elif scope == "user":
        folder = Path.home()
    else:
        folder = find_workspace(Path(session.folder)).root
    try:
        files = adapter.files(offer, scope, folder)
    except Exception as error:
        # The adapter may be another plugin's.
        raise PluginError(f"the adapter '{adapter.name}' failed: {in_words(error)}") from error
    for file in files if scope == "project" else ():
        # A repository may come with links, while those of a user's own settings are kept.
        target = file.path.resolve()
        if not target.is_relative_to(folder):
            raise SettingsFileError(
                file.path, f"a link leads out of the project, to {target}: replace it first"
            )
    return files


def _show(session: Session, plan: Plan, *, brief: bool) -> None:
    for remark in plan.remarks:
        session.warn(f"{plan.agent}: {remark}")
    for change in plan.changes:
        shown = change.difference.rstrip("\n")
        if brief and (change.before is None or change.after is None):
            shown = f"{'new' if change.after else 'delete'}: {change.file}"
        session.emit(None, shown, as_json=False)


def _carry_out(session: Session, plan: Plan) -> None:
    plan.carry_out()
    for change in plan.changes:
        session.warn(f"{'removed' if change.after is None else 'wrote'} {change.file}")
