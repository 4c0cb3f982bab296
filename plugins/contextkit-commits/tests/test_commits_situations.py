"""The repositories that people have, from none at all to a worktree of a partial clone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit.errors import WorkspaceError

Index = Callable[..., Any]
Stored = Callable[[], dict[str, Any]]


def test_no_repository_is_no_error(index: Index, tmp_path: Path, stored: Stored) -> None:
    """A workspace without a repository has no commits, and a note says why."""
    (tmp_path / "plain").mkdir()
    report = index(tmp_path / "plain")
    assert (report.added, report.removed) == (0, 0)
    assert len(report.notes) == 1
    assert "not a git repository" in report.notes[0]
    assert stored() == {}


def test_a_repository_that_vanishes_takes_no_records_along(
    repo: Any, index: Index, stored: Stored
) -> None:
    """A folder that is not a repository at the moment does not empty the store."""
    repo.commit("first")
    index(repo)
    (repo.path / ".git").rename(repo.path / "away")
    assert "not a git repository" in index(repo).notes[0]
    assert set(stored()) == {"first"}


def test_a_repository_without_commits_is_no_error(repo: Any, index: Index, stored: Stored) -> None:
    """Before the first commit there is nothing to index; afterwards there is."""
    for settings in ({}, {}, {"max_commits": 0}):
        assert index(repo, settings).notes == ["the repository has no commits yet"]
    repo.commit("first")
    assert index(repo).added == 1
    assert set(stored()) == {"first"}


def test_a_damaged_branch_is_an_error_and_not_an_empty_history(
    repo: Any, index: Index, stored: Stored
) -> None:
    """A current commit that cannot be read deletes nothing."""
    repo.commit("first")
    index(repo)
    (repo.path / ".git/refs/heads/main").write_text("rubbish\n")
    with pytest.raises(WorkspaceError, match="current commit"):
        index(repo)
    assert set(stored()) == {"first"}


def remove_object(repo: Any, name: str) -> None:
    """Take a loose object out of a repository."""
    sha = repo.git("rev-parse", name)
    (repo.path / ".git/objects" / sha[:2] / sha[2:]).unlink()


def test_a_missing_file_content_costs_its_commits_their_lines(
    repo: Any, index: Index, stored: Stored
) -> None:
    """Every commit is indexed; those that added or changed the content have no line counts."""
    repo.commit("first", kept="1\n")
    repo.commit("second", lost="lost\n", kept="1\n2\n")
    repo.commit("third", kept="1\n2\n3\n")
    remove_object(repo, "HEAD:lost")
    for _ in range(2):
        report = index(repo)
        assert any("no lines or files of 1 commit;" in note for note in report.notes)
    found = {name: record.fields for name, record in stored().items()}
    assert found.keys() == {"first", "second", "third"}
    assert found["second"]["files_changed"] == ["kept", "lost"]
    assert [found[name]["insertions"] for name in ("first", "second", "third")] == [1, 0, 1]


def test_a_missing_folder_costs_its_commits_their_files(
    repo: Any, index: Index, stored: Stored
) -> None:
    """Message, author and date are indexed, and the commits around it as they are."""
    repo.commit("first", kept="1\n")
    repo.commit("second", inner__lost="1\n")
    repo.commit("third", inner__lost="2\n")
    repo.commit("fourth", kept="1\n2\n")
    remove_object(repo, "HEAD~2:inner")
    report = index(repo)
    assert any("no lines or files of 2 commit" in note for note in report.notes)
    found = {name: record.fields["files_changed"] for name, record in stored().items()}
    assert found == {"first": ["kept"], "second": [], "third": [], "fourth": ["kept"]}


def test_what_is_missing_is_said_until_the_history_is_another(
    repo: Any, index: Index, stored: Stored
) -> None:
    """Also in a run that indexes later commits alone."""
    repo.commit("first", lost="1\n")
    remove_object(repo, "HEAD:lost")
    index(repo)
    repo.commit("second", "--only", kept="1\n")
    report = index(repo)
    assert report.added == 1
    assert any("no lines or files of 1 commit" in note for note in report.notes)


def test_a_history_ends_where_a_commit_is_missing(repo: Any, index: Index, stored: Stored) -> None:
    """What can be reached is indexed, newest first, and a note tells of what cannot."""
    for name in ("first", "second", "third", "fourth"):
        repo.commit(name, file=name)
    remove_object(repo, "HEAD~2")
    report = index(repo)
    assert any("the history ends early: 1 commit missing" in note for note in report.notes)
    assert set(stored()) == {"third", "fourth"}
    assert stored()["fourth"].fields["files_changed"] == ["file"]
    index(repo, {"max_commits": 1})
    assert set(stored()) == {"fourth"}


def test_a_history_without_its_current_commit_is_an_error(
    repo: Any, index: Index, stored: Stored
) -> None:
    """There is nothing to follow; the error has git's words."""
    repo.commit("first")
    remove_object(repo, "HEAD")
    with pytest.raises(WorkspaceError, match=r"git log failed in .*bad object"):
        index(repo)
    assert stored() == {}


def test_a_shallow_clone_is_indexed_as_far_as_it_goes(
    repo: Any, clone: Callable[..., Any], index: Index, stored: Stored
) -> None:
    """A cut commit has no files, as git cannot know them; a note says what is missing."""
    for number in range(5):
        repo.commit(f"commit {number}", **{f"file{number}": "a\n"})
    shallow = clone(repo, "shallow", "--depth", "2")
    report = index(shallow)
    assert report.added == 2
    assert "a shallow clone" in report.notes[0]
    assert stored()["commit 4"].fields["files_changed"] == ["file4"]
    assert stored()["commit 3"].fields["files_changed"] == []
    assert stored()["commit 3"].fields["insertions"] == 0

    shallow.git("fetch", "-q", "--unshallow")
    deepened = index(shallow)
    assert (deepened.added, deepened.updated, deepened.unchanged) == (3, 1, 1)
    assert deepened.notes == []
    assert stored()["commit 3"].fields["files_changed"] == ["file3"]


def test_a_bare_repository_is_indexed(
    repo: Any, clone: Callable[..., Any], index: Index, stored: Stored
) -> None:
    """A repository without a working tree has a history too."""
    repo.commit("first", a="1\n")
    assert index(clone(repo, "bare.git", "--bare")).added == 1
    assert stored()["first"].fields["files_changed"] == ["a"]


def test_a_submodule_is_one_path_of_its_parent(
    make_repo: Callable[..., Any], repo: Any, index: Index, stored: Stored
) -> None:
    """The parent's commit lists the submodule, which is a workspace with its own history."""
    part = make_repo("part")
    part.commit("of the part", a="1\n")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", str(part.path), "part")
    repo.commit("add the part")
    repo.git("config", "diff.ignoreSubmodules", "all")
    index(repo)
    assert set(stored()) == {"add the part"}
    assert "part" in stored()["add the part"].fields["files_changed"]
    index(repo.path / "part")
    assert set(stored()) == {"of the part"}


def test_a_worktree_has_its_own_head(
    repo: Any, tmp_path: Path, index: Index, stored: Stored
) -> None:
    """`git worktree add` makes a workspace like any other; a detached HEAD counts too."""
    repo.commit("first")
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    tree = type(repo)(tmp_path / "tree")
    tree.commit("in the tree")
    index(tree)
    assert set(stored()) == {"first", "in the tree"}
    shutil.rmtree(repo.path)
    assert "not a git repository" in index(tree).notes[0]


def test_a_folder_of_a_repository_has_the_commits_that_changed_it(
    repo: Any, index: Index, stored: Stored
) -> None:
    """In a folder of a larger repository paths are that folder's, other commits are left out."""
    repo.commit("both", app__main_dot_py="1\n", lib__util_dot_py="1\n")
    repo.commit("library only", lib__util_dot_py="2\n")
    repo.commit("app only", app__main_dot_py="2\n")
    index(repo.path / "app")
    assert set(stored()) == {"both", "app only"}
    assert stored()["both"].fields["files_changed"] == ["main.py"]

    repo.commit("library again", lib__util_dot_py="3\n")
    repo.commit("app again", app__main_dot_py="3\n")
    report = index(repo.path / "app")
    assert (report.added, report.unchanged) == (1, 2)
    assert set(stored()) == {"both", "app only", "app again"}


def test_a_folder_keeps_commits_whose_changes_did_not_last(
    repo: Any, index: Index, stored: Stored
) -> None:
    """What a merge left behind is history all the same."""
    repo.commit("base", app__main_dot_py="1\n")
    repo.git("checkout", "-qb", "side")
    repo.commit("tried", app__main_dot_py="2\n")
    repo.git("checkout", "-q", "main")
    repo.commit("kept", app__main_dot_py="3\n")
    repo.git("merge", "-q", "-s", "ours", "-m", "drop the side", "side")
    index(repo.path / "app")
    assert {"base", "tried", "kept"} <= set(stored())


def test_a_workspace_that_moves_up_gets_the_whole_history(
    repo: Any, index: Index, stored: Stored
) -> None:
    """Records of a folder are made anew when the whole repository is asked for."""
    repo.commit("both", app__main_dot_py="1\n", lib__util_dot_py="1\n")
    repo.commit("library only", lib__util_dot_py="2\n")
    index(repo.path / "app")
    report = index(repo)
    assert (report.added, report.updated) == (1, 1)
    assert stored()["both"].fields["files_changed"] == ["app/main.py", "lib/util.py"]


@pytest.mark.parametrize(
    ("wanted", "files", "note"),
    [
        ("blob:none", ["new", "old"], "lines are not counted"),
        ("tree:0", [], "files are not listed"),
    ],
)
def test_a_partial_clone_is_indexed_without_fetching(
    repo: Any,
    clone: Callable[..., Any],
    index: Index,
    stored: Stored,
    wanted: str,
    files: list[str],
    note: str,
) -> None:
    """What a partial clone left on its server is left out, and a note says so."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit("first", old="1\n2\n3\n")
    repo.git("mv", "old", "new")
    repo.commit("rename")
    partial = clone(repo, "partial", "--no-checkout", f"--filter={wanted}")
    repo.path.rename(repo.path.with_name("offline"))
    report = index(partial)
    assert report.added == 2
    assert note in report.notes[0]
    assert stored()["rename"].fields["files_changed"] == files
    assert stored()["rename"].fields["insertions"] == 0


@pytest.mark.parametrize("scope", [".", "inner"])
@pytest.mark.parametrize("wanted", ["blob:none", "tree:0"])
@pytest.mark.parametrize("is_old", [False, True])
def test_nothing_is_ever_fetched(
    repo: Any,
    clone: Callable[..., Any],
    index: Index,
    fake_git: Callable[[str], None],
    tmp_path: Path,
    scope: str,
    wanted: str,
    is_old: bool,
) -> None:
    """A partial clone whose settings allow all and hide that it is partial is indexed as it is.

    Also by a git that does not know GIT_NO_LAZY_FETCH, as those before 2.44 do not.
    """
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.commit("first", inner__old="1\n2\n3\n")
    repo.commit("second", inner__old="1\n")
    partial = clone(repo, "partial", "--no-checkout", f"--filter={wanted}")
    canary, program = tmp_path / "canary", tmp_path / "upload"
    program.write_text(f'#!/bin/sh\ntouch "{canary}"\nexec git-upload-pack "$@"\n')
    program.chmod(0o755)
    for name in ("protocol.allow", "protocol.file.allow"):
        partial.git("config", name, "always")
    partial.git("config", "remote.origin.uploadpack", str(program))
    partial.git("config", "--unset", "remote.origin.partialclonefilter")
    (partial.path / "inner").mkdir()
    if is_old:
        fake_git(f'unset GIT_NO_LAZY_FETCH; exec "{shutil.which("git")}" "$@"')
    report = index(partial.path / scope)
    assert report.added == 2
    assert any("objects are missing" in note for note in report.notes)
    assert not canary.exists()
    partial.git("log", "--numstat")
    assert canary.exists()


def test_another_refusal_is_told_in_gits_words(repo: Any, index: Index) -> None:
    """A repository of a format that git does not know is an error, not an empty history."""
    repo.commit("first")
    repo.git("config", "core.repositoryformatversion", "99")
    with pytest.raises(WorkspaceError, match=r"(?i)git cannot read .*version"):
        index(repo)


def test_a_git_that_is_missing_is_told(
    repo: Any, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without git there are two ways on, and the error names both."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceError, match=r"git is not on the PATH: install git.*enabled"):
        index(repo)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            'case "$*" in *version*) echo "git version 1.8.3.1";; '
            "*) echo --is-shallow-repository;; esac",
            r"git 2\.20 or newer.*1\.8\.3",
        ),
        ("echo hello", "says 'hello'"),
        ("exec sleep 600", r"did not answer for 0\.2 s.*git_timeout"),
        ("exec >&-; exec sleep 600", "did not answer"),
        (
            'case "$*" in *no-walk*) "$git" "$@"; echo "fatal: disk on fire" >&2; exit 128;; '
            '*) exec "$git" "$@";; esac',
            r"git log failed in .*: disk on fire",
        ),
        ('case "$*" in *" log "*) exit 3;; *) exec "$git" "$@";; esac', "it ended with 3"),
        (
            'case "$*" in *get-regexp*) echo "error: no config" >&2; exit 3;; '
            '*) exec "$git" "$@";; esac',
            r"git config failed in .*: no config",
        ),
        ('GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "$git" "$@"', 'add safe.directory ".*repo"$'),
    ],
    ids=["old", "unknown", "hangs", "hangs-at-end", "breaks-off", "silent", "config", "ownership"],
)
def test_a_git_that_fails_is_told(
    repo: Any, index: Index, fake_git: Callable[[str], None], script: str, said: str
) -> None:
    """One that is too old, another program, one that hangs, one that breaks off, and so on."""
    repo.commit("first")
    fake_git(f'git="{shutil.which("git")}"; {script}')
    with pytest.raises(WorkspaceError, match=said):
        index(repo, {"git_timeout": 0.2 if "sleep" in script else 60})


def test_a_list_of_cut_commits_that_is_missing_is_told(
    repo: Any, clone: Callable[..., Any], index: Index, fake_git: Callable[[str], None]
) -> None:
    """The error names the file of a shallow clone."""
    repo.commit("first")
    repo.commit("second")
    shallow = clone(repo, "shallow", "--depth", "1")
    real = shutil.which("git")
    fake_git(f'case "$*" in *git-path*) echo nowhere;; *) exec "{real}" "$@";; esac')
    with pytest.raises(WorkspaceError, match=r"nowhere cannot be read"):
        index(shallow)
