"""The files of a command are listed once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from contextkit.concurrency import in_thread
from contextkit.testing import Git
from contextkit.workspace import listing
from contextkit.workspace.git import GitError
from contextkit.workspace.listing import (
    WorkTreeFiles,
    git_files,
    git_status_text,
    listed_once,
)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that git was asked for."""
    folders: list[Path] = []
    find = listing._found

    def noted(root: Path, timeout: float) -> WorkTreeFiles:
        folders.append(root)
        return find(root, timeout)

    monkeypatch.setattr(listing, "_found", noted)
    return folders


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a file."""
    Git(tmp_path)("init", "--quiet")
    (tmp_path / "old.py").touch()
    return tmp_path


async def test_a_command_lists_a_folder_once(root: Path, listed: list[Path]) -> None:
    """Its threads see the files as they were; after it, new files are found."""
    with listed_once():
        before = git_files(root)
        (root / "new.py").touch()
        with listed_once(root):
            assert await in_thread(lambda: git_files(root)) == before
    assert listed == [root]
    assert git_files(root).paths == ["new.py", "old.py"]


def test_a_folder_can_be_listed_beside_other_work(root: Path, listed: list[Path]) -> None:
    """Later calls wait for the same listing."""
    with listed_once(root):
        assert git_files(root).paths == ["old.py"]
    assert listed == [root]


async def test_a_status_can_be_asked_for_beside_other_work(root: Path) -> None:
    """Its threads get the status of the start; after it, the current one."""
    with listed_once(root, with_status=True):
        before = git_status_text(root)
        (root / "new.py").touch()
        assert await in_thread(lambda: git_status_text(root)) == before
    assert before.endswith("\0? old.py\0")
    assert git_status_text(root).endswith("\0? new.py\0? old.py\0")


def test_a_status_that_was_not_asked_for_ahead_is_the_current_one(root: Path) -> None:
    """Two looks of one command may have a change between them."""
    with listed_once(root):
        before = git_status_text(root)
        (root / "new.py").touch()
        assert git_status_text(root) != before


def test_a_failed_status_is_raised_where_it_is_needed(tmp_path: Path) -> None:
    """In a folder without git nothing else fails."""
    with listed_once(tmp_path, with_status=True):
        assert git_files(tmp_path).paths is None
        for _ in range(2):
            with pytest.raises(GitError, match="not a git repository"):
                git_status_text(tmp_path)


def test_commands_at_the_same_time_have_listings_of_their_own(
    root: Path, listed: list[Path]
) -> None:
    """A background server answers several commands at once."""
    with listed_once():
        git_files(root)
        other = threading.Thread(target=git_files, args=(root,))
        other.start()
        other.join()
    assert listed == [root, root]


def test_a_failure_is_raised_in_each_place(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that failed first does not leave the others waiting."""

    def failing(*_: object) -> WorkTreeFiles:
        raise MemoryError

    monkeypatch.setattr(listing, "_found", failing)
    with listed_once():
        for _ in range(2):
            with pytest.raises(MemoryError):
                git_files(root)


def test_what_a_tool_fetched_counts_as_ignored(root: Path) -> None:
    """Without a rule for them, environments and packages are left out; tracked files never are."""
    for path in ("web/node_modules/a.js", "web/node_modules/kept.js", "web/app.js"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    Git(root)("add", "web/node_modules/kept.js")
    for path in ("Env/pyvenv.cfg", "Env/bin/activate", "Environment.py"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).touch()

    listed = git_files(root).paths

    assert sorted(listed or ()) == [
        "Environment.py",
        "old.py",
        "web/app.js",
        "web/node_modules/kept.js",
    ]
