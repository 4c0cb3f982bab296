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
@click.option("--dry-run", is_flag=True, help="Delete nothing, only tell what would go.")
@json_option
@pass_session
def prune(session: Session, as_json: bool, sources: tuple[str, ...], dry_run: bool) -> None:
    """Delete the records that are not kept: too old, or too many.

    How long a SOURCE's records are kept, and how many, is `keep_days` and `keep_records` of
    [sources.NAME] in your own config.toml. What a source brings up to date with the workspace
    stays. Without a SOURCE, all that are on.
    """
    from attrs import asdict

    names = tuple(dict.fromkeys(sources))
    pruned = session.kit.prune(names or None, dry_run=dry_run)
    for name in names:
        if name not in pruned:
            session.warn(f"{name}: everything is kept")
    rows = [
        [name, *(f"{count:,}" for count in (one.too_old, one.too_many, one.left))]
        for name, one in pruned.items()
    ]
    headings = ["SOURCE", "TOO OLD", "TOO MANY", "LEFT"]
    text = table(headings, rows) if rows else "everything is kept"
    session.emit({name: asdict(one) for name, one in pruned.items()}, text, as_json)
    if dry_run and rows:
        session.warn("nothing was deleted: --dry-run")
