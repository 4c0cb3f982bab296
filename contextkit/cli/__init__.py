"""The command line `contextkit`, and helpers for plugins' commands."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from contextkit.package import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.cli.assemble import (
        checked_sources as checked_sources,
        warn_of_troubles as warn_of_troubles,
    )
    from contextkit.cli.entries import (
        add_command as add_command,
        edit_command as edit_command,
        emit_found as emit_found,
        entry_commands as entry_commands,
        list_command as list_command,
        part_options as part_options,
        remove_command as remove_command,
        search_command as search_command,
    )
    from contextkit.cli.failures import ExitCode as ExitCode
    from contextkit.cli.index import index_first as index_first
    from contextkit.cli.lazy import LazyCommand as LazyCommand
    from contextkit.cli.options import (
        Command as Command,
        Days as Days,
        no_index_option as no_index_option,
        query_from as query_from,
        request_options as request_options,
    )
    from contextkit.cli.root import cli as cli
    from contextkit.cli.session import (
        Session as Session,
        json_option as json_option,
        pass_session as pass_session,
    )

_NAMES = {
    "assemble": "checked_sources warn_of_troubles",
    "entries": (
        "add_command edit_command emit_found entry_commands list_command part_options "
        "remove_command search_command"
    ),
    "failures": "ExitCode",
    "index": "index_first",
    "lazy": "LazyCommand",
    "options": "Command Days no_index_option query_from request_options",
    "root": "cli",
    "session": "Session json_option pass_session",
}

__all__ = [name for names in ("main", *_NAMES.values()) for name in names.split()]
__getattr__ = lazy_names(__name__, **_NAMES)

_OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""Starting makes some ten thousand objects that all stay: looking for garbage finds none."""


def main() -> None:
    """Run the command line, and end the process."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # Threads of OpenBLAS would spin beside the work, and no computation here is large enough for
    # them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code: object = _run()
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        code = 130
    if isinstance(code, int):
        _end(code)
    sys.exit(code)  # type: ignore[arg-type]


def _run() -> int:
    from contextkit.cli.delegate import asks_the_store, delegated

    arguments = sys.argv[1:]
    code = delegated(arguments)
    if code is None:
        if asks_the_store(arguments):
            from contextkit.store.read_ahead import begin_reading_ahead

            begin_reading_ahead(os.environ)
        from contextkit.agent.deferred import defer_imports
        from contextkit.agent.generated import cached_code
        from contextkit.agent.module_cache import cached_modules

        with cached_modules():
            defer_imports()
            with cached_code():
                from contextkit.cli.root import cli

                cli()
    return code or 0


def _end(code: int) -> None:
    """End the process without freeing its memory, which takes a twentieth of a command's time.

    Threads and exit handlers end before, as they always do.
    """
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)
