"""`contextkit prune`."""

from __future__ import annotations

import click

from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.source_names import complete_source


@click.command(
    epilog="""\b
Examples:
  contextkit prune --dry-run
  contextkit prune events
"""
)
@click.argument("sources", metavar="[SOURCE]...", nargs=-1, shell_complete=complete_source)
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@json_option
@pass_session
def prune(session: Session, as_json: bool, sources: tuple[str, ...], dry_run: bool) -> None:
    """Delete records past their retention limit.

    The limits are keep_days and keep_records of [sources.NAME] in your own config.toml. Records
    that a source indexes from the workspace stay. Without a SOURCE, every source that is on is
    pruned.
    """
    from attrs import asdict

    names = tuple(dict.fromkeys(sources))
    pruned = session.kit.prune(names or None, dry_run=dry_run)
    for name in names:
        if name not in pruned:
            session.warn(f"{name}: nothing to delete")
    rows = [
        [name, *(f"{count:,}" for count in (one.too_old, one.too_many, one.left))]
        for name, one in pruned.items()
    ]
    headings = ["SOURCE", "TOO OLD", "TOO MANY", "LEFT"]
    text = table(headings, rows) if rows else "nothing to delete"
    session.emit({name: asdict(one) for name, one in pruned.items()}, text, as_json)
    if dry_run and rows:
        session.warn("nothing was deleted (--dry-run)")
