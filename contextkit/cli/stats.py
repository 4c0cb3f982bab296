"""`contextkit stats`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from contextkit.cli.options import Days
from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session

if TYPE_CHECKING:
    from contextkit.agent.given import SourceUse, Use

_DAY_SECONDS = 86_400.0
_HEADINGS = ["SOURCE", "ITEMS", "OF A FILE", "USED", "SHARE"]


@click.command(
    epilog="""\b
Examples:
  contextkit stats
  contextkit stats --days 7 --all
"""
)
@click.option(
    "--days",
    type=Days(1),
    metavar="DAYS",
    default=30,
    show_default=True,
    help="How far to look back, as in 7 or 7d.",
)
@click.option("--all", "everywhere", is_flag=True, help="Count all workspaces, not only this one.")
@json_option
@pass_session
def stats(session: Session, days: int, everywhere: bool, as_json: bool) -> None:
    """Show what agents were given and used.

    An item counts as used if the agent read or changed its file afterwards, in the same session.
    Items without a file, such as memories, cannot be judged so. The numbers come from the agent's
    hooks: an agent without hooks for its tools has none.
    """
    from attrs import asdict

    from contextkit.agent.given import read_given, use_of

    since, workspace = time.time() - days * _DAY_SECONDS, str(session.workspace)
    use = use_of(
        entry
        for entry in read_given()
        if entry.at >= since and (everywhere or entry.workspace == workspace)
    )
    session.emit(asdict(use), "\n".join(_lines(use, days)), as_json)


def _lines(use: Use, days: int) -> Iterator[str]:
    if not use.contexts:
        yield f"no agent was given a context in the last {days} days"
        yield "`contextkit install` connects an agent; `--all` counts other projects"
        return
    median = statistics.median(use.seconds)
    slow = use.seconds[int(len(use.seconds) * 0.95)]
    yield f"contexts: {use.contexts:,}; sessions: {use.sessions:,}; tokens: {use.tokens:,}"
    yield f"each took: median {median * 1000:,.0f} ms, 95% within {slow * 1000:,.0f} ms"
    if use.touched:
        yield (
            f"files that agents read or changed: {use.touched:,}; "
            f"{use.touched_after:,} of them ({use.touched_after / use.touched:.0%}) were in an "
            f"earlier context"
        )
    yield ""
    yield table(_HEADINGS, [_cells(source) for source in use.sources])


def _cells(use: SourceUse) -> list[str]:
    share = f"{use.used / use.with_file:.0%}" if use.with_file else "-"
    counts = (use.items, use.with_file, use.used)
    return [use.source, *(f"{count:,}" for count in counts), share]
