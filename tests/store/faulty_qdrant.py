"""A stand-in for a Qdrant server that fails now and then, as servers and networks do."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler
from itertools import cycle
from typing import Any

from tests.store.http_qdrant import HttpQdrant, content_of, send

Fault = Callable[["FaultyQdrant", BaseHTTPRequestHandler, Any], None]
"""Answers one request wrongly, or not at all."""


class FaultyQdrant(HttpQdrant):
    """A server with a fault at each N-th request; a repeated request is answered.

    Attributes:
        faults: happen in turn.
        each: the N.
        failed: how many faults happened.
        down: whether every request is answered with 503.
    """

    def __init__(self, faults: Iterable[Fault] = (), each: int = 3, **options: Any) -> None:
        super().__init__(**options)
        self.faults = cycle(tuple(faults))
        self.each = each
        self.failed = 0
        self.down = False
        self._once: list[Fault] = []
        self._count = 0

    def fail(self, fault: Fault) -> None:
        """Fail once, at the next request."""
        self._once.append(fault)

    def respond(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        """Answer one request, or fail."""
        self._count += 1
        fault: Fault | None = unavailable if self.down else None
        if self._once:
            fault = self._once.pop()
        elif self._count % self.each == 0:
            fault = fault or next(self.faults, None)
        if fault is None:
            super().respond(handler, body)
        else:
            self.failed += 1
            fault(self, handler, body)


def unavailable(_: FaultyQdrant, handler: BaseHTTPRequestHandler, __: Any) -> None:
    """A proxy whose server restarts."""
    send(handler, 503, {"status": {"error": "no server is available"}})


def unavailable_for_a_moment(_: FaultyQdrant, handler: BaseHTTPRequestHandler, __: Any) -> None:
    """The same, with the time to wait."""
    send(handler, 503, {"status": {"error": "restarting"}}, Retry_After="0.01")


def too_many(seconds: str | None = None) -> Fault:
    """Make a rate limit, with or without a time to wait."""

    def too_many(_: FaultyQdrant, handler: BaseHTTPRequestHandler, __: Any) -> None:
        headers = {} if seconds is None else {"Retry_After": seconds}
        send(handler, 429, {"status": {"error": "Rate limit exceeded"}}, **headers)

    return too_many


def bad_gateway(_: FaultyQdrant, handler: BaseHTTPRequestHandler, __: Any) -> None:
    """A proxy's page instead of JSON."""
    handler.send_response(502)
    handler.end_headers()
    handler.wfile.write(b"<html>bad gateway")


def reset_before(_: FaultyQdrant, handler: BaseHTTPRequestHandler, __: Any) -> None:
    """The connection breaks before the request is applied."""
    _reset(handler)


def reset_after(server: FaultyQdrant, handler: BaseHTTPRequestHandler, body: Any) -> None:
    """The request is applied, and the connection breaks before the answer."""
    server.answered(handler, body)
    _reset(handler)


def half_an_answer(server: FaultyQdrant, handler: BaseHTTPRequestHandler, body: Any) -> None:
    """The connection ends within the answer."""
    status, answer = server.answered(handler, body)
    content = content_of(answer)
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])


def half_an_answer_of_unknown_length(
    server: FaultyQdrant, handler: BaseHTTPRequestHandler, body: Any
) -> None:
    """The same, where only the JSON shows it."""
    status, answer = server.answered(handler, body)
    content = content_of(answer)
    handler.send_response(status)
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])


def slow(seconds: float) -> Fault:
    """Make a fault that answers late."""

    def slow(server: FaultyQdrant, handler: BaseHTTPRequestHandler, body: Any) -> None:
        time.sleep(seconds)
        with contextlib.suppress(OSError):  # The client may have given up.
            HttpQdrant.respond(server, handler, body)

    return slow


PASSING: tuple[Fault, ...] = (
    unavailable,
    unavailable_for_a_moment,
    too_many(),
    bad_gateway,
    reset_before,
    reset_after,
    half_an_answer,
    half_an_answer_of_unknown_length,
    slow(0.01),
)
"""Faults after which the same request succeeds."""


def _reset(handler: BaseHTTPRequestHandler) -> None:
    # Closing with pending data and no lingering sends a reset.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()
    handler.wfile.close = lambda: None  # type: ignore[method-assign]
    handler.wfile = _Nowhere()  # type: ignore[assignment]


class _Nowhere:
    """Takes what the handler still writes."""

    closed = True

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
