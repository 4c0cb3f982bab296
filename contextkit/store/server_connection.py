"""Connect to a Qdrant server as the settings say."""

from __future__ import annotations

import contextlib
import ssl
import warnings
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from qdrant_client import QdrantClient

from contextkit.config.sections import StoreSettings
from contextkit.errors import StoreError
from contextkit.logs import get_logger
from contextkit.store.server_errors import server_errors

_log = get_logger(__name__)


def connector(url: str, api_key: str | None, settings: StoreSettings) -> Callable[[], QdrantClient]:
    """Return a function that makes a client; nothing is sent before its first request.

    Raises `StoreError` for an invalid URL or CA file.
    """
    parts = _checked_url(url)
    if api_key and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1"):
        _log.warning("api_key_sent_unencrypted", url=url)
    options = _options(settings)

    def connect() -> QdrantClient:
        with server_errors(url), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Api key is used with an insecure")
            return QdrantClient(url=url, api_key=api_key, check_compatibility=False, **options)

    return connect


def _options(settings: StoreSettings) -> dict[str, Any]:
    options: dict[str, Any] = {"timeout": settings.timeout}
    if settings.grpc_port is not None:
        options |= {"grpc_port": settings.grpc_port, "prefer_grpc": True}
    if settings.ca_file is not None:
        try:
            options["verify"] = ssl.create_default_context(cafile=str(settings.ca_file))
            if settings.grpc_port is not None:
                options["grpc_options"] = {"root_certificates": settings.ca_file.read_bytes()}
        except OSError as error:
            raise StoreError(
                f"store.ca_file: cannot read certificates from {settings.ca_file} "
                f"({error.strerror or error}): give a file in PEM format"
            ) from error
    return options


def _checked_url(url: str) -> SplitResult:
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        # Reading the port raises for one that is not a number.
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    raise StoreError(f"store.url: expected http://HOST:PORT or https://HOST, got '{url}'")
