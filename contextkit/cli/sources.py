"""`contextkit sources`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from contextkit.cli.exit_codes import ExitCode
from contextkit.cli.session import Session, json_option, pass_session, table

__all__ = ["sources", "unknown_sources"]

_HEADINGS = ["NAME", "STATE", "DISTRIBUTION", "VERSION", "WEIGHT", "PRIORITY", "RECORDS", ""]


@click.command(
    epilog="""\b
Examples:
  contextkit sources
  contextkit --disable commits sources --json
"""
)
@json_option
@pass_session
def sources(session: Session, as_json: bool) -> int:
    """List the sources: which are on, where they come from, how much they hold.

    A source that is off says which setting switched it off, a broken one why it is broken.
    """
    from contextkit.errors import ConfigError, StoreError
    from contextkit.plugin_overview import plugin_overview

    registry, workspace = session.registry, session.workspace
    rows = [plugin_overview(registry, status, workspace) for status in registry.plugins]
    exit_code = ExitCode.FINE
    try:
        for row in rows:
            if row["state"] == "on" and row["source"]:
                filters = session.registry.info(row["name"]).count_filters
                row["records"] = session.records(row["name"]).count(filters)
    except (ConfigError, StoreError) as error:
        session.warn(f"the records cannot be counted: {error}")
        exit_code = ExitCode(error.exit_code)
    for line in unknown_sources(session):
        session.warn(line)
    text = table(_HEADINGS, [_cells(row) for row in rows]) if rows else "no source is installed"
    session.emit(rows, text, as_json)
    return exit_code


def unknown_sources(session: Session) -> Iterator[str]:
    """A line for each source that has settings and is not installed."""
    from contextkit.absent_sources import settings_of_absent

    return settings_of_absent(session.config, session.registry)


def _cells(row: dict[str, Any]) -> list[str]:
    note = row["reason"] or row["description"] or ""
    if row["source"] is False:
        note = f"no source, only other hooks; {note}".rstrip("; ")
    return [
        row["name"],
        row["state"],
        row["distribution"],
        row["version"],
        *("-" if row[key] is None else f"{row[key]:g}" for key in ("weight", "priority")),
        "-" if row["records"] is None else str(row["records"]),
        note,
    ]
