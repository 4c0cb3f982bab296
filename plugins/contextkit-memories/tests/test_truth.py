"""Memories that mention what is gone from the workspace are marked in a context."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_code
import contextkit_commits
import contextkit_memories
from contextkit import ContextKit, Record
from contextkit.models import Detail, Style
from contextkit.testing import open_kit
from contextkit.testing.repositories import Git, own_git, watched_git
from contextkit_memories import Memory, MemoryBook

LOGIN = "def validate_token(token):\n    return token\n"


def commit(git: Git, files: dict[str, str]) -> None:
    """Write files, and commit all changes."""
    for path, text in files.items():
        (git.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (git.folder / path).write_text(text)
    git("add", "-A")
    git("commit", "-qm", "Change")


@pytest.fixture
def git(tmp_path: Path) -> Iterator[Git]:
    """A repository with a module and a page about it."""
    folder = tmp_path / "work"
    folder.mkdir()
    with own_git(folder) as git:
        git("init", "-q")
        commit(git, {"src/auth/login.py": LOGIN, "README.md": "`validate_token` checks.\n"})
        yield git


@pytest.fixture
def kit(git: Git) -> Iterator[ContextKit]:
    """A kit over the repository, with its code and commits indexed."""
    plugins = {
        "memories": contextkit_memories,
        "code": contextkit_code,
        "commits": contextkit_commits,
    }
    settings = {"embedding.model": "none"}
    with open_kit(git.folder, plugins, settings=settings) as opened:
        opened.index()
        yield opened


def remember(kit: ContextKit, text: str) -> Memory:
    """Store a memory as the command and the tool do."""
    return MemoryBook.of(kit).remember(text)


async def mark_of(kit: ContextKit, memory: Memory) -> list[str] | None:
    """What a memory is said to mention that is gone."""
    context = await kit.assemble_context(memory.text, ["memories"], min_relevance=0)
    (item,) = (item for item in context.items if item.id == memory.id)
    assert "anchors" not in item.metadata
    return item.metadata.get("outdated")


async def test_a_memory_that_names_a_deleted_file_is_marked(git: Git, kit: ContextKit) -> None:
    """As soon as the file is gone, without an index run; and no longer when it is back."""
    memory = remember(kit, "The login is in `src/auth/login.py`")
    assert await mark_of(kit, memory) is None
    (git.folder / "src/auth/login.py").unlink()
    assert await mark_of(kit, memory) == ["src/auth/login.py"]
    git("checkout", "-q", ".")
    assert await mark_of(kit, memory) is None


@pytest.mark.parametrize(
    ("style", "detail", "line"),
    [
        ("markdown", "full", "{}, outdated: `src/auth/login.py` is gone): Login:"),
        ("markdown", "compact", "- {} (outdated: `src/auth/login.py` is gone) Login:"),
        ("plain", "full", "memory [{}, outdated: src/auth/login.py is gone]"),
        ("xml", "full", 'date="{}" outdated="src/auth/login.py is gone"'),
    ],
)
async def test_the_mark_stands_before_the_text(
    git: Git, kit: ContextKit, style: Style, detail: Detail, line: str
) -> None:
    """So a memory that is shortened has it too."""
    memory = remember(kit, "Login: src/auth/login.py. " + "It is long. " * 900)
    (git.folder / "src/auth/login.py").unlink()
    context = await kit.assemble_context("login", ["memories"], style=style, detail=detail)
    assert line.format(f"{memory.created_at:%Y-%m-%d}") in context.markdown


async def test_a_memory_that_names_a_renamed_function_is_marked(git: Git, kit: ContextKit) -> None:
    """The page that still mentions it does not count; before the index run, nothing is said."""
    memory = remember(kit, "The login calls validate_token()")
    commit(git, {"src/auth/login.py": LOGIN.replace("validate", "verify")})
    assert await mark_of(kit, memory) is None
    kit.index()
    assert await mark_of(kit, memory) == ["validate_token"]


async def test_a_function_in_another_file_is_not_gone(git: Git, kit: ContextKit) -> None:
    """Nor is a file that is mentioned by its name alone, and has moved."""
    texts = ["The login calls validate_token()", "See `login.py` for that"]
    memories = [remember(kit, text) for text in texts]
    git("mv", "src/auth", "src/session")
    commit(git, {})
    kit.index()
    assert [await mark_of(kit, memory) for memory in memories] == [None, None]


async def test_what_never_was_in_the_workspace_is_not_gone(git: Git, kit: ContextKit) -> None:
    """Names of other projects, plans and prose, whatever they look like."""
    texts = [
        "Postgres has `pg_stat_statements` in conf/tuning.conf",
        "Plan: a `--dry-run` flag and a SessionManager, e.g. next week",
        "The fix of the other project is 3fa9c1e7",
        "../work2/login.py is next door, and so is /etc/passwd",
    ]
    memories = [remember(kit, text) for text in texts]
    commit(git, {"src/auth/login.py": "pass\n"})
    kit.index()
    assert [await mark_of(kit, memory) for memory in memories] == [None] * len(memories)


async def test_a_commit_that_was_rewritten_is_marked(
    git: Git, kit: ContextKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not one that the index does not have yet."""
    git("commit", "-q", "--allow-empty", "-m", "Sort")
    # The whole sha: one abbreviated sha in 27 has no letter, and is read as a number.
    sha = git("rev-parse", "HEAD").strip()
    memory = remember(kit, f"Headers are sorted since {sha}")
    assert await mark_of(kit, memory) is None
    kit.index()
    assert await mark_of(kit, memory) is None
    git("reset", "-q", "--hard", "HEAD^")
    kit.index()
    assert await mark_of(kit, memory) is None
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2050-01-01T00:00:00Z")
    git("commit", "-q", "--allow-empty", "-m", "Sort")
    kit.index()
    assert await mark_of(kit, memory) == [sha]


async def test_a_commit_dated_after_the_year_9999_costs_no_memory(
    git: Git, kit: ContextKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git stores such dates; whether the commit was rewritten cannot be told then."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@300000000000 +0000")
    git("commit", "-q", "--allow-empty", "-m", "Sort")
    memory = remember(kit, f"Headers are sorted since {git('rev-parse', 'HEAD').strip()}")
    git("reset", "-q", "--hard", "HEAD^")
    kit.index()
    assert await mark_of(kit, memory) is None


async def test_a_memory_of_the_user_is_not_checked(git: Git, kit: ContextKit) -> None:
    """It is seen in all projects, of which most have no such file."""
    memory = MemoryBook.of(kit).remember("My notes are like README.md", shared=True)
    (git.folder / "README.md").unlink()
    assert await mark_of(kit, memory) is None


async def test_no_program_runs_while_a_context_is_assembled(
    git: Git, kit: ContextKit, tmp_path: Path
) -> None:
    """Git looks things up when a memory is written."""
    with watched_git(tmp_path) as asked:
        memory = remember(kit, "The login in src/auth/login.py calls validate_token()")
        assert asked() == ["grep"]
        commit(git, {"src/auth/login.py": "pass\n"})
        kit.index()
        asked()
        assert await mark_of(kit, memory) == ["validate_token"]
        assert asked() == []


async def test_without_git_paths_are_checked(tmp_path: Path) -> None:
    """Also that of a link is none, which could lead anywhere."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plan.md").write_text("x")
    (folder / "away").symlink_to(tmp_path)
    with own_git(folder), open_kit(folder, {"memories": contextkit_memories}) as kit:
        memory = remember(kit, "The plan is in plan.md and away/notes/plan.md")
        assert memory.anchors == (("path", "plan.md", "plan.md"),)
        (folder / "plan.md").unlink()
        assert await mark_of(kit, memory) == ["plan.md"]


async def test_odd_anchors_of_an_import_are_ignored(kit: ContextKit) -> None:
    """A path that leads out of the workspace is neither read nor reported."""
    odd = [["path"], ["name", "x", 3], "path", ["pony", "a"], ["commit", "a", "abcdef0"]]
    anchors = [["path", "a", "../../etc/passwd"], *odd]
    record = Record(id="mem_1", text="a odd", fields={"anchors": anchors})
    kit.records("memories").put([record])
    memory = MemoryBook.of(kit).get("mem_1")
    assert memory.anchors == (("path", "a", "../../etc/passwd"),)
    assert await mark_of(kit, memory) is None


def test_the_same_text_again_looks_things_up_again(git: Git, kit: ContextKit) -> None:
    """Who says it once more says that it is true."""
    book = MemoryBook.of(kit)
    first = book.remember("The login is in src/auth/login.py or src/session.py")
    assert book.remember(first.text).outcome == "unchanged"
    commit(git, {"src/session.py": LOGIN})
    again = book.remember(first.text)
    assert (again.id, again.outcome) == (first.id, "updated")
    assert ("path", "src/session.py", "src/session.py") in (again.anchors or ())


async def test_each_work_tree_is_checked_by_its_own_files(git: Git, tmp_path: Path) -> None:
    """They share the memory, and not what was deleted in one of them."""
    git("worktree", "add", "-q", "../other")
    other = tmp_path / "other"
    settings = {"embedding.model": "none", "store.path": tmp_path / "store", "project": "demo"}
    plugins = {"memories": contextkit_memories}
    with open_kit(git.folder, plugins, settings=settings) as kit:
        memory = remember(kit, "The login is in src/auth/login.py")
        (other / "src/auth/login.py").unlink()
        assert await mark_of(kit, memory) is None
    with open_kit(other, plugins, settings=settings) as kit:
        assert await mark_of(kit, memory) == ["src/auth/login.py"]
