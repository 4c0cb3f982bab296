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
  contextkit prune --checkouts 90d --dry-run
"""
)
@click.argument("sources", metavar="[SOURCE]...", nargs=-1, shell_complete=complete_source)
@click.option(
    "--checkouts",
    metavar="DATE",
    help="On a server: delete the code and other indexed records of checkouts, also of other "
    "machines, that were not indexed since a date, or for 12h, 30d, 8w.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@json_option
@pass_session
def prune(
    session: Session,
    as_json: bool,
    sources: tuple[str, ...],
    checkouts: str | None,
    dry_run: bool,
) -> None:
    """Delete records past their retention limit.

    The limits are keep_days and keep_records of [sources.NAME] in your own config.toml. Records
    that a source indexes from the workspace stay. Without a SOURCE, every source that is on is
    pruned.

    With --checkouts, only records of index runs are deleted. A checkout that is still in use is
    indexed again by its next run.
    """
    from attrs import asdict

    if checkouts is not None:
        if sources:
            raise click.UsageError("--checkouts deletes the records of all sources: omit SOURCE.")
        _prune_checkouts(session, checkouts, as_json=as_json, dry_run=dry_run)
        return
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


def _prune_checkouts(session: Session, since: str, *, as_json: bool, dry_run: bool) -> None:
    from contextkit.indexing.marks import forget_checkouts, unused_checkouts
    from contextkit.text.dates import parse_since

    store = session.kit.store
    unused = unused_checkouts(store, parse_since(since, name="--checkouts"))
    if not dry_run:
        forget_checkouts(store, unused)
    rows = [
        [one.host, one.folder, f"{one.indexed_at:%Y-%m-%d}", f"{one.records:,}"] for one in unused
    ]
    text = table(["HOST", "FOLDER", "INDEXED", "RECORDS"], rows) if rows else "nothing to delete"
    data = [
        {
            "project": one.project,
            "host": one.host,
            "folder": one.folder,
            "indexed_at": one.indexed_at.isoformat(),
            "records": one.records,
        }
        for one in unused
    ]
    session.emit(data, text, as_json)
    if dry_run and rows:
        session.warn("nothing was deleted (--dry-run)")
