"""Spans of OpenTelemetry, where the program that embeds contextkit traces with it.

A span for each assembly (`contextkit.assemble`), one for each of its stages
(`contextkit.gather`, …) and one for each question to a source (`contextkit.source`). They hold
numbers, names and states: no query, and nothing that a source found.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Attributes", "describe", "span"]

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
