"""Bring the document records up to date with the workspace."""

from __future__ import annotations

from contextkit import Indexer, IndexReport, Record
from contextkit.indexing import FileIndex, WorkspaceFile
from contextkit_documents.listing import list_documents

_VERSION = 13
"""Index version.

Changed when chunks are made differently: every document is then indexed anew.
"""


def index_documents(indexer: Indexer) -> IndexReport:
    """Index the workspace's changes since the last run.

    Raises `ConfigError`, `WorkspaceError`, and what the store raises.
    """
    listing = list_documents(indexer.workspace, indexer.settings)

    def made(file: WorkspaceFile, content: bytes) -> list[Record]:
        # Imported for the first changed document: checking the others needs no parser.
        from contextkit_documents.document_records import records_of

        return records_of(file.path, listing.kinds[file.path], content)

    return FileIndex(indexer, version=_VERSION, label="documents").update(listing, made)
