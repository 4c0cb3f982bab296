"""`contextkit sources`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import click

from contextkit.cli.failures import ExitCode
from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session

_HEADINGS = ["NAME", "STATE", "DISTRIBUTION", "VERSION", "WEIGHT", "PRIORITY", "RECORDS"]
_OF_HEALTH = ["ANSWER", "MS", "BREAKER"]
_NOTHING_REMEMBERED = (
    "breakers: no background server has this workspace open, and commands do not remember "
    "earlier failures"
)


@click.command(
    epilog="""\b
Examples:
  contextkit sources
  contextkit sources --health
  contextkit --disable commits sources --json
"""
)
@click.option("--health", is_flag=True, help="Query every source and show how it answers.")
@json_option
@pass_session
def sources(session: Session, health: bool, as_json: bool) -> int:
    """List the sources and their state.

    A source that is off names the setting that turned it off; a broken one says why. With
    --health, the exit code is 1 if a source does not answer. A source that keeps failing is
    skipped for a while by the process in which it failed; --health shows this for the background
    server (`contextkit serve`), if it has this workspace open.
    """
    from contextkit.errors import ConfigError, StoreError
    from contextkit.pipeline.overview import source_overview

    registry, workspace = session.registry, session.workspace
    exit_code = ExitCode.FINE
    try:
        rows = [source.as_dict() for source in session.kit.sources()]
        if health and not _all_answer(session, rows):
            exit_code = ExitCode.FAILED
    except (ConfigError, StoreError) as error:
        session.warn(f"the store cannot be read: {error}")
        exit_code = ExitCode(error.exit_code)
        overviews = (source_overview(registry, s, workspace) for s in registry.plugins)
        rows = [source.as_dict() for source in overviews]
    remembered = not health or _add_breakers(session, rows)
    for line in unknown_sources(session):
        session.warn(line)
    headings = [*_HEADINGS, *(_OF_HEALTH if health else ()), ""]
    cells = [_cells(row, health=health) for row in rows]
    text = table(headings, cells) if rows else "no source is installed"
    session.emit(rows, text if remembered else f"{text}\n\n{_NOTHING_REMEMBERED}", as_json)
    return exit_code


def _all_answer(session: Session, rows: Sequence[dict[str, Any]]) -> bool:
    """Query every source, and add the outcome to its row."""
    from contextkit.cli.checks.setup import ANSWERED, probe_sources

    found = {trace.source: trace for trace in probe_sources(session.kit)}
    for row in rows:
        trace = found.get(row["name"])
        row["answer"] = trace.state if trace else None
        row["milliseconds"] = trace.milliseconds if trace else None
        if trace and trace.state not in ANSWERED:
            row["reason"] = trace.reason
    return all(trace.state in ANSWERED for trace in found.values())


def _add_breakers(session: Session, rows: Sequence[dict[str, Any]]) -> bool:
    """Add the resident process's breaker states to the rows.

    Returns False where no process has them.
    """
    from attrs import asdict

    from contextkit.agent.running import remembered_health

    found = remembered_health(session.workspace, os.environ)
    for row in rows:
        health = (found or {}).get(row["name"])
        row["breaker"] = asdict(health) if health else None
        row["left_alone"] = health.words if health else None
    return found is not None


def unknown_sources(session: Session) -> Iterator[str]:
    """Report each configured source that is not installed."""
    from contextkit.cli.source_names import settings_of_absent

    return settings_of_absent(session.config, session.registry)


def _cells(row: dict[str, Any], *, health: bool) -> list[str]:
    note = row["reason"] or row.get("left_alone") or row["description"] or ""
    if row["source"] is False:
        note = f"not a source, only other hooks; {note}".rstrip("; ")
    return [
        row["name"],
        row["state"],
        row["distribution"],
        row["version"],
        *("-" if row[key] is None else f"{row[key]:g}" for key in ("weight", "priority")),
        "-" if row["records"] is None else str(row["records"]),
        *(_health_cells(row) if health else ()),
        note,
    ]


def _health_cells(row: dict[str, Any]) -> list[str]:
    if row.get("answer") is None:
        answer = ["-", "-"]
    else:
        answer = [row["answer"].replace("_", " "), f"{row['milliseconds']:.0f}"]
    breaker = row.get("breaker")
    return [*answer, breaker["state"].replace("_", " ") if breaker else "-"]
