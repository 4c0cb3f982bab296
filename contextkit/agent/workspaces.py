"""The workspaces that the background server has open."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, evolve, field

from contextkit.agent.limits import open_for_hooks
from contextkit.agent.shown import hide_shown
from contextkit.config.load import user_config_file
from contextkit.kit import ContextKit
from contextkit.pipeline.breakers import SourceHealth
from contextkit.store.embedded import EmbeddedStore
from contextkit.workspace.find import Workspace, find_workspace

_KEPT_SECONDS = 24 * 3600.0
"""An idle shard stays open, but is closed at once when another process wants it."""

_Key = tuple[Path, tuple[tuple[str, str], ...]]


@define(eq=False)
class _Opened:
    """A kit, and how many requests use it.

    Attributes:
        is_replaced: whether the settings have changed, so that others use a newer kit.
    """

    kit: ContextKit
    stamp: object
    users: int = 0
    is_replaced: bool = False

    def close_replaced(self) -> None:
        """Close a replaced kit, once the requests that began with it have been answered."""
        if self.is_replaced and not self.users:
            self.kit.close()


@define(eq=False)
class Workspaces:
    """Open `ContextKit`s, the most recently used one last.

    Attributes:
        most: maximum number; the least recently used one is closed.
    """

    most: int = 4
    _open: OrderedDict[_Key, _Opened] = field(factory=OrderedDict, init=False)
    _turn: threading.Lock = field(factory=threading.Lock, init=False)

    def __len__(self) -> int:
        return len(self._open)

    @contextlib.contextmanager
    def use(self, folder: str, environment: Mapping[str, str]) -> Iterator[ContextKit]:
        """Return the kit of a folder's workspace.

        It is opened again if the configuration has changed.

        Raises what `ContextKit.open` raises.
        """
        found = find_workspace(Path(folder))
        key = (found.root, tuple(sorted(environment.items())))
        with self._turn:
            opened = self._take(key, found, environment)
            opened.users += 1
        try:
            yield opened.kit
        finally:
            with self._turn:
                opened.users -= 1
                opened.close_replaced()

    def health(self, folder: str) -> list[SourceHealth] | None:
        """Return the health of an open workspace's sources, or None.

        If it is open with several environments, the worst state of each source counts.

        Raises `WorkspaceError` if the folder does not exist.
        """
        root = find_workspace(Path(folder)).root
        with self._turn:
            kits = [opened.kit for (of, _), opened in self._open.items() if of == root]
        if not kits:
            return None
        found: dict[str, list[SourceHealth]] = {}
        for health in (health for kit in kits for health in kit.health().values()):
            found.setdefault(health.source, []).append(health)
        return [max(several, key=_illness) for several in found.values()]

    def _take(self, key: _Key, found: Workspace, environment: Mapping[str, str]) -> _Opened:
        stamp = _stamp(found)
        opened = self._open.pop(key, None)
        if opened is not None and opened.stamp != stamp:
            opened.is_replaced = True
            opened.close_replaced()
            opened = None
        if opened is None:
            opened = _Opened(_open_kit(found, environment), stamp)
        self._open[key] = opened
        self._make_way(key)
        return opened

    def _make_way(self, key: _Key) -> None:
        """Close the shards of other workspaces, and forget surplus ones."""
        for other, opened in list(self._open.items()):
            if other == key or opened.users:
                continue
            opened.kit.close()
            if len(self._open) > self.most:
                del self._open[other]

    def close(self) -> None:
        """Close all workspaces."""
        with self._turn:
            for opened in self._open.values():
                opened.kit.close()
            self._open.clear()


def _open_kit(found: Workspace, environment: Mapping[str, str]) -> ContextKit:
    kit = open_for_hooks(found, environment)
    if isinstance(kit.store, EmbeddedStore):
        kit = ContextKit(
            workspace=kit.workspace,
            config=kit.config,
            registry=kit.registry,
            store=evolve(kit.store, idle_seconds=_KEPT_SECONDS),
        )
    hide_shown(kit)
    return kit


def _illness(health: SourceHealth) -> tuple[bool, float, int]:
    return health.state != "closed", health.seconds or 0.0, health.failures


def _stamp(found: Workspace) -> object:
    files = [user_config_file(), *([found.config_file] if found.config_file else [])]
    return [(file, _state_of(file)) for file in files]


def _state_of(file: Path) -> Any:
    try:
        state = file.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
