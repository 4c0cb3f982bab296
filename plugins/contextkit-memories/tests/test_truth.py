"""Memories that name what is gone from the workspace are marked in a context."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextkit_code
import contextkit_memories
from contextkit import ContextKit
from contextkit.testing import open_kit
from contextkit.testing.repositories import Git, own_git
from contextkit_memories import MemoryBook

LOGIN = "def validate_token(token):\n    return token\n"


@pytest.fixture
def git(tmp_path: Path) -> Iterator[Git]:
    """A repository with a module, a test of it and a page."""
    with own_git(tmp_path) as git:
        git("init", "-q")
        commit(git, **{"src/auth/login.py": LOGIN, "README.md": "`validate_token` checks.\n"})
        yield git


def commit(git: Git, **files: str) -> str:
    """Write files, commit them, and return the commit's abbreviated sha."""
    for path, text in files.items():
        (git.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (git.folder / path).write_text(text)
    git("add", "-A")
    git("commit", "-qm", "Change")
    return git("rev-parse", "--short", "HEAD").strip()


@pytest.fixture
def kit(git: Git) -> Iterator[ContextKit]:
    """A kit over the repository, with code and memories."""
    settings = {"embedding.model": "none"}
    plugins = {"memories": contextkit_memories, "code": contextkit_code}
    with open_kit(git.folder, plugins, settings=settings) as opened:
        opened.index()
        yield opened


async def shown(kit: ContextKit, query: str = "login") -> str:
    """The lines of a context of the memories."""
    context = await kit.assemble_context(query, ["memories"], detail="compact", record_use=False)
    return "\n".join(context.markdown.splitlines()[4:])


async def test_a_memory_that_names_a_deleted_file_is_marked(git: Git, kit: ContextKit) -> None:
    """As soon as the file is gone, without an index run."""
    MemoryBook.of(kit).remember("The login is in `src/auth/login.py`")
    assert "outdated" not in await shown(kit)
    (git.folder / "src/auth/login.py").unlink()
    assert "(outdated: `src/auth/login.py` is gone) The login" in await shown(kit)


async def test_a_memory_that_names_a_renamed_function_is_marked(git: Git, kit: ContextKit) -> None:
    """The page that still mentions it does not count; before the index run, nothing is said."""
    MemoryBook.of(kit).remember("The login calls validate_token()")
    assert "outdated" not in await shown(kit)
    commit(git, **{"src/auth/login.py": LOGIN.replace("validate", "verify")})
    assert "outdated" not in await shown(kit)
    kit.index()
    assert "(outdated: `validate_token` is gone) The login" in await shown(kit)
