"""Command `contextkit values`: distil experiences into values, and show them."""

from __future__ import annotations

from typing import Any

import click

from contextkit.cli import Session, json_option, pass_session
from contextkit.models import IndexReport, Record
from contextkit.text import one_line
from contextkit_values.model import AXES


@click.group(
    epilog="""\b
Example:
  contextkit values refresh
"""
)
def values() -> None:
    """Find what your experiences have in common."""


@values.command(
    epilog="""\b
Example:
  contextkit values refresh --min-cluster-size 4
"""
)
@click.option(
    "--min-cluster-size",
    type=click.IntRange(2),
    help="Least experiences of a value. Default: the setting min_cluster_size, or 3.",
)
@click.option(
    "--min-similarity",
    type=click.FloatRange(0, 1),
    help="Least similarity of its members, 0 to 1. Default: the setting min_similarity, or 0.2.",
)
@json_option
@pass_session
def refresh(session: Session, /, as_json: bool, **given: Any) -> None:
    """Find the values again from the resolved experiences.

    This never happens by itself: run it after some experiences were resolved.
    """
    from contextkit_values.refreshing import refresh as refresh_values

    own = session.kit.registry.settings("values")
    options = {name: own[name] if value is None else value for name, value in given.items()}
    report = refresh_values(
        session.records("experiences"),
        session.records("values"),
        session.kit.embedder("experiences"),
        **options,
    )
    session.emit(_as_data(report), _describe(report), as_json)


@values.command(
    "list",
    epilog="""\b
Example:
  contextkit values list --axis root_cause
""",
)
@click.option("--axis", type=click.Choice(AXES), help="Only values of this axis.")
@json_option
@pass_session
def list_values(session: Session, /, as_json: bool, axis: str | None) -> None:
    """List the values by axis, the largest first."""
    found = sorted(session.records("values").scan({"axis": axis} if axis else {}), key=_rank)
    shown = "\n".join(map(_line, found))
    session.emit([_described(each) for each in found], shown or "no values", as_json)


def _rank(record: Record) -> tuple[int, int, str]:
    return AXES.index(record.fields["axis"]), -record.fields["cluster_size"], record.id


def _line(record: Record) -> str:
    fields = record.fields
    size = f"{fields['cluster_size']} experiences"
    return f"{record.id}  {fields['axis']}  {size}  {one_line(record.text)}"


def _described(record: Record) -> dict[str, Any]:
    about = {name: value for name, value in record.fields.items() if name != "value_id"}
    created_at = record.created_at.isoformat()
    return {"id": record.id, "text": record.text, **about, "created_at": created_at}


def _as_data(report: IndexReport) -> dict[str, Any]:
    counts = {name: getattr(report, name) for name in ("added", "updated", "removed", "unchanged")}
    return {**counts, "notes": list(report.notes)}


def _describe(report: IndexReport) -> str:
    counts = (
        f"values: {report.added} added, {report.updated} updated, {report.removed} removed, "
        f"{report.unchanged} unchanged"
    )
    return "\n".join([counts, *(f"  {note}" for note in report.notes)])
