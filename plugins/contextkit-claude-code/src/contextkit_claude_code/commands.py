"""`contextkit claude-code`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contextkit.cli import Session, pass_session

if TYPE_CHECKING:
    from contextkit.cli import Command
    from contextkit_claude_code.files import Places
    from contextkit_claude_code.installing import Plan


@click.group("claude-code")
def claude_code() -> None:
    """Connect Claude Code through hooks and an MCP server."""


def _change_options(command: Command) -> Command:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show the changes, and write nothing."),
        click.option("--yes", is_flag=True, help="Do not ask before writing."),
        click.option("--user", "scope", flag_value="user", help="For all your projects."),
        click.option(
            "--project",
            "scope",
            flag_value="project",
            default=True,
            help="For this project; the default.",
        ),
    ):
        command = option(command)
    return command


@claude_code.command(
    epilog="""\b
Examples:
  contextkit claude-code install
  contextkit claude-code install --user --dry-run
"""
)
@_change_options
@pass_session
def install(session: Session, scope: str, yes: bool, dry_run: bool) -> None:
    """Add the hooks and the MCP server to Claude Code.

    The changes are shown first. Existing settings stay, and a file that is not valid is refused.
    Restart Claude Code afterwards.
    """
    from contextkit_claude_code.installing import plan_install
    from contextkit_claude_code.wanted import wanted

    plan = plan_install(_places(session, scope), wanted())
    _carry_out(session, plan, "already installed", yes=yes, dry_run=dry_run)


@claude_code.command(
    epilog="""\b
Examples:
  contextkit claude-code uninstall
  contextkit claude-code uninstall --user --yes
"""
)
@_change_options
@pass_session
def uninstall(session: Session, scope: str, yes: bool, dry_run: bool) -> None:
    """Remove everything that `install` added to Claude Code."""
    from contextkit_claude_code.installing import plan_uninstall

    plan = plan_uninstall(_places(session, scope))
    _carry_out(session, plan, "not installed", yes=yes, dry_run=dry_run)


@claude_code.command(
    epilog="""\b
Examples:
  contextkit claude-code hook < event.json
"""
)
def hook() -> None:
    """Answer an event of Claude Code.

    The event is JSON on standard input. `install` uses the script contextkit-claude-hook, which
    does the same and starts faster. On an error, the exit code is 0 and the answer empty;
    hooks/hooks.log in the data folder has the reason.
    """
    from contextkit_claude_code.hook import main

    main()


def _places(session: Session, scope: str) -> Places:
    from contextkit.indexing import find_workspace
    from contextkit_claude_code.files import project_places, user_places

    if scope == "user":
        return user_places(os.environ)
    return project_places(find_workspace(Path(session.folder)).root)


def _carry_out(session: Session, plan: Plan, nothing: str, *, yes: bool, dry_run: bool) -> None:
    from contextkit_claude_code.installing import carry_out

    for remark in plan.remarks:
        session.warn(remark)
    if not plan.changes:
        session.warn(nothing)
        return
    for change in plan.changes:
        session.emit(None, change.difference.rstrip("\n"), as_json=False)
    if dry_run:
        return
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise click.UsageError("Nothing was written: add --yes to write without being asked.")
        click.confirm("Write these changes?", abort=True, err=True)
    carry_out(plan)
    for change in plan.changes:
        session.warn(f"{'removed' if change.after is None else 'wrote'} {change.file}")
