"""The parts of `contextkit import` that concern agents' past sessions."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from contextkit.cli.output import table
from contextkit.cli.session import Session

if TYPE_CHECKING:
    from contextkit.agent.imports import ImportSummary
    from contextkit.models.transcripts import SessionImporter


def list_importers(session: Session, as_json: bool) -> None:
    """Print each importer with the number of its sessions."""
    from contextkit.agent.imports import offered_importers, sessions_of, transcripts_of

    rows = []
    for importer in offered_importers(session.registry).values():
        transcripts = transcripts_of(importer, None)
        mine = sum(each is not None for each in sessions_of(session.kit, transcripts, Counter()))
        rows.append((importer, mine, len(transcripts)))
    text = table(
        ["IMPORTER", "SESSIONS", "OF ALL PROJECTS", ""],
        [[each.name, f"{mine:,}", f"{found:,}", each.summary] for each, mine, found in rows],
    )
    data = {
        importer.name: {"sessions": mine, "of_all_projects": found, "summary": importer.summary}
        for importer, mine, found in rows
    }
    session.emit(data, text if rows else "No importers: install contextkit-agents.", as_json)


def import_past_sessions(
    session: Session,
    importer: SessionImporter,
    folder: Path | None,
    since: datetime | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import an agent's past sessions, and print what was done."""
    from attrs import asdict

    from contextkit.agent.imports import import_sessions

    with session.progress() as report:
        summary = import_sessions(
            session.kit, importer, folder=folder, since=since, dry_run=dry_run, progress=report
        )
    session.emit({**asdict(summary), "dry_run": dry_run}, _as_text(summary, dry_run), as_json)


def _as_text(summary: ImportSummary, dry_run: bool) -> str:
    done = "would be imported" if dry_run else "imported"
    lines = [f"{_some(summary.events, 'event')} of {_some(summary.sessions, 'session')} {done}"]
    if summary.unchanged:
        lines.append(f"{_some(summary.unchanged, 'session')} unchanged since the last import")
    if summary.known:
        lines.append(f"{_some(summary.known, 'event')} already stored")
    if summary.skipped:
        lines.append("Left out:")
        lines += [f"  {count:>9,}  {reason}" for reason, count in summary.skipped.most_common()]
    return "\n".join(lines)


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
