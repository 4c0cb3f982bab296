"""A workspace that is a git repository, and questions to the source about it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import contextkit_workspace
from contextkit import ContextItem, ContextKit, FormattedContext
from contextkit.testing import Git, open_kit, own_git

Find = Callable[..., Awaitable[dict[str, ContextItem]]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def write(workspace: Path) -> Callable[..., Path]:
    """Write a file of the workspace."""

    def written(path: str, text: str = "text\n", edited: float | None = None) -> Path:
        file = workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if edited is not None:
            os.utime(file, (edited, edited))
        return file

    return written


@pytest.fixture
def git(workspace: Path) -> Iterator[Git]:
    """Run git, by default in the workspace, with no configuration but its own."""
    with own_git(workspace) as run:
        yield run


@pytest.fixture
def repository(git: Git, workspace: Path) -> Path:
    """The workspace as a repository on the branch `main`."""
    git("init", "-q", "-b", "main")
    return workspace


@pytest.fixture
def commit(git: Git) -> Callable[[], None]:
    """Commit everything that is in the workspace."""

    def committed() -> None:
        git("add", ".")
        git("commit", "-qm", "a")

    return committed


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings of the source; a test may fill it before it asks for a kit."""
    return {}


@pytest.fixture
def kit(workspace: Path, settings: dict[str, Any]) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    (workspace / "contextkit.toml").touch()
    own = {f"sources.workspace.{key}": value for key, value in settings.items()}
    with open_kit(workspace, {"workspace": contextkit_workspace}, settings=own) as opened:
        yield opened


@pytest.fixture
def find(kit: ContextKit) -> Find:
    """Ask; the items by id, as they are shown in a context that is large enough."""

    async def found(query: str, **request: Any) -> dict[str, ContextItem]:
        context: FormattedContext = await kit.assemble_context(
            query, ["workspace"], max_tokens=20_000, style="plain", **request
        )
        (source,) = context.trace.sources
        assert source.state in {"ok", "empty"}, source.reason
        return {item.id: item for item in context.items}

    return found
