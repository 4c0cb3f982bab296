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

_NO_QDRANT = "it is not a Qdrant server: correct store.url"


@contextlib.contextmanager
def server_errors(url: str) -> Iterator[None]:
    """Turn the client's errors into a `StoreError`."""
    try:
        yield
    except UnexpectedResponse as error:
        status = error.status_code or 0
        said = _REFUSED.get(status) or f"it answered {status}: {_said(error.content)}"
        raise StoreError(f"the store at {url}: {said}") from error
    except ResponseHandlingException as error:
        raise StoreError(f"the store at {url}: {_connection_trouble(error.source)}") from error
    except QdrantException as error:
        raise StoreError(f"the store at {url}: it is overloaded ({error}); try later") from error
    except json.JSONDecodeError as error:
        raise StoreError(f"the store at {url}: {_NO_QDRANT}") from error
    except (ValueError, RuntimeError, OSError) as error:
        raise StoreError(f"the store at {url}: {' '.join(str(error).split())}") from error


def _connection_trouble(cause: BaseException) -> str:
    name = type(cause).__name__
    if "Timeout" in name:
        return "it did not answer in time: check that the server runs and is not overloaded"
    if name == "ConnectError":
        return (
            f"it cannot be reached ({cause}): start the server, or correct store.url; "
            f"without store.url the embedded store is used"
        )
    if name == "ValidationError":
        return _NO_QDRANT
    return f"the connection failed ({name}: {' '.join(str(cause).split())}): try again"


def _said(content: bytes) -> str:
    try:
        answer: Any = json.loads(content)
        return " ".join(str(answer["status"]["error"]).split())
    except (ValueError, KeyError, TypeError):
        return " ".join(content[:200].decode("utf-8", "replace").split())
