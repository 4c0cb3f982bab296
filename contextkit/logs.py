"""Logging with structlog, where the host has configured it.

Such a host gets every event its way. Otherwise warnings and errors go to standard error, and
the rest nowhere, as with Python's own logging: standard output belongs to the program, and may
carry a protocol. contextkit itself imports structlog only for `--debug`. Secrets in an event's
fields are replaced. The program goes on where an event cannot be written.

Spans of OpenTelemetry, where the program that embeds contextkit traces with it.

A span for each assembly (`contextkit.assemble`), one for each of its stages
(`contextkit.gather`, …) and one for each question to a source (`contextkit.source`). They hold
numbers, names and states: no query, and nothing that a source found.
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
"""Levels that are written where structlog is not configured."""

_silencers: list[object] = []


@frozen
class _Logger:
    """A logger that is found anew for each event, so that it follows the configuration."""

    name: str

    def __getattr__(self, method: str) -> Any:
        if _silencers:
            return _nothing
        structlog = sys.modules.get("structlog")
        # Another thread may be importing it at this moment.
        is_configured = getattr(structlog, "is_configured", None)
        if structlog is None or is_configured is None or not is_configured():
            return _last_resort(method)
        log = getattr(structlog.get_logger(self.name), method)
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
    from contextkit.text.secrets import redacted

    return log(*arguments, **redacted(fields))


def _nothing(*_: object, **__: object) -> None:
    pass


def _last_resort(level: str) -> Any:
    """Write an event as one line, without structlog: importing it takes a tenth of a second."""
    if level not in _SHOWN:
        return _nothing

    def write(event: str, **fields: object) -> None:
        said = "".join(f" {name}={value!r}" for name, value in fields.items())
        events_on_stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} [{level}] {event}{said}\n")

    return partial(_redacting, write)


Attributes = Mapping[str, str | int | float | bool]

_API = "opentelemetry.trace"
_TRACER = "contextkit"


@contextlib.contextmanager
def span(name: str, attributes: Attributes | None = None) -> Iterator[Any]:
    """A span for as long as this lasts; an exception that passes through is recorded on it.

    Nothing where the program has not imported OpenTelemetry's API: importing it here would
    cost every start.

    Args:
        name: `contextkit.STAGE`.
        attributes: what is known of it now; `describe` adds what is found out later.
    """
    api = sys.modules.get(_API)
    if api is None:
        yield None
        return
    with api.get_tracer(_TRACER).start_as_current_span(name, attributes=attributes) as started:
        yield started


def describe(started: Any, attributes: Attributes, *, failed: bool = False) -> None:
    """Add attributes to what `span` gave, and mark it as an error where it `failed`."""
    if started is None:
        return
    started.set_attributes(attributes)
    if failed:
        started.set_status(sys.modules[_API].StatusCode.ERROR)
