"""Helpers for sources that search elsewhere: JSON over HTTP, and an order of results."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from attrs import evolve

from contextkit.models.items import ContextItem

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

_LARGEST = 5_000_000
"""In bytes."""

_PART = 65_536


def fetch_json(
    url: str,
    seconds: float,
    *,
    body: object = None,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """Request an address, and return the JSON that it answers.

    This call blocks: use it in a plain `contextkit_query`, which runs in a thread. A redirect to
    another host, or from https to http, is refused, since the headers may have a token.

    Args:
        url: an address that begins with `http://` or `https://`.
        seconds: the time limit, for example `request.answer_seconds`.
        body: a value to send as JSON, by POST; None for a GET.
        headers: further headers.

    Raises:
        OSError: if the server cannot be reached, is late, or answers with an error.
        ValueError: for another kind of address, and for an answer that is too long or no JSON.
    """
    from urllib.request import Request

    if not url.startswith(("http://", "https://")):
        raise ValueError(f"an address must begin with http:// or https://, got {url!r:.80}")
    end = time.monotonic() + seconds
    sent = {"Accept": "application/json", "Content-Type": "application/json", **(headers or {})}
    data = None if body is None else json.dumps(body).encode()
    asked = Request(url, data, sent)  # noqa: S310 - the kind of address is checked above
    with _opener().open(asked, timeout=seconds) as response:
        return json.loads(_read(response, end))


def in_order(items: Sequence[ContextItem]) -> list[ContextItem]:
    """Give items a relevance by their place, from 1 down to over 0.5.

    It is for servers that tell an order, and no measure of how well each result matches.
    """
    return [
        evolve(item, relevance=1.0 - 0.5 * place / len(items)) for place, item in enumerate(items)
    ]


def _read(response: IO[bytes], end: float) -> bytes:
    """Read an answer in parts, as a slow server may send it."""
    parts, size = [], 0
    while part := response.read1(_PART):  # type: ignore[attr-defined]
        parts.append(part)
        size += len(part)
        if size > _LARGEST:
            raise ValueError(f"the answer is longer than {_LARGEST:,} bytes")
        if time.monotonic() > end:
            raise TimeoutError("the answer did not end in time")
    return b"".join(parts)


def _opener() -> OpenerDirector:
    from urllib.error import URLError
    from urllib.parse import urlsplit
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class SameHost(HTTPRedirectHandler):
        def redirect_request(
            self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
        ) -> Request | None:
            old, new = urlsplit(req.full_url), urlsplit(newurl)
            if new.netloc != old.netloc:
                raise URLError(f"the server redirects to another host: {newurl:.80}")
            if (old.scheme, new.scheme) == ("https", "http"):
                raise URLError(f"the server redirects from https to http: {newurl:.80}")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    return build_opener(SameHost)
