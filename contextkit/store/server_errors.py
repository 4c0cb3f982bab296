"""Turn errors of a Qdrant server into one-line `StoreError`s."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import grpc
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from contextkit.errors import StoreError

SERVER_ERRORS = (
    UnexpectedResponse,
    ResponseHandlingException,
    QdrantException,
    grpc.RpcError,
    ValueError,
    RuntimeError,
    OSError,
)
"""What the client raises, over HTTP and over gRPC."""

_REFUSED = {
    401: "it refuses the API key: set the variable that store.api_key_variable names",
    403: "the API key may not do that: use one that may read and write the collection",
    404: "it does not have that collection, or is not a Qdrant server: check store.url",
    413: "the request is larger than it allows: raise its max_request_size_mb",
}

BUSY = frozenset((429, 502, 503, 504))
"""Statuses of a server that may answer the same request later."""

_NO_QDRANT = "it is not a Qdrant server: correct store.url"


class GaveUpError(Exception):
    """A request failed again and again.

    Attributes:
        error: the last failure.
        seconds: the time since the first attempt.
    """

    def __init__(self, error: Exception, seconds: float) -> None:
        self.error = error
        self.seconds = seconds
        super().__init__(error, seconds)


@contextlib.contextmanager
def server_errors(url: str) -> Iterator[None]:
    """Turn the client's errors into a `StoreError`."""
    try:
        yield
    except GaveUpError as error:
        repeated = f" (repeated for {error.seconds:.0f} s)" if error.seconds >= 1 else ""
        raise StoreError(f"the store at {url}: {_trouble(error.error)}{repeated}") from error
    except SERVER_ERRORS as error:
        raise StoreError(f"the store at {url}: {_trouble(error)}") from error


def causes(cause: BaseException) -> set[str]:
    """The names of an error's classes; which library has them depends on the client's version."""
    return {each.__name__ for each in type(cause).__mro__}


def _trouble(error: Exception) -> str:
    match error:
        case UnexpectedResponse():
            return _refusal(error)
        case ResponseHandlingException():
            return _connection_trouble(error.source)
        case QdrantException():
            return f"it is overloaded, try later; it says: {_line(error)}"
        case grpc.RpcError():
            return _grpc_trouble(error.code().name, _line(error.details()))
        case json.JSONDecodeError():
            return _NO_QDRANT
    return _line(error)


def _grpc_trouble(code: str, details: str) -> str:
    if code == "UNAVAILABLE":
        return (
            f"it cannot be reached over gRPC ({details}): start the server, or correct store.url "
            f"and store.grpc_port"
        )
    return f"it answered {code}: {details}"


def _refusal(error: UnexpectedResponse) -> str:
    status = error.status_code or 0
    said = f"it answered {status}: {_said(error.content)}"
    if status in BUSY:
        return f"it is overloaded or restarting, try later; {said}"
    return _REFUSED.get(status, said)


def _connection_trouble(cause: BaseException) -> str:
    names = causes(cause)
    if "TimeoutException" in names:
        return "it did not answer in time: check that the server runs and is not overloaded"
    if "ConnectError" in names:
        return (
            f"it cannot be reached ({cause}): start the server, or correct store.url; "
            f"without store.url the embedded store is used"
        )
    if "ValidationError" in names:
        return _NO_QDRANT
    return f"the connection failed ({type(cause).__name__}: {_line(cause)}): try again"


def _said(content: bytes) -> str:
    try:
        answer: Any = json.loads(content)
        return _line(answer["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return _line(content[:200].decode("utf-8", "replace"))


def _line(text: object) -> str:
    return " ".join(str(text).split())
