"""A look at the workspace is kept while nothing changes, and no longer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit.testing import Git
from contextkit.testing.repositories import watched_git
from contextkit_workspace.looking import Look, kept_look, look_at

Write = Callable[..., Path]


@pytest.fixture
def clone(repository: Path, git: Git, write: Write, tmp_path: Path) -> Path:
    """A clone with a file in a folder, two commits and an untracked file."""
    write("lamp/a.py")
    git("add", ".")
    git("commit", "-qm", "a")
    git("commit", "-qm", "b", "--allow-empty")
    made = tmp_path / "clone"
    git("clone", "-q", str(repository), str(made))
    (made / "new.py").touch()
    return made


async def look_until_kept(root: Path, asked: Callable[[], list[str]]) -> None:
    """Look until git is not asked any more: files written a moment ago are looked at again."""
    async with asyncio.timeout(30):
        await look(root)
        while asked():
            await asyncio.sleep(0.02)
            await look(root)


async def look(root: Path) -> Look:
    """Look at a workspace as a question does."""
    return kept_look(root) or await look_at(root)


def write_with_same_time(file: Path, text: str) -> None:
    """Write a file and set the time that it had."""
    before = file.stat()
    file.write_text(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Path, Callable[..., str]], object]] = {
    "a file is written": lambda root, _: (root / "lamp/a.py").write_text("longer text"),
    "with its old time": lambda root, _: write_with_same_time(root / "lamp/a.py", "tidy\n"),
    "an untracked one": lambda root, _: (root / "new.py").write_text("tide"),
    "a file is made": lambda root, _: (root / "lamp/b.py").touch(),
    "a folder": lambda _, git: git("worktree", "add", "-q", "inner", "-b", "inner"),
    "a file is deleted": lambda root, _: (root / "lamp/a.py").unlink(),
    "a file is staged": lambda _, git: git("add", "new.py"),
    "a commit": lambda _, git: git("commit", "-qm", "c", "--allow-empty"),
    "a branch": lambda _, git: git("checkout", "-qb", "other/one"),
    "its upstream": lambda _, git: git("update-ref", "refs/remotes/origin/main", "HEAD~1"),
    "its settings": lambda _, git: git("branch", "-q", "--unset-upstream"),
    "what git ignores": lambda root, _: (root / ".gitignore").write_text("*.py\n"),
    "for this clone": lambda root, _: (root / ".git/info/exclude").write_text("new.py\n"),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_git_is_asked_again_after_any_change(
    clone: Path, git: Git, tmp_path: Path, change: str
) -> None:
    """And not while nothing changes."""
    with watched_git(tmp_path) as asked:
        await look_until_kept(clone, asked)
        CHANGES[change](clone, lambda *given: git(*given, folder=clone))
        asked()
        await look(clone)
        assert asked()


@pytest.mark.parametrize(
    ("changed", "text", "asks"),
    [
        ("new.py", "c = 3\n", True),
        ("lamp/a.py", "c = 3\n", False),
        (".gitignore", "lamp/a.py\n", True),
        ("lamp/made.py", "", True),
    ],
    ids=["the file in question", "another file", "ignore rules", "a new file"],
)
async def test_an_answer_about_a_file_depends_on_that_file_and_the_listing(
    clone: Path, tmp_path: Path, changed: str, text: str, asks: bool
) -> None:
    """A file is written in place, so that no folder shows it."""
    (clone / ".gitignore").write_text("*.log\n")
    with watched_git(tmp_path) as asked:
        await look_until_kept(clone, asked)
        (clone / changed).write_text(text)
        asked()
        assert (kept_look(clone, lambda _: ["new.py"]) is None) is asks
        assert kept_look(clone) is None


async def test_a_folder_of_a_repository_sees_what_is_ignored_above_it(
    clone: Path, tmp_path: Path
) -> None:
    """The rules of the folders around it count for its files too."""
    with watched_git(tmp_path) as asked:
        await look_until_kept(clone / "lamp", asked)
        (clone / ".gitignore").write_text("lamp/b.py\n")
        await look(clone / "lamp")
        assert asked()
