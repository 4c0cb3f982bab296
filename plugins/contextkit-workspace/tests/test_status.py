"""The git status: what is in it, and when it is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from contextkit import ContextItem
from contextkit.workspace.listing import git_files
from contextkit_workspace.git_state import git_status, status_text

Commit = Callable[[], None]
Find = Callable[..., Awaitable[dict[str, ContextItem]]]
Git = Callable[..., str]
Write = Callable[..., Path]


def described(folder: Path) -> list[str]:
    """The lines of a folder's status."""
    status = git_status(folder)
    assert status is not None
    return status_text(status).split("\n")


def test_what_is_staged_changed_and_untracked_is_told_apart(
    repository: Path, git: Git, commit: Commit, write: Write
) -> None:
    """With what was done where that is no modification; a file may be in two lists.

    Names that look like entries of another kind make no entry and no line.
    """
    for name in ("both", "changed", "? moved", "gone", "dropped"):
        write(f"{name}.py", f"{name}\n" * 9)
    commit()
    write("both.py", "1")
    write("added one.py")
    git("add", ".")
    write("both.py", "2")
    write("changed.py", "2")
    git("mv", "? moved.py", "there.py")
    git("rm", "-q", "gone.py")
    (repository / "dropped.py").unlink()
    write("new\nstaged (1): b.py")
    write("folder/new.py")
    assert described(repository) == [
        "branch main",
        "staged (4): added one.py (added), both.py, gone.py (deleted), there.py (renamed)",
        "changed, not staged (3): both.py, changed.py, dropped.py (deleted)",
        "untracked (2): folder/, new staged (1): b.py",
    ]


def test_a_branch_is_compared_with_the_one_it_follows(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    """How many commits each has that the other has not."""
    git("commit", "-qm", "a", "--allow-empty")
    clone = tmp_path / "clone"
    git("clone", "-q", str(repository), str(clone))
    git("commit", "-qm", "there", "--allow-empty")
    git("commit", "-qm", "here 1", "--allow-empty", folder=clone)
    git("commit", "-qm", "here 2", "--allow-empty", folder=clone)
    git("fetch", "-q", folder=clone)
    assert described(clone)[0] == "branch main, follows origin/main, 2 ahead, 1 behind"


def test_conflicts_are_named(repository: Path, git: Git, commit: Commit, write: Write) -> None:
    """In the middle of a merge."""
    write("a b.py", "0\n")
    commit()
    git("checkout", "-qb", "other")
    write("a b.py", "1\n")
    git("commit", "-qam", "1")
    git("checkout", "-q", "main")
    write("a b.py", "2\n")
    git("commit", "-qam", "2")
    git("merge", "other", check=False)
    status = git_status(repository)
    assert status is not None
    assert described(repository)[1] == "in conflict (1): a b.py"
    assert status.said_of("a b.py") == ["in conflict"]


def test_paths_are_those_below_the_workspace(repository: Path, git: Git, write: Write) -> None:
    """Which may be a folder of the repository; what else changed is not told."""
    write("inner/a.py")
    write("inner/b.py")
    write("c.py")
    git("add", "inner/a.py", "c.py")
    assert described(repository / "inner")[1:] == [
        "staged (1): a.py (added)",
        "untracked (1): b.py",
    ]
    assert git_files(repository / "inner").paths == ["a.py", "b.py"]


def test_many_paths_are_counted(repository: Path, write: Write) -> None:
    """Twenty are named."""
    for number in range(23):
        write(f"f{number:02}.py")
    (line,) = described(repository)[1:]
    assert line.startswith("untracked (23): f00.py, f01.py")
    assert line.endswith("f19.py, and 3 more")


def test_without_a_work_tree_there_is_no_status(
    workspace: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And none without git."""
    assert git_status(workspace) is None
    git("init", "-q")
    assert git_status(workspace) is not None
    monkeypatch.setenv("PATH", "")
    assert git_status(workspace) is None
    assert git_files(workspace).paths is None


@pytest.mark.parametrize(
    "query",
    [
        "what is the git status?",
        "review my changes",
        "What am I working on?",
        "show me the diff",
        "which branch is this?",
        "what did I change?",
        "continue where I left off",
        "write a commit message for the staged files",
    ],
)
async def test_the_status_is_shown_to_who_asks_for_changes(
    repository: Path, write: Write, find: Find, query: str
) -> None:
    """Of a tree with changes it is the most relevant item."""
    write("shelf.py")
    items = await find(query)
    assert items["status"].relevance == max(item.relevance for item in items.values())
    assert items["status"].content.startswith("Git status:\nbranch main\nuntracked (2): ")


@pytest.mark.parametrize(
    "query", ["why is the lamp green?", "the HTTP status code is 404", "how do I restock?", "?"]
)
async def test_nobody_else_is_shown_the_status(
    repository: Path, write: Write, find: Find, query: str
) -> None:
    """However much has changed."""
    write("shelf.py")
    assert await find(query) == {}


async def test_the_status_of_a_clean_tree_is_worth_less(
    repository: Path, git: Git, commit: Commit, find: Find
) -> None:
    """It says that there is nothing to commit, also without a branch."""
    commit()
    git("checkout", "-q", "--detach")
    items = await find("what are my changes?")
    assert items["status"].content == "Git status:\nbranch (detached)\nnothing to commit"
    assert items["status"].relevance < 0.5


@pytest.mark.parametrize("settings", [{"depth": 1}])
async def test_a_folder_that_is_named_brings_the_structure(
    workspace: Path, git: Git, write: Write, find: Find
) -> None:
    """A little; without a repository hidden folders and caches are left out."""
    for path in ("lamp/inner/a.py", ".hidden/b.py", "__pycache__/c.py"):
        write(path)
    items = await find("lamp")
    assert items["structure"].content.splitlines()[2:] == ["lamp/ (1 file)"]
    assert items["structure"].relevance < 0.4


async def test_without_a_repository_there_is_no_status(
    workspace: Path, git: Git, find: Find
) -> None:
    """The files are there; an empty workspace has nothing, not even a structure."""
    query = "what is the git status, how is it structured, and what did I edit recently?"
    assert set(await find(query)) == {"file:contextkit.toml", "structure"}
    (workspace / "contextkit.toml").unlink()
    assert await find(query) == {}
