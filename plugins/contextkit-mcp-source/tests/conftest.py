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


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the process of each call of the wiki's tool."""
    file = tmp_path / "calls"
    file.touch()
    monkeypatch.setenv("WIKI_LOG", str(file))
    return file


@pytest.fixture
def open_servers(log: Path, tmp_path: Path) -> Iterator[Callable[..., ContextKit]]:
    """Opens a kit with these settings of the source; default: the wiki."""
    with ExitStack() as stack:
        stack.callback(connections.close)

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
