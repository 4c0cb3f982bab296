"""Sync the stored commits with those reachable from HEAD.

The state is marked incomplete before the first write. After an interrupted run, the shas in the
store are compared with those in the repository, and commits that are already stored are not read
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TypeVar

from attrs import evolve, frozen

from contextkit.errors import WorkspaceError
from contextkit.indexing import Git, GitFailedError, GitMissingError, GitTimeoutError
from contextkit.logs import get_logger
from contextkit.models import Indexer, IndexReport
from contextkit_commits.index_state import RECORD_FORMAT, Indexed, load_indexed
from contextkit_commits.repository import NoRepository, Repository, find_repository, read_detail

BATCH = 500
"""Records stored in one call."""

_Unit = TypeVar("_Unit")
_log = get_logger(__name__)


@frozen(kw_only=True)
class _Plan:
    """The work of a run.

    Attributes:
        gone: shas of the records to delete.
        new: shas of the commits to read and store, newest first.
        again: the number of commits that are both.
        remaining: the number of new ones left for a later run.
        target: the state that the records match afterwards.
    """

    gone: Sequence[str]
    new: Sequence[str]
    again: int = 0
    remaining: int = 0
    target: Indexed


def index_commits(indexer: Indexer) -> IndexReport:
    """Sync the stored commits with the workspace's repository.

    Raises `WorkspaceError` where the repository cannot be read.
    """
    try:
        return _index(indexer)
    except GitTimeoutError as error:
        advice = "[sources.commits] git_timeout gives it longer"
        raise WorkspaceError(f"{error}; {advice}") from error
    except GitMissingError as error:
        advice = "or switch its source off with [sources.commits] enabled = false"
        raise WorkspaceError(f"{error}, {advice}") from error


def _index(indexer: Indexer) -> IndexReport:
    repository = find_repository(Git(indexer.workspace, indexer.settings["git_timeout"]))
    if isinstance(repository, NoRepository):
        if not indexer.state.load():
            # `contextkit doctor` takes a folder without a state for one that was never indexed.
            Indexed().save(indexer.state)
        return IndexReport(notes=[f"no commits are indexed here: {repository.reason}"])
    before = load_indexed(indexer.state)
    if before.is_up_to_date(repository, indexer.settings["max_commits"]):
        return IndexReport(unchanged=before.count, notes=before.notes())
    plan = _plan(indexer, repository, before)
    plan = _carry_out(indexer, repository, before, plan)
    done = len(plan.new) - plan.remaining
    again = min(plan.again, done)
    report = IndexReport(
        added=done - again,
        updated=again,
        removed=len(plan.gone) - plan.again,
        unchanged=plan.target.count - len(plan.new),
        notes=plan.target.notes(),
        remaining=plan.remaining,
    )
    _log.info("commits_indexed", added=report.added, removed=report.removed, head=repository.head)
    return report


def _plan(indexer: Indexer, repository: Repository, before: Indexed) -> _Plan:
    repository.git.require_version()
    target = Indexed(
        head=repository.head,
        complete=True,
        record_format=RECORD_FORMAT,
        scope=repository.scope,
        detail=read_detail(repository.git),
        boundary=repository.boundary,
        max_commits=indexer.settings["max_commits"],
    )
    return _plan_by_history(repository, before, target) or _plan_by_store(
        indexer, repository, before, target
    )


def _plan_by_history(repository: Repository, before: Indexed, target: Indexed) -> _Plan | None:
    """Plan from git's history alone; None if it cannot tell."""
    alike = before.made_like(target) and before.boundary == target.boundary
    if not (alike and before.is_whole()) or before.head is None or target.head is None:
        return None
    from contextkit_commits.history import compare

    try:
        gone, new = compare(repository.git, before.head, target.head)
    except GitFailedError:
        # The old commit was rewritten, and is no longer in the repository.
        return None
    count = before.count - len(gone) + len(new)
    if 0 < target.max_commits < count:
        return None
    return _Plan(
        gone=gone,
        new=new,
        target=evolve(target, count=count, total=count, reduced=before.reduced),
    )


def _plan_by_store(
    indexer: Indexer, repository: Repository, before: Indexed, target: Indexed
) -> _Plan:
    """Plan by comparing stored shas with the reachable ones."""
    from contextkit_commits.history import reachable

    records = indexer.records
    stored = {record.id for record in records.scan() if record.project == records.project}
    found = reachable(repository, target.max_commits)
    wanted = found.shas
    # Another cut of a shallow clone changes the apparent content of its outermost commits.
    outdated = set(before.boundary) ^ set(target.boundary) if before.made_like(target) else stored
    kept = stored.intersection(wanted) - outdated
    gone = stored - kept
    return _Plan(
        gone=sorted(gone),
        new=[sha for sha in wanted if sha not in kept],
        again=len(gone.intersection(wanted)),
        target=evolve(
            target,
            count=len(wanted),
            total=found.total,
            reduced=before.reduced if kept else 0,
            missing=found.missing,
            is_unscoped=found.is_unscoped,
        ),
    )


def _carry_out(indexer: Indexer, repository: Repository, before: Indexed, plan: _Plan) -> _Plan:
    """Delete and store.

    Return the plan, updated with what the reading found.
    """
    from contextkit_commits.commit_records import commit_record
    from contextkit_commits.history import CommitReader

    # Until the outdated records are deleted, the remaining ones match the previous state.
    evolve(before, complete=False).save(indexer.state)
    for shas in _batches(plan.gone):
        indexer.records.delete(*shas)
    total = len(plan.new)
    indexer.progress(0, total, "commits")
    evolve(plan.target, complete=False).save(indexer.state)
    done = 0
    reader = CommitReader(repository, plan.target.detail)
    with closing(reader.read(plan.new)) as commits:
        for batch in _batches(commits):
            indexer.records.put([commit_record(commit) for commit in batch])
            done += len(batch)
            indexer.progress(done, total, "commits")
            if done < total and indexer.time_is_up:
                return evolve(plan, remaining=total - done)
    target = evolve(plan.target, reduced=plan.target.reduced + reader.reduced)
    target.save(indexer.state)
    return evolve(plan, target=target)


def _batches(units: Iterable[_Unit]) -> Iterator[list[_Unit]]:
    remaining = iter(units)
    while batch := list(islice(remaining, BATCH)):
        yield batch
