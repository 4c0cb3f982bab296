"""`contextkit sources`."""

from __future__ import annotations

from typing import Any

import click

from contextkit.cli.session import Session, json_option, pass_session, table
from contextkit.registry import PluginStatus

__all__ = ["sources"]


@click.command()
@json_option
@pass_session
def sources(session: Session, as_json: bool) -> None:
    """List the sources: which are on, where they come from, how much they hold.

    \b
    Example: contextkit sources --json
    """
    rows = [_described(session, status) for status in session.kit.registry.plugins]
    headings = ["NAME", "STATE", "DISTRIBUTION", "VERSION", "WEIGHT", "PRIORITY", "RECORDS", ""]
    cells = [
        [
            row["name"],
            row["state"],
            row["distribution"],
            row["version"],
            *("-" if row[key] is None else f"{row[key]:g}" for key in ("weight", "priority")),
            "-" if row["records"] is None else str(row["records"]),
            row["reason"] or row["description"] or "",
        ]
        for row in rows
    ]
    text = table(headings, cells) if rows else "no source is installed"
    session.emit(rows, text, as_json)


def _described(session: Session, status: PluginStatus) -> dict[str, Any]:
    from contextkit.requests import make_request

    kit = session.kit
    row: dict[str, Any] = {
        "name": status.name,
        "state": status.state,
        "reason": status.reason,
        "distribution": status.distribution,
        "version": status.version,
        "weight": None,
        "priority": None,
        "records": None,
        "title": None,
        "description": None,
    }
    if status.state != "on" or not status.is_source:
        return row
    info = kit.registry.info(status.name)
    request = make_request(kit.config, "sources", project=kit.project, workspace=kit.workspace.root)
    return row | {
        "weight": kit.registry.weight(status.name, request),
        "priority": info.priority,
        "records": kit.records(status.name).count(info.count_filters),
        "title": info.title,
        "description": info.description,
    }
