"""Agent tool `list_documents`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from contextkit import InvalidRequestError, Tool, ToolResult
from contextkit.text import one_line
from contextkit_documents.stored import StoredChunk, titled

if TYPE_CHECKING:
    from contextkit import ContextKit


class _Part(TypedDict):
    heading: Annotated[str, "its headings, or the tables or keys of a configuration"]
    start_line: int
    end_line: int


class _Document(TypedDict):
    path: str
    kind: Annotated[str, "documentation, configuration or metadata"]
    parts: Annotated[list[_Part], "in the order of the file"]


class _Listed(TypedDict):
    documents: Annotated[list[_Document], "by path"]
    total: Annotated[int, "how many there are, listed or not"]


def _list_documents(
    kit: ContextKit,
    folder: Annotated[str, "only documents below this folder, or this one file"] = "",
    limit: Annotated[int, "how many documents at most"] = 20,
) -> ToolResult[_Listed]:
    if limit < 1:
        raise InvalidRequestError(f"limit must be at least 1, got {limit}")
    by_path: dict[str, list[StoredChunk]] = {}
    for chunk in map(StoredChunk.of, kit.records("documents").scan()):
        by_path.setdefault(chunk.path, []).append(chunk)
    inside = folder.strip().strip("/").removeprefix("./")
    wanted = [
        path
        for path in sorted(by_path)
        if inside in {"", ".", path} or path.startswith(f"{inside}/")
    ]
    documents = [_document(path, by_path[path]) for path in wanted[:limit]]
    lines = [line for document in documents for line in _lines(document)]
    if len(wanted) > limit:
        lines.append(f"{limit} of {len(wanted)} documents")
    text = "\n".join(lines) or "No documents are indexed there."
    return ToolResult({"documents": documents, "total": len(wanted)}, text)


def _document(path: str, chunks: list[StoredChunk]) -> _Document:
    ordered = sorted(chunks, key=lambda chunk: (chunk.position or 0, chunk.start_line))
    parts: list[_Part] = [
        {
            "heading": titled(chunk.kind, chunk.headings),
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
        }
        for chunk in ordered
    ]
    return {"path": path, "kind": ordered[0].kind, "parts": parts}


def _lines(document: _Document) -> list[str]:
    parts = [
        one_line(f"  {part['start_line']}-{part['end_line']} {part['heading']}")
        for part in document["parts"]
    ]
    return [f"{one_line(document['path'])} ({document['kind']})", *(f"  {part}" for part in parts)]


TOOLS = (
    Tool(
        name="list_documents",
        description=(
            "List the project's documentation, configuration and metadata files, with their "
            "headings and lines, to see what is written down and where. To find what answers a "
            "question, ask assemble_context instead."
        ),
        run=_list_documents,
        read_only=True,
    ),
)
