"""A wiki's server as a process of its own, and kits that ask it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import contextkit_mcp_source
from contextkit import ContextKit
from contextkit.testing import open_kit
from contextkit_mcp_source.connections import connections

WIKI = f"{sys.executable} {Path(__file__).with_name('wiki.py')}"


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the wiki, which runs for all tests of a module: it takes long to start."""
    folder = tmp_path_factory.mktemp("wiki")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("WIKI_LOG", str(folder / "calls"))
        yield folder
        connections.close()


@pytest.fixture
def own_wiki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a wiki that runs for one test, which may change it."""
    connections.close()
    monkeypatch.setenv("WIKI_LOG", str(tmp_path / "calls"))
    yield tmp_path
    connections.close()


@pytest.fixture
def log(wiki: Path) -> Path:
    """A file with the process of each call of the wiki's tool, empty at first."""
    file = wiki / "calls"
    file.write_text("")
    return file


@pytest.fixture
def open_servers(log: Path, tmp_path: Path) -> Iterator[Callable[..., ContextKit]]:
    """Opens a kit with these settings of the source; default: the wiki."""
    with ExitStack() as stack:

        def opened(*servers: str, **settings: Any) -> ContextKit:
            own = {"servers": [*servers] or [f"wiki: {WIKI}"], "environment": ["WIKI_LOG"]}
            chosen = {f"sources.servers.{name}": of for name, of in {**own, **settings}.items()}
            plugins = {"servers": contextkit_mcp_source}
            return stack.enter_context(
                open_kit(
                    tmp_path / "workspace",
                    plugins,
                    settings={"embedding.model": "none", **chosen},
                )
            )

        yield opened
