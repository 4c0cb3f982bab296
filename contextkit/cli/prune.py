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
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@json_option
@pass_session
def prune(session: Session, as_json: bool, sources: tuple[str, ...], dry_run: bool) -> None:
    """Delete records past their retention limit.

    The limits of a SOURCE are `keep_days` and `keep_records` of [sources.NAME] in your own
    config.toml. Sources that index the workspace have none. Without a SOURCE, all enabled
    sources are pruned.
    """
    from attrs import asdict

    names = tuple(dict.fromkeys(sources))
    pruned = session.kit.prune(names or None, dry_run=dry_run)
    for name in names:
        if name not in pruned:
            session.warn(f"{name}: no retention limit")
    rows = [
        [name, *(f"{count:,}" for count in (one.too_old, one.too_many, one.left))]
        for name, one in pruned.items()
    ]
    headings = ["SOURCE", "TOO OLD", "TOO MANY", "LEFT"]
    text = table(headings, rows) if rows else "no retention limits"
    session.emit({name: asdict(one) for name, one in pruned.items()}, text, as_json)
    if dry_run and rows:
        session.warn("nothing was deleted: --dry-run")
