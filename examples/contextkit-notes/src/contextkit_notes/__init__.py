"""Notes in a SQLite file as context: a contextkit source with a database of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from contextkit import ContextItem, ContextRequest, SourceInfo, Tool, hookimpl
from contextkit.cli.lazy import LazyCommand
from contextkit_notes.database import FILE, add_note, find_notes

if TYPE_CHECKING:
    import click

    from contextkit import ContextKit


@hookimpl
def contextkit_source() -> SourceInfo:
    """What the source says of itself."""
    return SourceInfo(
        title="Notes",
        description="notes of the workspace's notes.db",
        # A note that says otherwise than an older one is what counts now.
        updates=True,
        settings={"file": FILE},
    )


@hookimpl
def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """The notes that match, best first: a plain function, which may block."""
    file = (request.workspace or Path()) / request.settings.get("file", FILE)
    return [
        ContextItem(
            "notes",
            note.text,
            note.relevance,
            {"notebook": note.notebook},
            id=str(note.number),
            kind="note",
            title=note.text.splitlines()[0][:80],
            created_at=note.created_at,
            location=f"{file.name}: note {note.number}",
            # Notes of one notebook that were written one after the other belong together.
            sequence=note.notebook,
            position=note.position,
        )
        for note in find_notes(file, request.query, request.limit)
    ]


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> Sequence[Sequence[str]]:
    """The note's place, which another source may name, too."""
    return [[f"note:{item.location}"] for item in items]


@hookimpl
def contextkit_tools() -> Sequence[Tool]:
    """`add_note`, for an agent."""

    def run(
        kit: ContextKit,
        text: Annotated[str, "what to note"],
        notebook: Annotated[str, "what it belongs to"] = "",
    ) -> dict[str, int]:
        own = kit.config.source("notes").own
        file = kit.workspace.root / own.get("file", FILE)
        return {"number": add_note(file, text, notebook)}

    return [Tool(name="add_note", description="Write a note down for later.", run=run)]


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """`contextkit note TEXT`; imported when it is run."""
    cli.add_command(LazyCommand("note", "contextkit_notes.commands:note", "Write a note down."))


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> Sequence[str]:
    """What is wrong with `[sources.notes]`."""
    problems = [f"{key}: not a setting of notes; it has: file" for key in settings if key != "file"]
    if not isinstance(settings.get("file", FILE), str):
        problems.append("file: expected a path in the workspace")
    return problems
