"""Update the entities and relations from the code source's records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from attrs import evolve

from contextkit import Indexer, IndexReport
from contextkit.logs import get_logger
from contextkit_entities.code_facts import CodeFile, Files, fingerprint, read_files
from contextkit_entities.entity import FROM_CODE, Entity

if TYPE_CHECKING:
    from contextkit_entities.code_graph import CodeGraph


_VERSION = 2
_BATCH = 1_000

_log = get_logger(__name__)


def index_entities(indexer: Indexer) -> IndexReport:
    """Make entities and relations from the code source's records.

    If the records did not change, nothing else is read. Otherwise the changed files are read, and
    only differences are stored. Entities and relations made by hand are not touched.
    """
    source = indexer.settings["code_source"]
    code = indexer.records.others(source)
    seen = [_VERSION, source, *(fingerprint(code) if source else ["", 0])]
    state = indexer.state.load()
    if state.get("seen") == seen:
        # The saved files are then not read: there may be thousands.
        return IndexReport(unchanged=int(state.get("stored", 0)))
    known = _files_in(state)
    anew = known is None or state["seen"][:2] != seen[:2]
    before = {} if anew or known is None else known
    files = read_files(code, before) if source else {}
    # The state stays empty until everything is stored: an interrupted run starts anew.
    indexer.state.clear()
    if anew:
        indexer.records.delete_where({"origin": FROM_CODE})
    if not anew and _is_of_same_graph(before, files):
        report = _moved(indexer, before, files, int(state.get("stored", 0)))
    else:
        report = _linked_anew(indexer, before, files)
    indexer.state.save(
        {
            "seen": seen,
            "stored": report.added + report.updated + report.unchanged,
            "files": {path: file.as_state() for path, file in files.items()},
        }
    )
    return report


def _files_in(state: Mapping[str, Any]) -> dict[str, CodeFile] | None:
    """Return the last run's files; None if there are none.

    None as well where the state cannot be read.
    """
    try:
        if state["seen"][0] != _VERSION:
            return None
        return {path: CodeFile.from_state(file) for path, file in state["files"].items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def _is_of_same_graph(before: Files, after: Files) -> bool:
    """Return whether only locations and summaries differ.

    This is so after most changes of code.
    """
    return before.keys() == after.keys() and all(
        file.links == before[path].links for path, file in after.items()
    )


def _moved(indexer: Indexer, before: Files, after: Files, stored: int) -> IndexReport:
    """Update the locations of definitions that moved within their files."""
    from contextkit_entities.code_graph import definition_id, placed

    places = {
        definition_id(path, each.name): (path, each)
        for path, file in after.items()
        if file is not before[path]
        for each in file.definitions
    }
    found = map(Entity.from_record, indexer.records.get(*places) if places else ())
    moved = [(known, placed(known, *places[known.id])) for known in found]
    changed = [entity.as_record() for known, entity in moved if entity != known]
    indexer.records.put(changed)
    return IndexReport(updated=len(changed), unchanged=stored - len(changed))


def _linked_anew(indexer: Indexer, before: Files, after: Files) -> IndexReport:
    """Resolve imports that may have changed, and store the differences."""
    # In most runs, all links are unchanged.
    from contextkit_entities.code_graph import code_graph
    from contextkit_entities.resolving import resolve, resolve_again

    led = resolve(before)
    leads = resolve_again(after, before, led)
    return _stored(indexer, code_graph(before, led), code_graph(after, leads))


def _stored(indexer: Indexer, before: CodeGraph, after: CodeGraph) -> IndexReport:
    """Store the differences of two graphs.

    No record is made for what they share.
    """
    now = datetime.now(UTC)
    changed = [key for key, each in after.items() if before.get(key) != each]
    gone = [each.id for key, each in before.items() if key not in after]
    done = 0
    for keys in _batches(changed):
        records = [after[key].made().as_record() for key in keys]
        indexer.records.put([evolve(record, created_at=now) for record in records])
        done += len(keys)
        indexer.progress(done, len(changed), "entities")
    for ids in _batches(gone):
        indexer.records.delete(*ids)
    added = sum(key not in before for key in changed)
    _log.info("entities_indexed", records=len(after), changed=len(changed), removed=len(gone))
    return IndexReport(
        added=added,
        updated=len(changed) - added,
        removed=len(gone),
        unchanged=len(after) - len(changed),
    )


def _batches(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[start : start + _BATCH] for start in range(0, len(values), _BATCH)]
