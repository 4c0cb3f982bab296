"""Bringing the records up to date with the documents of the workspace."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence

from attrs import define, field

from contextkit import IndexReport, Range, Record
from contextkit.indexing import Indexer
from contextkit.logs import get_logger
from contextkit_documents.document_records import records_of
from contextkit_documents.index_state import DocumentState, DocumentStates
from contextkit_documents.listing import Document, list_documents, read_document
from contextkit_documents.settings import Settings
from contextkit_documents.text import NotTextError

__all__ = ["index_documents"]

_log = get_logger(__name__)

_BATCH_RECORDS = 512
_BATCH_PATHS = 256


def index_documents(indexer: Indexer) -> IndexReport:
    """Index what changed in the workspace since the last run.

    A document is read when its size or its times are not those of the last run, and its
    records are replaced when its content is another.

    Raises `ConfigError`, `WorkspaceError`, and what the store raises.
    """
    settings = Settings.of(indexer.settings)
    listing = list_documents(indexer.workspace, settings)
    run = _Run(indexer, settings, DocumentStates.load(indexer.state))
    run.bring_up_to_date(listing.documents)
    return IndexReport(
        added=run.added,
        updated=run.updated,
        removed=run.removed,
        unchanged=run.unchanged,
        skipped=sorted([*listing.skipped, *run.skipped]),
        notes=listing.notes,
    )


@define
class _Run:
    indexer: Indexer
    settings: Settings
    states: DocumentStates
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: list[tuple[str, str]] = field(factory=list)
    _waiting: list[Record] = field(factory=list, init=False)
    _written: dict[str, DocumentState] = field(factory=dict, init=False)
    _gone: set[str] = field(factory=set, init=False)

    def bring_up_to_date(self, documents: Sequence[Document]) -> None:
        """Index what is new or changed, delete the records of what is gone."""
        known = self.states.files
        changed = [
            document
            for document in documents
            if document.path not in known or known[document.path].stamp != document.stamp
        ]
        changed_paths = {document.path for document in changed}
        self._gone = known.keys() - {document.path for document in documents}
        for document in documents:
            if document.path not in changed_paths:
                self._count_same(document.path, known[document.path])
        if not self.states.known:
            # Nothing is known of whatever records there are.
            self.indexer.records.delete_where({})
        if changed or self._gone or not self.states.known:
            self._write(changed, len(documents))
        self.indexer.progress(len(documents), len(documents), "documents")

    def _write(self, changed: Sequence[Document], total: int) -> None:
        started = time.perf_counter()
        self.states.begin_run()
        in_doubt = self._gone | {document.path for document in changed}
        self.states.save(self.indexer.state, in_doubt)
        for number, document in enumerate(changed):
            self.indexer.progress(total - len(changed) + number, total, "documents")
            self._look_into(document)
        self._flush()
        self._remove()
        self.states.save(self.indexer.state)
        _log.info(
            "documents_indexed",
            added=self.added,
            updated=self.updated,
            removed=self.removed,
            unchanged=self.unchanged,
            skipped=len(self.skipped),
            seconds=round(time.perf_counter() - started, 3),
        )

    def _look_into(self, document: Document) -> None:
        """Read a document, and index it where its content is not what it was."""
        path = document.path
        known = self.states.files.get(path)
        read_at = time.time_ns()
        try:
            content, stamp = read_document(document, self.settings.max_file_bytes)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                self.skipped.append((path, f"it cannot be read: {error.strerror or error}"))
            if known is not None:
                self._gone.add(path)
            return
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        if known is not None and known.digest == digest:
            self._count_same(path, known)
            self.states.files[path] = DocumentState.read(stamp, digest, known.skipped, read_at)
            return
        try:
            records, why = records_of(document, content, self.states.created_at), ""
        except NotTextError as error:
            records, why = [], str(error)
        self._count_changed(path, known, why)
        self._waiting.extend(records)
        self._written[path] = DocumentState.read(stamp, digest, why, read_at)
        if len(self._waiting) >= _BATCH_RECORDS:
            self._flush()

    def _flush(self) -> None:
        """Put what is waiting, then delete the older records of the same documents."""
        records = self.indexer.records
        if self._waiting:
            records.put(self._waiting)
        for batch in _batches([path for path in self._written if path in self.states.files]):
            records.delete_where(
                {"file_path": batch, "created_at": Range(lt=self.states.created_at)}
            )
        self.states.files.update(self._written)
        self._waiting, self._written = [], {}

    def _remove(self) -> None:
        for batch in _batches(sorted(self._gone)):
            self.indexer.records.delete_where({"file_path": batch})
            for path in batch:
                self.removed += not self.states.files.pop(path).skipped

    def _count_same(self, path: str, known: DocumentState) -> None:
        if known.skipped:
            self.skipped.append((path, known.skipped))
        else:
            self.unchanged += 1

    def _count_changed(self, path: str, known: DocumentState | None, why: str) -> None:
        had_records = known is not None and not known.skipped
        if why:
            self.skipped.append((path, why))
            self.removed += had_records
        elif had_records:
            self.updated += 1
        else:
            self.added += 1


def _batches(paths: Sequence[str]) -> list[Sequence[str]]:
    return [paths[at : at + _BATCH_PATHS] for at in range(0, len(paths), _BATCH_PATHS)]
