"""Bringing the entities and relations that come from the code up to date with its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from contextkit import Indexer, IndexReport, Record
from contextkit.logs import get_logger
from contextkit_entities.code_facts import CodeFile, fingerprint, read_files
from contextkit_entities.code_graph import code_graph
from contextkit_entities.entity import FROM_CODE
from contextkit_entities.settings import code_source_in

__all__ = ["index_entities"]

_VERSION = 1
_BATCH = 1_000

_log = get_logger(__name__)


def index_entities(indexer: Indexer) -> IndexReport:
    """Make entities and relations from the records of the code source.

    Where those are what they were, nothing else is read. Else the files are read whose
    records changed, and what is stored is what differs from before. What was made by hand is
    left alone.
    """
    source = code_source_in(indexer.settings)
    code = indexer.records.others(source)
    seen = [_VERSION, source, *(fingerprint(code) if source else ["", 0])]
    state = indexer.state.load()
    known = _files_in(state)
    if known is not None and state.get("seen") == seen:
        return IndexReport(unchanged=int(state.get("stored", 0)))
    anew = known is None or state["seen"][:2] != seen[:2]
    files = read_files(code, {} if anew else known or {}) if source else {}
    before = {} if anew else _records_of(known or {})
    after = _records_of(files)
    # Until all of it is stored nothing is known: what dies on the way starts anew.
    indexer.state.clear()
    if anew:
        indexer.records.delete_where({"origin": FROM_CODE})
    report = _stored(indexer, before, after)
    indexer.state.save(
        {
            "seen": seen,
            "stored": len(after),
            "files": {path: file.as_state() for path, file in files.items()},
        }
    )
    return report


def _files_in(state: Mapping[str, Any]) -> dict[str, CodeFile] | None:
    """The files of the last run; None where nothing, or nothing readable, is remembered."""
    try:
        if state["seen"][0] != _VERSION:
            return None
        return {path: CodeFile.from_state(file) for path, file in state["files"].items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def _records_of(files: Mapping[str, CodeFile]) -> dict[str, Record]:
    graph = code_graph(files)
    entities = {each.id: each.as_record() for each in graph.entities.values()}
    return entities | {each.id: each.as_record() for each in graph.relations.values()}


def _stored(
    indexer: Indexer, before: Mapping[str, Record], after: Mapping[str, Record]
) -> IndexReport:
    now = datetime.now(UTC)
    changed = [record for name, record in after.items() if before.get(name) != record]
    gone = [name for name in before if name not in after]
    for batch in _batches(changed):
        indexer.records.put([evolve(record, created_at=now) for record in batch])
        indexer.progress(len(batch), len(changed), "entities")
    for ids in _batches(gone):
        indexer.records.delete(*ids)
    added = sum(record.id not in before for record in changed)
    _log.info("entities_indexed", records=len(after), changed=len(changed), removed=len(gone))
    return IndexReport(
        added=added,
        updated=len(changed) - added,
        removed=len(gone),
        unchanged=len(after) - len(changed),
    )


def _batches(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[start : start + _BATCH] for start in range(0, len(values), _BATCH)]
