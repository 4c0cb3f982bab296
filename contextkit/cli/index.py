"""`contextkit index`, and the index run that `contextkit assemble` begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from contextkit.cli.session import Session, json_option, pass_session
from contextkit.index_run import IndexOutcome
from contextkit.models import IndexReport

__all__ = ["index", "run_index"]

_SHOWN_SKIPPED = 5


def run_index(
    session: Session, sources: Sequence[str] | None, *, wait: bool
) -> Mapping[str, IndexOutcome]:
    """Index with progress, and say on standard error what went wrong."""
    with session.progress() as report:
        outcomes = session.kit.index(sources, progress=report, wait=wait)
    for source, outcome in outcomes.items():
        if outcome.problem:
            session.warn(f"{source} was not indexed: {outcome.problem}")
    return outcomes


@click.command()
@click.argument("sources", nargs=-1)
@json_option
@pass_session
def index(session: Session, as_json: bool, sources: tuple[str, ...]) -> int:
    """Bring the sources' records up to date with the workspace.

    Only what changed since the last run is read. SOURCES are names; default: every source
    that is on.

    \b
    Example: contextkit index code
    """
    outcomes = run_index(session, sources or None, wait=True)
    data = {source: _as_data(outcome) for source, outcome in outcomes.items()}
    lines = [
        f"{source}: {_in_words(outcome.report)}"
        for source, outcome in outcomes.items()
        if outcome.report
    ]
    session.emit(data, "\n".join(lines), as_json)
    return 1 if any(outcome.problem for outcome in outcomes.values()) else 0


def _as_data(outcome: IndexOutcome) -> dict[str, object]:
    from attrs import asdict

    report = asdict(outcome.report) if outcome.report else {}
    return {**report, "problem": outcome.problem}


def _in_words(report: IndexReport) -> str:
    text = (
        f"{report.added} added, {report.updated} updated, {report.removed} removed, "
        f"{report.unchanged} unchanged"
    )
    lines = [f"  note: {note}" for note in report.notes]
    lines += [f"  skipped {what}: {why}" for what, why in report.skipped[:_SHOWN_SKIPPED]]
    if len(report.skipped) > _SHOWN_SKIPPED:
        lines.append(f"  and {len(report.skipped) - _SHOWN_SKIPPED} more skipped (--json has all)")
    return "\n".join([text, *lines])
