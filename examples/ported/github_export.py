"""GitHub issues from an export: `gh issue list --json … > issues.json`."""

import json

from contextkit import ContextItem, ContextRequest, Indexer, IndexReport, Record, hookimpl
from contextkit.indexing import FileIndex, FileListing, WorkspaceFile


def _records(file: WorkspaceFile, content: bytes) -> list[Record]:
    records = []
    for issue in json.loads(content):
        said = [issue["title"], issue["body"], *(each["body"] for each in issue["comments"])]
        fields = {"file_path": file.path}
        records.append(Record(id=f"#{issue['number']}", text="\n\n".join(said), fields=fields))
    return records


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Read the workspace's `issues.json` if it changed; at most a million bytes."""
    (listing := FileListing(indexer.workspace)).add("issues.json")
    return FileIndex(indexer, version=1, label="exports").update(listing, _records)


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the issues that match."""
    records = request.records
    hits = await records.search(request.query, limit=request.limit) if records else []
    return [ContextItem("github_export", h.record.text, h.relevance, id=h.record.id) for h in hits]
