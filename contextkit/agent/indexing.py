"""Index before a context is assembled; finish in the background.

`python -m contextkit.agent.indexing` finishes, as a detached process. It reads its task as JSON
from standard input. It ends when all is indexed, at once if another process indexes the same
checkout, and after an hour in any case. If it is killed, the next run goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextkit.agent.events import HookEvent
    from contextkit.indexing.run import IndexOutcome
    from contextkit.kit import ContextKit
    from contextkit.models.indexer import Progress

_FIRST_SECONDS = 2.0
"""How long an assembly waits for an index run.

Only a first run, or one after thousands of changes, takes longer.
"""

_MOST_SECONDS = 3600
_FLAG = "flag"


def index_for(
    kit: ContextKit,
    query: str,
    sources: Sequence[str] | None,
    progress: Callable[[Progress], None],
) -> Mapping[str, IndexOutcome]:
    """Index for a limited time, what may answer the query first, and start the rest.

    Args:
        kit: the workspace's.
        query: the question of the context that is assembled next.
        sources: which ones; default: every source that is on.
        progress: called as the work goes on.

    Returns what `ContextKit.index` returns; nothing where another process indexes, and the
    context's own note says how far it is.
    """
    from contextkit.indexing.partial import partly_indexed
    from contextkit.indexing.run import ELSEWHERE

    outcomes = kit.index(
        sources, progress=progress, wait=False, seconds=_FIRST_SECONDS, query=query
    )
    if any(done.report and done.report.remaining for done in outcomes.values()):
        index_in_background(kit, sources)
    if any(done.problem == ELSEWHERE for done in outcomes.values()):
        checkout = kit.records(next(iter(outcomes))).of_checkout.project
        return {} if any(partly_indexed(checkout, outcomes)) else outcomes
    return outcomes


def index_at_start(kit: ContextKit, event: HookEvent, environment: Mapping[str, str]) -> None:
    """Index in the background when an agent's session starts.

    A folder without git and without settings, such as a home folder, is left to commands.

    Args:
        kit: the event's workspace.
        event: the event.
        environment: the variables that the process gets.
    """
    from contextkit.agent.events import START

    workspace = kit.workspace
    is_project = workspace.config_file is not None or (workspace.root / ".git").exists()
    if event.name == START and kit.config.hooks.enabled and is_project:
        index_in_background(kit, environment=environment)


def index_in_background(
    kit: ContextKit,
    sources: Sequence[str] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Start a process that indexes the kit's workspace, where the system can.

    Args:
        kit: the workspace's.
        sources: which ones; default: every source that is on.
        environment: the variables that the process gets.
    """
    # Few assemblies need a process.
    from contextkit.agent.client import start_detached

    settings = {k: value for k, value, origin in kit.config.described() if origin.layer == _FLAG}
    asked = {
        "folder": str(kit.workspace.root),
        "settings": settings,
        "sources": None if sources is None else list(sources),
    }
    given = json.dumps(asked, default=str).encode("ascii")
    start_detached(["contextkit.agent.indexing"], environment, given)


def main() -> None:
    """Index what standard input says."""
    if hasattr(signal, "alarm"):
        # A plugin that hangs must not keep this process forever.
        signal.alarm(_MOST_SECONDS)
    # A run makes many objects and no cycles: the usual 700 costs it a twentieth of its time.
    gc.set_threshold(20_000)
    import hashlib

    from filelock import FileLock, Timeout

    from contextkit.agent.sessions import note
    from contextkit.config.load import data_folder, load_config, with_command_timeouts
    from contextkit.errors import in_words
    from contextkit.files import make_private_folder
    from contextkit.kit import ContextKit
    from contextkit.plugin.manager import SourceRegistry
    from contextkit.store.holder import name_process
    from contextkit.workspace.find import find_workspace

    name_process("contextkit index")
    given = sys.stdin.buffer.read()
    asked = json.loads(given)
    folder = Path(asked["folder"])
    if not folder.is_dir():
        # It was deleted meanwhile, and perhaps the home with it.
        return
    try:
        workspace = find_workspace(folder)
        config = with_command_timeouts(load_config(workspace, flags=asked["settings"]))
        make_private_folder(states := data_folder() / "state")
        alike = hashlib.sha256(given + repr(config.store).encode("utf-8", "surrogatepass"))
        lock = FileLock(states / f"background-{alike.hexdigest()[:16]}.lock", mode=0o600)
        # The index has a lock of its own, but in the store, for which all of them would wait.
        with contextlib.suppress(Timeout):
            lock.acquire(timeout=0)
        if not lock.is_locked:
            return
        with ContextKit.over(workspace, config, SourceRegistry(config)) as kit:
            kit.index(asked["sources"], wait=False)
    except Exception as error:  # noqa: BLE001 - can only be logged
        note("background_index_failed", reason=in_words(error))


if __name__ == "__main__":
    main()
