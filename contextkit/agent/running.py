"""Run the background server, and read its health records."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextkit.agent.client import ask, settings_in, socket_path
from contextkit.agent.lock import only_server
from contextkit.config.load import data_folder
from contextkit.files import make_private_folder, open_private
from contextkit.pipeline.breakers import SourceHealth
from contextkit.store.freed import release_freed_memory
from contextkit.store.holder import name_process

if TYPE_CHECKING:
    from contextkit.agent.server import RunCommand
    from contextkit.config.sections import HookSettings

_LOG_BYTES = 1 << 20

_SECONDS = 5.0


def run_here(
    idle_seconds: float, warm: str | None = None, run_command: RunCommand | None = None
) -> bool | None:
    """Run the server in this process until it ends.

    Args:
        idle_seconds: seconds without a request before it ends.
        warm: a folder of a workspace to load in advance.
        run_command: runs commands for other processes.

    Returns:
        True after it has ended, False if another server already runs, None if the system cannot
        run one.
    """
    path = socket_path(os.environ)
    if path is None:
        return None
    with only_server(path) as first:
        if first:
            _serve(Path(path), idle_seconds, warm, run_command)
    return first


def _serve(
    path: Path,
    idle_seconds: float,
    warm: str | None,
    run_command: RunCommand | None,
    loaded: Callable[[], None] = lambda: None,
) -> None:
    from contextkit.agent.server import ResidentServer

    server = ResidentServer(path, idle_seconds, run_command)
    name_process("contextkit serve")

    def stop(*_: Any) -> None:
        server.end()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)

    def make_ready() -> None:
        if warm is not None:
            server.warm(warm, settings_in(os.environ))
        loaded()
        gc.collect()
        # Loaded objects stay, so garbage collections can skip them.
        gc.freeze()
        release_freed_memory()

    server.serve(ready=lambda: threading.Thread(target=make_ready, daemon=True).start())


def run_detached(
    path: str, warm: str | None, run_command: RunCommand, loaded: Callable[[], None]
) -> None:
    """Run the server as a detached process, logging its output.

    Args:
        path: that of the socket or address file, which this process has locked.
        warm: a folder of a workspace to load in advance.
        run_command: runs commands for other processes.
        loaded: called when the workspace is loaded.
    """
    folder = data_folder() / "hooks"
    make_private_folder(folder)
    log = folder / "resident.log"
    begun_anew = os.O_TRUNC if log.exists() and log.stat().st_size > _LOG_BYTES else 0
    number = open_private(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | begun_anew)
    for stream in (1, 2):
        os.dup2(number, stream)
    os.close(number)
    # A relative CONTEXTKIT_HOME is meant from where the hook ran.
    os.environ.update(settings_in(os.environ))
    os.chdir("/")
    settings = _hook_settings(warm)
    # A hook that timed out starts it before reading whether it is enabled.
    if settings.resident and settings.enabled:
        _serve(Path(path), settings.idle_minutes * 60, warm, run_command, loaded)


def _hook_settings(folder: str | None) -> HookSettings:
    from contextkit.config.load import load_config
    from contextkit.config.sections import HookSettings
    from contextkit.errors import ContextKitError
    from contextkit.workspace.find import find_workspace

    try:
        return load_config(find_workspace(Path(folder or "/"))).hooks
    except ContextKitError:
        return HookSettings()


def remembered_health(
    folder: Path, environment: Mapping[str, str]
) -> dict[str, SourceHealth] | None:
    """Read the health of sources from the background server.

    Args:
        folder: a folder of the workspace.
        environment: variables that identify the server.

    Returns:
        Source -> its health; None if no server runs, or it has not opened this workspace.
    """
    asked: dict[str, Any] = {"op": "health", "folder": str(folder.absolute())}
    rows = (ask(asked, environment, _SECONDS) or {}).get("health")
    return None if rows is None else {row["source"]: SourceHealth(**row) for row in rows}
