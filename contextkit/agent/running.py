"""Run the background server, in the foreground or detached; read the health it remembers."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextkit.agent.client import ask, settings_in, socket_path
from contextkit.config.load import data_folder
from contextkit.files import make_private_folder, open_private
from contextkit.pipeline.breakers import SourceHealth

if TYPE_CHECKING:
    from contextkit.config.sections import HookSettings

_LOG_BYTES = 1 << 20


def run_here(idle_seconds: float, warm: str | None = None) -> bool | None:
    """Serve until the end.

    Args:
        idle_seconds: it ends after this long without a question.
        warm: a folder in a workspace to make ready for.

    Returns:
        Whether this process served; False where another one does, None where none can.
    """
    path = socket_path(os.environ)
    if path is None:
        return None
    # It needs what only systems with Unix sockets have.
    from contextkit.agent.server import ResidentServer

    server = ResidentServer(Path(path), idle_seconds)

    def stop(*_: Any) -> None:
        server.end()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)

    def make_ready() -> None:
        if warm is not None:
            server.warm(warm, settings_in(os.environ))
        gc.collect()
        # What is loaded by now stays: it is not searched for garbage again.
        gc.freeze()

    return server.serve(ready=lambda: threading.Thread(target=make_ready, daemon=True).start())


def run_detached(warm: str | None) -> None:
    """Serve as a process of its own that nobody waits for; what it prints is logged.

    Where the folder that it was begun for is gone by then, it ends and leaves nothing.
    """
    if warm is not None and not Path(warm).is_dir():
        return
    folder = data_folder() / "hooks"
    make_private_folder(folder)
    log = folder / "resident.log"
    begun_anew = os.O_TRUNC if log.exists() and log.stat().st_size > _LOG_BYTES else 0
    number = open_private(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | begun_anew)
    for stream in (1, 2):
        os.dup2(number, stream)
    os.close(number)
    os.chdir("/")
    settings = _hook_settings(warm)
    # A hook that was late starts it without having read that none is wanted.
    if settings.resident and settings.enabled:
        run_here(settings.idle_minutes * 60, warm)


def _hook_settings(folder: str | None) -> HookSettings:
    from contextkit.config.load import load_config
    from contextkit.config.sections import HookSettings
    from contextkit.errors import ContextKitError
    from contextkit.workspace.find import find_workspace

    try:
        return load_config(find_workspace(Path(folder or "/"))).hooks
    except ContextKitError:
        return HookSettings()


_SECONDS = 5.0


def remembered_health(
    folder: Path, environment: Mapping[str, str]
) -> dict[str, SourceHealth] | None:
    """Source -> how it fared in the resident process.

    Args:
        folder: a folder in the workspace.
        environment: variables; they say which resident process is asked.

    Returns:
        What it knows; None where there is none, or it has not this workspace open.
    """
    asked: dict[str, Any] = {"op": "health", "folder": str(folder.absolute())}
    rows = (ask(asked, environment, _SECONDS) or {}).get("health")
    return None if rows is None else {row["source"]: SourceHealth(**row) for row in rows}
