"""A folder of Markdown notes with front matter as context: Obsidian's, or basic-memory's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contextkit import (
    ContextItem,
    ContextRequest,
    Indexer,
    IndexReport,
    Setting,
    SourceInfo,
    hookimpl,
)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source; only the user may choose a folder outside of the workspace."""
    return SourceInfo(
        title="Notes",
        description="your Markdown notes",
        scale="calibrated",
        kind_field="type",
        indexed_fields=("file_path",),
        answers={"decisions": 1, "usage": 0.5, "history": 0.5, "code": 0.2},
        settings={"folder": Setting("", rule="user")},
    )


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Read the notes that changed."""
    from contextkit.indexing import FileIndex, FileListing, Folder
    from contextkit_vault.notes import records_of

    chosen = indexer.settings.get("folder")
    folder = Folder(Path(chosen).expanduser() if chosen else indexer.workspace / "notes")
    listing = FileListing(folder)
    if folder.root.is_dir():
        # Programs keep their own files in hidden folders, such as `.obsidian` and `.trash`.
        for path in folder.walk(lambda at: not at.rsplit("/", 2)[-2].startswith(".")):
            if path.endswith(".md"):
                listing.add(path)
    elif chosen:
        listing.notes.append(f"there is no folder {folder.root}: set [sources.vault] folder")
    return FileIndex(indexer, version=1, label="notes").update(listing, records_of)


@hookimpl
async def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """Return the parts of notes that match."""
    if request.records is None:
        return []
    hits = await request.records.search(request.query, limit=request.limit, filters=request.filters)
    return [
        ContextItem(
            "vault",
            hit.record.text,
            hit.relevance,
            {"tags": hit.record.fields["tags"], "links": hit.record.fields["links"]},
            id=hit.record.id,
            kind=hit.record.fields["type"],
            title=hit.record.fields["title"],
            location=hit.record.fields["file_path"],
            sequence=hit.record.fields["file_path"],
            position=hit.record.fields["position"],
        )
        for hit in hits
    ]
