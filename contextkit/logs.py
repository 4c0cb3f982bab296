"""Logging and tracing, as the host has configured them.

If the host has configured structlog, it gets every event. Otherwise warnings and errors go to
standard error and the rest is dropped, as with Python's own logging: standard output belongs to
the program, and may carry a protocol. contextkit itself imports structlog only for `--debug`.
Secrets in an event's fields are replaced. A failing log does not stop the program.

If the host traces with OpenTelemetry, it gets a span for each assembly (`contextkit.assemble`),
for each stage (`contextkit.gather`, …) and for each call of a source (`contextkit.source`). Spans
have numbers, names and states. The query and a source's items are on them only if the environment
asks for texts, as OpenTelemetry's GenAI conventions have it.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from attrs import frozen

__all__ = ["describe", "get_logger", "silenced", "span"]

_SHOWN = frozenset({"warning", "error", "critical"})
"""Levels that are written if structlog is not configured."""

_silencers: list[object] = []

Attributes = Mapping[str, str | int | float | bool]

_NO_SPAN = contextlib.nullcontext()
_API = "opentelemetry.trace"
_TRACER = "contextkit"


@frozen
class _Logger:
    """A logger that follows changes of the configuration."""

    name: str

    def __getattr__(self, method: str) -> Any:
        if _silencers:
            return _nothing
        structlog = sys.modules.get("structlog")
        # Another thread may be importing structlog at this moment.
        is_configured = getattr(structlog, "is_configured", None)
        if structlog is None or is_configured is None or not is_configured():
            return _last_resort(method)
        log = getattr(structlog.get_logger(self.name), method)
        # structlog's name of the methods for disabled levels.
        return log if getattr(log, "__name__", "") == "_nop" else partial(_redacting, log)


@frozen(eq=False)
class _EventsOnStderr:
    """Writes to the current standard error, ignoring errors."""

    def write(self, text: str) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(text)

    def flush(self) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()


events_on_stderr: Any = _EventsOnStderr()
"""The default output of structlog."""


def get_logger(name: str) -> Any:
    """Return a structlog logger for a module.

    Args:
        name: the module's `__name__`.
    """
    return _Logger(name)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Drop all events, in all threads, during the block."""
    silencer = object()
    _silencers.append(silencer)
    try:
        yield
    finally:
        _silencers.remove(silencer)


def _redacting(log: Any, *arguments: Any, **fields: Any) -> Any:
    """Log an event with the secrets in its fields replaced."""
    from contextkit.text.secrets import redacted

    return log(*arguments, **redacted(fields))


def _nothing(*_: object, **__: object) -> None:
    pass


def _last_resort(level: str) -> Any:
    """Write events without importing structlog, which is slow."""
    if level not in _SHOWN:
        return _nothing

    def write(event: str, **fields: object) -> None:
        said = "".join(f" {name}={value!r}" for name, value in fields.items())
        events_on_stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} [{level}] {event}{said}\n")

    return partial(_redacting, write)


def span(name: str, attributes: Attributes | None = None) -> contextlib.AbstractContextManager[Any]:
    """Open a span for the block.

    Exceptions in the block are recorded on it.

    Does nothing if the program has not imported OpenTelemetry's API: importing it here would
    slow down every start.

    Args:
        name: `contextkit.STAGE`.
        attributes: what is known at the start; `describe` adds later attributes.
    """
    api = sys.modules.get(_API)
    if api is None:
        return _NO_SPAN
    started: contextlib.AbstractContextManager[Any] = api.get_tracer(_TRACER).start_as_current_span(
        name, attributes=attributes
    )
    return started


def describe(started: Any, attributes: Attributes, *, failed: bool = False) -> None:
    """Add attributes to a span, and mark failures."""
    if started is None:
        return
    started.set_attributes(attributes)
    if failed:
        started.set_status(sys.modules[_API].StatusCode.ERROR)
