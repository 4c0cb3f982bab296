"""`contextkit sources`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from contextkit.cli.exit_codes import ExitCode
from contextkit.cli.session import Session, json_option, pass_session, table

if TYPE_CHECKING:
    from contextkit.plugin_status import PluginStatus

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

    rows = [_described(session, status) for status in session.registry.plugins]
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
    from contextkit.config import normalized

    installed = {normalized(plugin.name): plugin.name for plugin in session.registry.plugins}
    for name in session.config.sources:
        if name in installed:
            continue
        origins = session.config.origins.items()
        where = next(str(origin) for key, origin in origins if key.startswith(f"sources.{name}."))
        nearest = difflib.get_close_matches(name, installed, n=1)
        hint = f"; did you mean '{installed[nearest[0]]}'?" if nearest else ""
        yield f"{where}: there are settings of the source '{name}', which is not installed{hint}"


def _described(session: Session, status: PluginStatus) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": status.name,
        "state": status.state,
        "reason": status.reason,
        "source": status.is_source,
        "distribution": status.distribution,
        "version": status.version,
        "weight": None,
        "priority": None,
        "records": None,
        "title": None,
        "description": None,
    }
    if status.state != "on":
        return row
    info = session.registry.info(status.name)
    row |= {"title": info.title, "description": info.description}
    if status.is_source:
        row |= {"priority": info.priority, "weight": _weight(session, status.name)}
    return row


def _weight(session: Session, name: str) -> float:
    from contextkit.requests import make_request

    request = make_request(session.config, "sources", project="", workspace=session.workspace)
    return session.registry.weight(name, request)


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
