"""Index runs: what they add and remove, what they cost, and how they go on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit import Record, Records
from contextkit.models.indexer import IndexState, Progress
from contextkit_commits import contextkit_source

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
    assert record.keywords == "Ada new src rate_limiter"
    moment = record.created_at.isoformat()
    assert record.fields == {
        "sha": sha,
        "sha7": sha[:7],
        "author": "Ada",
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


def forget(repo: Any) -> None:
    """Amend the commit, and delete what it was."""
    repo.commit("third", "--amend")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")


@pytest.mark.parametrize(
    ("change", "expected", "subjects"),
    [
        (lambda repo: repo.commit("third", "--amend"), (1, 0, 1, 1), {"first", "third"}),
        (forget, (1, 0, 1, 1), {"first", "third"}),
        (lambda repo: repo.git("reset", "-q", "--hard", "HEAD~1"), (0, 0, 1, 1), {"first"}),
        (lambda repo: repo.git("checkout", "-q", "topic"), (1, 0, 1, 1), {"first", "on topic"}),
        (lambda repo: repo.git("checkout", "-q", "--orphan", "new"), (0, 0, 2, 0), set()),
    ],
    ids=["amended", "collected", "reset", "switched", "orphaned"],
)
def test_a_history_that_changes_is_followed(
    repo: Any, index: Index, stored: Stored, change: Any, expected: Any, subjects: set[str]
) -> None:
    """The stored commits are those of the branch that is checked out."""
    repo.commit("first")
    repo.git("checkout", "-qb", "topic")
    repo.commit("on topic")
    repo.git("checkout", "-q", "main")
    repo.commit("second")
    index(repo)
    change(repo)
    assert counts(index(repo)) == expected
    assert set(stored()) == subjects


def test_an_interrupted_run_goes_on_where_it_stopped(
    long_history: Callable[[int], Any],
    index: Index,
    records: Records,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Progress is told in batches, newest first; stored commits are not read again."""
    monkeypatch.setattr("contextkit_commits.index_run.BATCH", 4)
    repo = long_history(10)
    seen: list[Progress] = []

    def report(step: Progress) -> None:
        seen.append(step)
        if step.done and len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(repo, report=report)
    assert records.count() == 4
    assert repo.head in {record.id for record in records.scan()}
    assert counts(index(repo, report=report)) == (6, 0, 0, 4)
    assert records.count() == 10
    assert [(step.done, step.total) for step in seen] == [(0, 10), (4, 10), (0, 6), (4, 6), (6, 6)]


@pytest.mark.parametrize(
    ("done", "left"), [(0, {"first"}), (1, {"first", "third"})], ids=["deleted", "stored"]
)
def test_a_history_that_changes_during_an_interruption_is_followed(
    repo: Any, index: Index, stored: Stored, done: int, left: set[str]
) -> None:
    """What an interrupted run deleted comes back with its commit; what it stored goes again."""
    repo.commit("first")
    second = repo.commit("second")
    index(repo)
    repo.commit("third", "--amend")

    def stop(step: Progress) -> None:
        if step.done == done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(repo, report=stop)
    assert set(stored()) == left
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
    """`max_commits` keeps the newest, run after run; another limit applies at once."""
    for name in "abc":
        repo.commit(name)
    assert index(repo, {"max_commits": 3}).notes == []
    repo.commit("d")
    report = index(repo, {"max_commits": 3})
    assert counts(report) == (1, 0, 1, 2)
    assert report.notes == [
        "the newest 3 of 4 commits; set [sources.commits] max_commits = 0 to index all"
    ]
    assert set(stored()) == {"b", "c", "d"}
    assert counts(index(repo, {"max_commits": 0})) == (1, 0, 0, 3)
    assert counts(index(repo, {"max_commits": 2})) == (0, 0, 2, 2)
    assert set(stored()) == {"c", "d"}


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        ({"max_commits": 0, "git_timeout": 86_400}, []),
        ({"max_commits": -1, "git_timeout": 0}, ["max_commits", "git_timeout"]),
        ({"max_commits": 2.5, "git_timeout": 86_400.5}, ["max_commits", "git_timeout"]),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], problems: list[str]) -> None:
    """Every wrong setting is named."""
    told = contextkit_source().setting_problems("commits", settings)
    assert [problem.partition(": ")[0] for problem in told] == problems


def test_a_run_without_time_stores_the_newest_commits(
    long_history: Callable[[int], Any],
    index: Index,
    records: Records,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One batch is stored in any case; the next run goes on behind it."""
    monkeypatch.setattr("contextkit_commits.index_run.BATCH", 4)
    repo = long_history(10)

    first = index(repo, ends=0.0)

    assert (counts(first), first.remaining) == ((4, 0, 0, 0), 6)
    assert repo.head in {record.id for record in records.scan()}
    second = index(repo)
    assert (counts(second), second.remaining) == ((6, 0, 0, 4), 0)
