"""Notes in a SQLite file as context: a contextkit source with a database of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contextkit import ContextItem, ContextRequest, SourceInfo, hookimpl
from contextkit_notes.database import FILE, find_notes


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Notes",
        description="notes of the workspace's notes.db",
        # A note that says otherwise than an older one is what counts now.
        updates=True,
        settings={"file": FILE},
        # The note's place, which another source may name, too.
        dedup_key="note:{place}",
        commands={"note": ("contextkit_notes.commands:note", "Write a note down.")},
        tools="contextkit_notes.tools:TOOLS",
    )


@hookimpl
def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """The notes that match, best first: a plain function, which may block."""
    file = (request.workspace or Path()) / request.settings["file"]
    return [
        ContextItem(
            "notes",
            note.text,
            note.relevance,
            {"notebook": note.notebook, "place": f"{file.name}: note {note.number}"},
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
