"""Repeat requests that a Qdrant server cannot answer at the moment.

The store sends only requests that may be repeated, even if the server carried out the first one and
only its answer was lost: writes and deletions name their points or their filter, and creating
what exists already is recognized.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any, cast

import grpc
from attrs import define, field
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from contextkit.logs import get_logger
from contextkit.store.server_errors import BUSY, SERVER_ERRORS, GaveUpError, causes

_BUSY_CODES = ("UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED")
_UNREACHABLE = frozenset(("ConnectError", "TimeoutException"))
_FIRST_WAIT = 0.25
_LONGEST_WAIT = 8.0
_NOTABLE_WAIT = 1.0

_log = get_logger(__name__)


@define(eq=False)
class RetryingClient:
    """A client that repeats failed requests within a time limit.

    A server that never answered is not waited for: its address is probably wrong.

    Attributes:
        client: sends the requests.
        url: the server's name in logs.
        answered: whether the server has answered before.
    """

    client: QdrantClient
    url: str
    answered: bool = field(default=False, init=False)

    def within(self, seconds: float) -> QdrantClient:
        """The client, with a time limit for all attempts of each request."""
        return cast("QdrantClient", _Methods(self, seconds))

    def call(self, method: Callable[..., Any], seconds: float, *given: Any, **named: Any) -> Any:
        """Call a method of the client until it succeeds or the time is over."""
        started = time.monotonic()
        wait, noted = _FIRST_WAIT, False
        while True:
            try:
                result = method(*given, **named)
            except SERVER_ERRORS as error:
                if not self._passes(error):
                    raise
                passed = time.monotonic() - started
                asked, left = _asked_pause(error), seconds - passed
                if left <= 0 or (asked is not None and asked > left):
                    raise GaveUpError(error, passed) from error
                pause = asked or min(wait * random.uniform(0.5, 1.0), left)  # noqa: S311
                if not noted and passed + pause >= _NOTABLE_WAIT:
                    noted = True
                    _log.warning("server_busy", url=self.url, limit=seconds, error=str(error)[:200])
                time.sleep(pause)
                wait = min(2 * wait, _LONGEST_WAIT)
            else:
                self.answered = True
                return result

    def _passes(self, error: Exception) -> bool:
        """Whether the same request may succeed soon."""
        match error:
            case UnexpectedResponse():
                return error.status_code in BUSY
            case QdrantException():
                return True
            case grpc.RpcError():
                code = error.code().name
                return code in _BUSY_CODES and (self.answered or code == "RESOURCE_EXHAUSTED")
            case ResponseHandlingException():
                names = causes(error.source)
                return "TransportError" in names and (self.answered or not names & _UNREACHABLE)
        # The answer ended too early, unless the server is not Qdrant.
        return self.answered and isinstance(error, json.JSONDecodeError)


@define(eq=False)
class _Methods:
    """The methods of a client, repeated."""

    _retrying: RetryingClient
    _seconds: float

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._retrying.client, name)
        if not callable(found):
            return found

        def repeated(*given: Any, **named: Any) -> Any:
            return self._retrying.call(found, self._seconds, *given, **named)

        return repeated


def _asked_pause(error: Exception) -> float | None:
    """The seconds that the server asks to wait, if it does."""
    given = getattr(error, "retry_after_s", None)
    if isinstance(error, UnexpectedResponse):
        given = error.headers.get("Retry-After")
    try:
        return max(float(given), 0.0) or None if given is not None else None
    except ValueError:
        # It may be a date.
        return None
