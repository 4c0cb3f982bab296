"""Logging with structlog, which is imported with the first event.

A host that configures structlog gets every event its way. Where nobody has, warnings and
errors go to standard error and the rest nowhere, as with Python's own logging: standard
output belongs to the program, and may be a protocol's. Secrets in an event's fields are replaced.
An event that cannot be written is lost, and the program goes on.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from attrs import frozen

__all__ = ["events_on_stderr", "get_logger", "import_structlog", "silenced"]

_silencers: list[object] = []


@frozen
class _Logger:
    """A logger that is found anew for each event, so that it follows the configuration."""

    name: str

    def __getattr__(self, method: str) -> Any:
        if _silencers:
            return _nothing
        structlog = import_structlog()
        is_hosts = structlog.is_configured()
        logger = structlog.get_logger(self.name) if is_hosts else _last_resort(structlog)
        log = getattr(logger, method)
        # What structlog calls the methods of levels that are not written.
        return log if getattr(log, "__name__", "") == "_nop" else partial(_redacting, log)


@frozen(eq=False)
class _EventsOnStderr:
    """Standard error as it is for each event: missing, closed, full or broken, nobody fails."""

    def write(self, text: str) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(text)

    def flush(self) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()


events_on_stderr: Any = _EventsOnStderr()
"""Where structlog writes to, unless a host says otherwise."""


def get_logger(name: str) -> Any:
    """A structlog logger for a module.

    Args:
        name: the module's `__name__`.
    """
    return _Logger(name)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Drop every event, in all threads, for as long as this lasts."""
    silencer = object()
    _silencers.append(silencer)
    try:
        yield
    finally:
        _silencers.remove(silencer)


def _redacting(log: Any, *arguments: Any, **fields: Any) -> Any:
    """Log an event without the secrets in what it says."""
    from contextkit.secret_shapes import redacted

    return log(*arguments, **redacted(fields))


def _nothing(*_: object, **__: object) -> None:
    pass


def import_structlog() -> Any:
    """structlog, imported without rich, which it needs only for coloured tracebacks.

    That is a quarter of the time that `contextkit --help` would take.
    """
    if "structlog" not in sys.modules and "rich" not in sys.modules:
        sys.modules["rich"] = None  # type: ignore[assignment]
        try:
            import structlog
        finally:
            del sys.modules["rich"]
    import structlog

    return structlog


def _last_resort(structlog: Any) -> Any:
    import logging

    return structlog.wrap_logger(
        structlog.PrintLogger(events_on_stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    )
