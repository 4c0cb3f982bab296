"""Index runs: what they add and remove, what they cost, and how they go on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit import Record, Records
from contextkit.models.indexer import IndexState, Progress
from contextkit_commits.index_run import BATCH
from contextkit_commits.index_state import load_indexed

Index = Callable[..., Any]
Stored = Callable[[], dict[str, Any]]


def counts(report: Any) -> tuple[int, int, int, int]:
    """A report's numbers: added, updated, removed, unchanged."""
    return report.added, report.updated, report.removed, report.unchanged


def test_a_record_holds_the_commit(repo: Any, index: Index, stored: Stored) -> None:
    """Id, text, time and every field of a record come from the commit."""
    repo.commit("first", old_dot_txt="a\nb\nc\n")
    repo.git("mv", "old.txt", "new.txt")
    sha = repo.commit("Rename it\n\nBecause.", src__rate_limiter_dot_py="a\n")
    index(repo)
    record = stored()["Rename it"]
    assert (record.id, record.text) == (sha, "Rename it\n\nBecause.")
    assert record.keywords == "Ada Lovelace new src rate_limiter"
    moment = record.created_at.isoformat()
    assert record.fields == {
        "sha": sha,
        "sha7": sha[:7],
        "author": "Ada Lovelace",
        "author_email": "ada@example.org",
        "authored_at": moment,
        "timestamp": moment,
        "subject": "Rename it",
        "files_changed": ["new.txt", "src/rate_limiter.py"],
        "file_count": 2,
        "renamed_from": {"new.txt": "old.txt"},
        "insertions": 1,
        "deletions": 0,
        "is_merge": False,
    }


def test_times_outside_the_calendar_become_the_nearest_inside(
    repo: Any, index: Index, stored: Stored
) -> None:
    """A commit of the year 300,000 is stored as one of the year 9999."""
    repo.commit("first")
    repo.commit_object(
        b"author A <a@b> 1700000100 +0000\ncommitter A <a@b> 9999999999999 +0000\n\nfar\n"
    )
    index(repo)
    assert stored()["far"].created_at.year == 9999


def test_nothing_new_is_one_call_of_git(
    repo: Any, index: Index, fake_git: Callable[[str], None], tmp_path: Path
) -> None:
    """An unchanged repository costs one git process and no write."""
    repo.commit("first")
    index(repo)
    state = (tmp_path / "state.json").stat().st_mtime_ns
    real = shutil.which("git")
    fake_git(f'echo call >> "{tmp_path}/calls"; exec "{real}" "$@"')
    assert counts(index(repo)) == (0, 0, 0, 1)
    assert (tmp_path / "calls").read_text() == "call\n"
    assert (tmp_path / "state.json").stat().st_mtime_ns == state


def test_new_commits_are_added_and_old_ones_are_not_read(
    repo: Any, index: Index, stored: Stored, records: Records
) -> None:
    """Only what is new since the last run is read."""
    first = repo.commit("first")
    index(repo)
    (kept,) = records.get(first)
    records.put([Record(id=first, text=kept.text, fields={**kept.fields, "mark": 1})])
    repo.commit("second")
    repo.commit("third")
    assert counts(index(repo)) == (2, 0, 0, 1)
    assert stored()["first"].fields["mark"] == 1


def test_an_amended_commit_replaces_the_old_one(repo: Any, index: Index, stored: Stored) -> None:
    """What an amend or a rebase leaves behind disappears, also long after."""
    repo.commit("first")
    repo.commit("sceond")
    index(repo)
    repo.commit("second", "--amend")
    assert counts(index(repo)) == (1, 0, 1, 1)
    assert set(stored()) == {"first", "second"}


def test_a_rewritten_history_whose_old_commits_are_gone_is_followed(
    repo: Any, index: Index, stored: Stored
) -> None:
    """After `git gc` git cannot compare any more; the store can."""
    repo.commit("first")
    repo.commit("sceond")
    index(repo)
    repo.commit("second", "--amend")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert counts(index(repo)) == (1, 0, 1, 1)
    assert set(stored()) == {"first", "second"}


def test_a_branch_switch_is_followed_both_ways(repo: Any, index: Index, stored: Stored) -> None:
    """The stored commits are those of the branch that is checked out."""
    repo.commit("base")
    repo.git("checkout", "-qb", "topic")
    repo.commit("on topic")
    index(repo)
    repo.git("checkout", "-q", "main")
    repo.commit("on main")
    assert counts(index(repo)) == (1, 0, 1, 1)
    assert set(stored()) == {"base", "on main"}
    repo.git("checkout", "-q", "topic")
    index(repo)
    assert set(stored()) == {"base", "on topic"}


def test_going_back_only_removes(repo: Any, index: Index, stored: Stored) -> None:
    """After a hard reset the newer commits are gone, and nothing is read."""
    first = repo.commit("first")
    repo.commit("second")
    index(repo)
    repo.git("reset", "-q", "--hard", first)
    assert counts(index(repo)) == (0, 0, 1, 1)
    assert set(stored()) == {"first"}


def test_an_unrelated_history_replaces_everything(repo: Any, index: Index, stored: Stored) -> None:
    """An orphan branch has nothing in common, before its first commit and after it."""
    repo.commit("first")
    index(repo)
    repo.git("checkout", "-q", "--orphan", "fresh")
    assert counts(index(repo)) == (0, 0, 1, 0)
    repo.commit("anew")
    assert counts(index(repo)) == (1, 0, 0, 0)
    assert set(stored()) == {"anew"}


def test_progress_is_told_in_batches(long_history: Callable[[int], Any], index: Index) -> None:
    """Whoever watches sees nought, every batch, and the end."""
    seen: list[Progress] = []
    index(long_history(BATCH + 200), report=seen.append)
    assert [(step.done, step.total, step.label) for step in seen] == [
        (0, BATCH + 200, "commits"),
        (BATCH, BATCH + 200, "commits"),
        (BATCH + 200, BATCH + 200, "commits"),
    ]


def test_an_interrupted_run_goes_on_where_it_stopped(
    long_history: Callable[[int], Any], index: Index, records: Records
) -> None:
    """What was stored before an interruption is not read again."""
    repo = long_history(3 * BATCH)

    def stop(step: Progress) -> None:
        if step.done >= BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(repo, report=stop)
    assert records.count() == BATCH
    assert repo.head in {record.id for record in records.scan()}
    assert counts(index(repo)) == (2 * BATCH, 0, 0, BATCH)
    assert records.count() == 3 * BATCH


def test_a_history_rewritten_during_an_interruption_is_followed(
    repo: Any, index: Index, stored: Stored
) -> None:
    """Commits that an interrupted run stored disappear when they are gone by the next."""
    repo.commit("first")
    index(repo)
    repo.commit("sceond")

    def stop(step: Progress) -> None:
        if step.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(repo, report=stop)
    assert set(stored()) == {"first", "sceond"}
    repo.commit("second", "--amend")
    assert counts(index(repo)) == (1, 0, 1, 1)
    assert set(stored()) == {"first", "second"}


def test_a_run_that_only_deleted_is_made_good(repo: Any, index: Index, stored: Stored) -> None:
    """What an interrupted run took away comes back when its commit does."""
    repo.commit("first")
    second = repo.commit("second")
    index(repo)
    repo.commit("other", "--amend")

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(repo, report=stop)
    assert set(stored()) == {"first"}
    repo.git("reset", "-q", "--hard", second)
    index(repo)
    assert set(stored()) == {"first", "second"}


def test_indexing_anew_adds_nothing_twice(
    repo: Any, index: Index, stored: Stored, tmp_path: Path
) -> None:
    """With a lost state the same records are made again, of another version likewise."""
    repo.commit("first")
    index(repo)
    IndexState(tmp_path / "state.json").clear()
    assert counts(index(repo)) == (0, 1, 0, 0)
    IndexState(tmp_path / "state.json").save({"something": "else"})
    assert counts(index(repo)) == (0, 1, 0, 0)
    IndexState(tmp_path / "state.json").save({"record_format": 99, "head": repo.head})
    assert counts(index(repo)) == (0, 1, 0, 0)
    assert set(stored()) == {"first"}


def test_the_users_own_records_are_left_alone(repo: Any, index: Index, records: Records) -> None:
    """Records of the source that belong to the user are not this repository's."""
    records.shared.put([Record(id="f" * 40, text="mine", fields={"subject": "mine"})])
    repo.commit("first")
    assert counts(index(repo)) == (1, 0, 0, 0)
    assert [record.text for record in records.get("f" * 40)] == ["mine"]


def test_the_newest_commits_are_kept_up_to_a_limit(repo: Any, index: Index, stored: Stored) -> None:
    """`max_commits` keeps the newest, run after run, and a note tells what is left out."""
    for name in "abcde":
        repo.commit(name)
    report = index(repo, {"max_commits": 3})
    assert set(stored()) == {"c", "d", "e"}
    assert report.notes == [
        "the newest 3 of 5 commits; [sources.commits] max_commits = 0 takes all"
    ]
    repo.commit("f")
    assert counts(index(repo, {"max_commits": 3})) == (1, 0, 1, 2)
    assert set(stored()) == {"d", "e", "f"}


def test_a_history_that_outgrows_its_limit_is_cut(repo: Any, index: Index, stored: Stored) -> None:
    """A whole history stays whole until the limit, and no further."""
    for name in "abc":
        repo.commit(name)
    assert index(repo, {"max_commits": 3}).notes == []
    repo.commit("d")
    assert counts(index(repo, {"max_commits": 3})) == (1, 0, 1, 2)
    assert set(stored()) == {"b", "c", "d"}


def test_another_limit_is_kept_at_once(repo: Any, index: Index, stored: Stored) -> None:
    """A changed limit adds or removes the difference."""
    for name in "abcde":
        repo.commit(name)
    index(repo, {"max_commits": 2})
    assert counts(index(repo, {"max_commits": 0})) == (3, 0, 0, 2)
    assert counts(index(repo, {"max_commits": 4})) == (0, 0, 1, 4)
    assert set(stored()) == {"b", "c", "d", "e"}


def test_the_state_survives_a_round_trip(repo: Any, index: Index, tmp_path: Path) -> None:
    """What is remembered is what was indexed."""
    sha = repo.commit("first")
    index(repo)
    indexed = load_indexed(IndexState(tmp_path / "state.json"))
    assert (indexed.head, indexed.complete, indexed.count) == (sha, True, 1)
