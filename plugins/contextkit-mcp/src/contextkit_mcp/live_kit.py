"""A `ContextKit` that follows configuration and plugin changes while open."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.metadata
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from contextkit import ContextKit
from contextkit.agent import (
    ENTRY_POINT_GROUP,
    Config,
    SourceRegistry,
    load_config,
    offered_tools,
    user_config_file,
    with_command_timeouts,
)
from contextkit.concurrency import in_thread
from contextkit.errors import ContextKitError
from contextkit.indexing import PROJECT_FILE, Workspace, find_workspace
from contextkit.logs import get_logger
from contextkit_mcp.built_in_tools import shows_all

_log = get_logger(__name__)

_Stamp = tuple[object, ...]


@define(eq=False)
class LiveKit:
    """A folder's kit, reopened when a setting or plugin changes.

    A replaced kit is closed once the last call that uses it has ended. If the new configuration is
    invalid, the kit stays as it was.

    Making one raises what `ContextKit.open` raises, and `PluginError` where two plugins offer one
    tool.

    Attributes:
        folder: a folder in the workspace.
        settings: dotted key -> value, stronger than files and environment.
        problem: why the newest configuration is not in use, or None.
    """

    folder: Path
    settings: Mapping[str, Any] = field(factory=dict)
    problem: str | None = field(default=None, init=False)
    _kit: ContextKit = field(init=False)
    _stamp: _Stamp = field(init=False)
    _installed: frozenset[tuple[str, ...]] = field(init=False)
    _users: Counter[ContextKit] = field(factory=Counter, init=False)
    _turn: asyncio.Lock = field(factory=asyncio.Lock, init=False)

    def __attrs_post_init__(self) -> None:
        self._stamp = self._look()
        self._installed = _installed()
        self._kit = self._opened()

    @contextlib.contextmanager
    def using(self) -> Iterator[ContextKit]:
        """Yield the current kit, and keep it open during use."""
        kit = self._kit
        self._users[kit] += 1
        try:
            yield kit
        finally:
            self._users[kit] -= 1
            self._close_unused(kit)

    async def refresh(self) -> None:
        """Reopen the kit if anything it depends on has changed."""
        async with self._turn:
            stamp = self._look()
            if stamp == self._stamp:
                return
            self._stamp = stamp
            try:
                made = await in_thread(self._made_anew)
            except ContextKitError as error:
                self.problem = str(error)
                _log.warning("configuration_not_in_use", reason=self.problem)
                return
            self.problem = None
            if made is not None:
                before, self._kit = self._kit, made
                self._close_unused(before)

    def close(self) -> None:
        """Close the store."""
        self._kit.close()

    def _opened(self) -> ContextKit:
        workspace = find_workspace(self.folder)
        config = self._configured(workspace)
        kit = ContextKit.over(workspace, config, SourceRegistry(config))
        # Check that listing works; problems of single plugins are reported where tools are listed.
        offered_tools(kit.registry, lambda *_: None)
        shows_all(kit)
        return kit

    def _configured(self, workspace: Workspace) -> Config:
        return with_command_timeouts(load_config(workspace, flags=self.settings))

    def _made_anew(self) -> ContextKit | None:
        """Return a new kit, or None if nothing has changed."""
        importlib.invalidate_caches()
        workspace, installed = find_workspace(self.folder), _installed()
        config = self._configured(workspace)
        made_from = (workspace, config, installed)
        if made_from == (self._kit.workspace, self._kit.config, self._installed):
            return None
        made = self._opened()
        self._installed = installed
        return made

    def _close_unused(self, kit: ContextKit) -> None:
        if self._users[kit] == 0:
            del self._users[kit]
            if kit is not self._kit:
                # A call that timed out may still hold the store for a while.
                threading.Thread(target=kit.close, name="contextkit-mcp-close", daemon=True).start()

    def _look(self) -> _Stamp:
        """Return a stamp of configuration files and installed distributions."""
        folder = self.folder.absolute()
        places = (folder, *folder.parents)
        files = [place / name for place in places for name in (PROJECT_FILE, "pyproject.toml")]
        # A folder's time changes when entries are added or removed.
        folders = [Path(entry) for entry in sys.path if entry]
        repositories = [(place / ".git").exists() for place in places]
        return (*map(_stamp_of, (user_config_file(), *files, *folders)), *repositories)


def _stamp_of(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _installed() -> frozenset[tuple[str, ...]]:
    return frozenset(
        (found.name, found.value, *((found.dist.name, found.dist.version) if found.dist else ()))
        for found in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    )
