"""Run the index hooks of all sources in turn."""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen
from filelock import FileLock, Timeout

from contextkit.errors import SourceError, StoreError, StoreReadOnlyError
from contextkit.files import make_private_folder, write_atomically
from contextkit.indexing.marks import IndexMarks
from contextkit.indexing.partial import PartialIndex, state_folder
from contextkit.indexing.retention import prune_sources
from contextkit.indexing.writer import Remembered
from contextkit.logs import get_logger
from contextkit.models.indexer import Indexer, IndexState, Progress
from contextkit.models.items import IndexReport
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.plugin.checks import checked_report
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.holder import Beat
from contextkit.store.migrate import MovedScope
from contextkit.store.ownership import Ownership
from contextkit.store.waiting import tell_wait

_WORTH_OPTIMIZING = 1_000
"""From this number of changed files, commits and so on the store is optimized."""

_SAID_AFTER_SECONDS = 1.0

ELSEWHERE = "another process is indexing this project"
"""The problem of sources that are left to that process."""

_log = get_logger(__name__)


@frozen
class IndexOutcome:
    """The result of one source's index run.

    Attributes:
        report: what was done, or None.
        problem: why the run failed, or None.
    """

    report: IndexReport | None = None
    problem: str | None = None


def index_sources(
    registry: SourceRegistry,
    store: RecordStore,
    records: Mapping[str, Records],
    workspace: Path,
    *,
    progress: Callable[[Progress], None],
    wait: bool,
    seconds: float | None = None,
    query: str = "",
) -> dict[str, IndexOutcome]:
    """Index sources that have the hook, and prune others.

    Their records belong to the checkout, not to the project that it shares with others. A lock
    keeps other processes from indexing the checkout meanwhile.

    Sources that own files are indexed first, and a source that reads others' records after
    those. A source's error becomes its outcome's `problem`; errors of the store are raised.

    With `seconds`, each source has half of the time that is left. It stores one batch at least and
    what it can in its share, and leaves the rest to a later run.
    """
    begun = time.monotonic()
    prune_sources(registry, records.values())
    owning_first = sorted(records, key=lambda name: not registry.info(name).owns_files)
    able = in_index_order(
        {
            name: registry.info(name).reads
            for name in owning_first
            if registry.implements(name, "contextkit_index")
        }
    )
    if not able:
        return {}
    first = next(iter(records.values()))
    folder = _made_state_folder(store, first.of_checkout.project)
    lock = FileLock(folder / "index.lock", mode=0o600)
    try:
        with _alone(lock, folder, wait):
            outcomes: dict[str, IndexOutcome] = {}
            partial = PartialIndex(first.of_checkout.project, progress)
            marks = _marks(registry, store, first, folder)
            for position, name in enumerate(able):
                _delete_shared(store, registry, records[name])
                own, state = records[name].of_checkout, IndexState(folder / f"{name}.json")
                if marks is not None:
                    marks.check(name, state)
                is_last = position == len(able) - 1
                ends = None if seconds is None else _share(begun + seconds, is_last)
                indexer = Indexer(
                    workspace=workspace,
                    project=own.project,
                    records=own,
                    state=state,
                    settings=registry.settings(name),
                    report=partial.report,
                    owned_elsewhere=_owned_elsewhere(registry, name, folder),
                    query=query,
                    ends=ends,
                )
                outcomes[name] = _index(registry, indexer)
                if marks is not None:
                    done = outcomes[name]
                    marks.note(name, state, changed=bool(done.problem or _changes(done)))
            if marks is not None:
                marks.save()
            partial.end(_remaining(outcomes))
    except Timeout:
        return dict.fromkeys(able, IndexOutcome(problem=ELSEWHERE))
    except OSError as error:
        said = f"cannot write the index state to {folder}: {error.strerror}"
        is_read_only = error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}
        raise (StoreReadOnlyError if is_read_only else StoreError)(said) from error
    is_whole = not any(_remaining(outcomes).values())
    if is_whole and sum(map(_changes, outcomes.values())) >= _WORTH_OPTIMIZING:
        _optimize(store)
    return outcomes


def _share(ends: float, is_last: bool) -> float:
    """Return the time at which a source has had its share: half of the rest.

    The first ones own files, and what they find answers most questions.
    """
    now = time.monotonic()
    return ends if is_last else now + max(0.0, ends - now) / 2


def _remaining(outcomes: Mapping[str, IndexOutcome]) -> dict[str, int]:
    """The number of units that each source left; no entry for one that failed."""
    return {name: done.report.remaining for name, done in outcomes.items() if done.report}


@contextlib.contextmanager
def _alone(lock: FileLock, folder: Path, wait: bool) -> Iterator[None]:
    """Keep other index runs of the checkout out.

    Raises `Timeout` if there is one and this one shall not wait.
    """
    try:
        lock.acquire(timeout=_SAID_AFTER_SECONDS if wait else 0)
    except Timeout:
        if not wait:
            raise
        tell_wait("the index of this project", folder)
        lock.acquire()
    try:
        Beat(folder).begin()
        yield
    finally:
        lock.release()


def in_index_order(reads: Mapping[str, Sequence[str]]) -> list[str]:
    """Sort sources into the order in which they are indexed.

    Sources that read no others come first; each further one follows those that it reads. The
    given order is kept otherwise. Of sources that read each other, the first is indexed first,
    and catches up in its next run.

    Args:
        reads: source -> the sources whose records its index run reads.
    """
    ordered = [name for name, read in reads.items() if not read]
    waiting = [name for name, read in reads.items() if read]
    while waiting:
        ready = (name for name in waiting if not (set(waiting) - {name}).intersection(reads[name]))
        chosen = next(ready, waiting[0])
        ordered.append(chosen)
        waiting.remove(chosen)
    return ordered


def _changes(outcome: IndexOutcome) -> int:
    report = outcome.report
    return report.added + report.updated + report.removed if report else 0


def _optimize(store: RecordStore) -> None:
    """Optimize the store; a failure only affects its speed."""
    try:
        store.optimize()
    except StoreError as error:
        _log.warning("store_not_optimized", reason=str(error))


def _marks(
    registry: SourceRegistry, store: RecordStore, records: Records, folder: Path
) -> IndexMarks | None:
    ownership = Ownership.of(registry.config)
    if records.checkout is None or not ownership.is_shared:
        return None
    return IndexMarks(store, records.checkout, ownership.user, folder)


def carry_states(
    old: RecordStore,
    new: RecordStore,
    scopes: Sequence[MovedScope],
    renamed: Callable[[Sequence[Record]], Sequence[Record]],
) -> None:
    """Copy the index states of records that were moved to another store.

    Where the new store has further records, the state is deleted there instead: the next index
    run then makes that checkout's records again.

    Args:
        old: the store whose states are copied.
        new: the other store.
        scopes: the moved records.
        renamed: gives records the projects that they have in the new store.
    """
    moved = {(scope.source, scope.project, scope.target): scope for scope in scopes}
    for project in {scope.project for scope in scopes}:
        for before in state_folder(old, project).glob("[!.]*.json"):
            source = before.stem
            made = Record(id=source, text="", source=source, project=project)
            [target] = [record.project for record in renamed([made])]
            scope = moved.get((source, project, target)) or MovedScope(source, project, target)
            scope.stored = new.count(source, [target], {})
            after = state_folder(new, target) / before.name
            if scope.is_same:
                write_atomically(after, before.read_text(encoding="utf-8"))
            else:
                after.unlink(missing_ok=True)


def _made_state_folder(store: RecordStore, project: str) -> Path:
    folder = state_folder(store, project)
    try:
        make_private_folder(folder)
    except OSError as error:
        raise StoreError(f"cannot create the folder {folder}: {error.strerror}") from error
    return folder


def _delete_shared(store: RecordStore, registry: SourceRegistry, records: Records) -> None:
    """Delete what index runs of several checkouts wrote to one named project.

    Earlier versions did so, and each run deleted the records of the others.
    """
    state = IndexState(state_folder(store, records.project) / f"{records.source}.json")
    if records.of_checkout.project == records.project or not state.path.exists():
        return
    if registry.info(records.source).by_hand is None:
        store.delete_where(records.source, [records.project], {})
    state.clear()


def _owned_elsewhere(registry: SourceRegistry, source: str, folder: Path) -> frozenset[str]:
    """The files that other sources own."""
    owners = [n for n in registry.sources if n != source and registry.info(n).owns_files]
    states = (IndexState(folder / f"{name}.json") for name in owners)
    return frozenset().union(*map(Remembered.paths_in, states))


def _index(registry: SourceRegistry, indexer: Indexer) -> IndexOutcome:
    source = indexer.records.source
    redacted: list[int] = []
    indexer = evolve(indexer, records=indexer.records.telling(redacted.append))
    try:
        result = registry.call(source, "contextkit_index", indexer=indexer)
        report = IndexReport() if result is None else checked_report(source, result)
        return IndexOutcome(evolve(report, redacted=sum(redacted)))
    except SourceError as error:
        _log.warning("index_failed", source=source, reason=error.reason)
        return IndexOutcome(problem=error.reason)
