"""`contextkit index`, and the index run before `contextkit assemble`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.source_names import complete_source
from contextkit.errors import StoreReadOnlyError
from contextkit.text.words import counted

if TYPE_CHECKING:
    from contextkit.indexing.run import IndexOutcome
    from contextkit.models.items import IndexReport

_SHOWN_SKIPPED = 5


@click.command(
    epilog="""\b
Examples:
  contextkit index
  contextkit index code --json
"""
)
@click.argument("sources", metavar="[SOURCE]...", nargs=-1, shell_complete=complete_source)
@json_option
@pass_session
def index(session: Session, as_json: bool, sources: tuple[str, ...]) -> int:
    """Update the records from the workspace.

    Only changes since the last run are read. Without a SOURCE, every source that is on is
    updated.
    """
    _remember_plugins(session)
    with session.progress() as report:
        outcomes = session.kit.index(sources or None, progress=report)
    _warn_of_problems(session, outcomes)
    for name in dict.fromkeys(sources):
        if name not in outcomes:
            session.warn(f"{name} does not index the workspace")
    if not sources and not outcomes:
        session.warn("no source that is on indexes anything")
    data = {source: _as_data(outcome) for source, outcome in outcomes.items()}
    lines = [
        f"{source}: {_describe(outcome.report)}"
        for source, outcome in outcomes.items()
        if outcome.report
    ]
    session.emit(data, "\n".join(lines), as_json)
    failed = any(outcome.problem for outcome in outcomes.values())
    return ExitCode.FAILED if failed else ExitCode.FINE


def index_first(session: Session, sources: Sequence[str] | None, query: str = "") -> None:
    """Update the records of a context's sources before an assembly.

    What takes too long goes on in the background. A failure is only reported.
    """
    from contextkit.agent.indexing import index_for

    _remember_plugins(session)
    try:
        with session.progress() as report:
            outcomes = index_for(session.kit, query, sources, report)
    except StoreReadOnlyError as error:
        session.warn(f"not indexed: {error}")
        return
    _warn_of_problems(session, outcomes)
    for source, outcome in outcomes.items():
        for note in outcome.report.notes if outcome.report else ():
            session.warn(f"{source}: {note}")


def _remember_plugins(session: Session) -> None:
    """Remember the installed plugins, so that `contextkit doctor` notices a loss."""
    from contextkit.plugin.distributions import remember_new
    from contextkit.plugin.status import HOST

    names = {plugin.distribution for plugin in session.registry.plugins}
    remember_new(names - {HOST})


def _warn_of_problems(session: Session, outcomes: Mapping[str, IndexOutcome]) -> None:
    troubled: dict[str, list[str]] = {}
    for source, outcome in outcomes.items():
        if outcome.problem:
            troubled.setdefault(outcome.problem, []).append(source)
    for problem, names in troubled.items():
        session.warn(f"not indexed: {', '.join(names)}: {problem}")


def _as_data(outcome: IndexOutcome) -> dict[str, object]:
    from attrs import asdict

    report = asdict(outcome.report) if outcome.report else {}
    return {**report, "problem": outcome.problem}


def _describe(report: IndexReport) -> str:
    text = (
        f"{report.added} added, {report.updated} updated, {report.removed} removed, "
        f"{report.unchanged} unchanged"
    )
    if report.redacted:
        text += f", {counted(report.redacted, 'secret')} replaced"
    lines = [f"  note: {note}" for note in report.notes]
    lines += [
        f"  skipped {what if what.isprintable() else repr(what)}: {why}"
        for what, why in report.skipped[:_SHOWN_SKIPPED]
    ]
    if len(report.skipped) > _SHOWN_SKIPPED:
        lines.append(f"  and {len(report.skipped) - _SHOWN_SKIPPED} more skipped (--json has all)")
    return "\n".join([text, *lines])
