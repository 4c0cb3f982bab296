"""Asking the server: page after page, within the time that there is."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
from attrs import frozen

from contextkit import ContextKitError

__all__ = ["Issue", "IssuesError", "find_issues"]

_PAGE = 20
_LONGEST_QUERY = 500
_OK = 200


class IssuesError(ContextKitError):
    """The server did not answer as it should; the text is one line."""


@frozen(kw_only=True)
class Issue:
    """An issue as the server tells it.

    Attributes:
        number: its number.
        title: its title.
        body: what was written; Markdown of anybody's.
        state: `open` or `closed`.
        url: where it can be seen, or None.
        created_at: when it was written, or None.
    """

    number: int
    title: str
    body: str
    state: str
    url: str | None
    created_at: datetime | None


async def find_issues(
    url: str, query: str, limit: int, *, seconds: float, token: str = ""
) -> Sequence[Issue]:
    """The first issues that the server finds, fewer where the time does not suffice.

    Args:
        url: where it is asked.
        query: what is looked for.
        limit: issues at most.
        seconds: how long it may take in all.
        token: a bearer token, or "".

    Raises:
        IssuesError: where not one page came in time, or the server refuses.
    """
    found: list[Issue] = []
    came = False
    try:
        async with asyncio.timeout(seconds):
            async for page in _pages(url, query, min(limit, _PAGE), token):
                came = True
                found += page
                if len(found) >= limit:
                    break
    except TimeoutError:
        if not came:
            raise IssuesError(f"{url} did not answer within {seconds:g} s") from None
    except httpx.HTTPError as error:
        raise IssuesError(f"{url}: {type(error).__name__}: {error}") from error
    # A server may list an issue on two pages, where one came in between.
    return list({issue.number: issue for issue in found}.values())[:limit]


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Whom to trust, read once: it takes longer than many an answer."""
    return httpx.create_ssl_context()


async def _pages(url: str, query: str, size: int, token: str) -> AsyncIterator[list[Issue]]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    client = httpx.AsyncClient(
        headers=headers,
        timeout=None,  # noqa: S113 - the caller's limit is around all of it
        verify=_trusted(),
    )
    async with client:
        words = {"q": query[:_LONGEST_QUERY], "page": "1", "per_page": str(size)}
        address = httpx.URL(url, params=words)
        asked = set[httpx.URL]()
        while address not in asked:
            asked.add(address)
            response = await client.get(address)
            yield _issues(response)
            link = response.links.get("next", {}).get("url")
            if not link:
                return
            following = address.join(link)
            # The token is for this server alone.
            if (following.scheme, following.netloc) != (address.scheme, address.netloc):
                return
            address = following


def _issues(response: httpx.Response) -> list[Issue]:
    where = str(response.url.copy_with(query=None))
    if response.status_code != _OK:
        raise IssuesError(f"{where} answers {response.status_code} {response.reason_phrase}")
    try:
        return [_issue(entry) for entry in response.json()]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise IssuesError(f"{where} answers what is no list of issues: {error!r}") from error


def _issue(entry: dict[str, Any]) -> Issue:
    written = entry.get("created_at")
    at = datetime.fromisoformat(written) if written else None
    return Issue(
        number=int(entry["number"]),
        title=str(entry["title"]),
        body=str(entry.get("body") or ""),
        state=str(entry.get("state") or "open"),
        url=entry.get("url"),
        created_at=at.replace(tzinfo=UTC) if at and at.tzinfo is None else at,
    )
