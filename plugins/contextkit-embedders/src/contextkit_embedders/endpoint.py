"""Request JSON from an HTTP endpoint, with limited retries."""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from contextkit.errors import in_words
from contextkit.logs import get_logger
from contextkit_embedders.errors import EmbedderError, RefusedTextError
from contextkit_embedders.libraries import import_library

if TYPE_CHECKING:
    import httpx


KEY_VARIABLE = "OPENAI_API_KEY"

_FIRST_WAIT = 0.5
_CONNECT_TIMEOUT = 5.0
_SHOWN_CHARACTERS = 200
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
# Servers differ in which of these means that a text is too long.
_MAY_BE_TOO_LONG = {400, 413, 422}

_log = get_logger(__name__)


@frozen
class Patience:
    """Limits on retries and timeouts.

    Attributes:
        tries: the most attempts.
        longest_wait: the most seconds between two attempts; if an endpoint asks for more, there are
            no more attempts.
        timeout: timeout in seconds of one attempt.
    """

    tries: int
    longest_wait: float
    timeout: float


FOR_RECORDS = Patience(tries=5, longest_wait=30.0, timeout=60.0)
# A person waits for the context, and keywords alone suffice until the endpoint answers.
FOR_QUERY = Patience(tries=2, longest_wait=_FIRST_WAIT, timeout=10.0)


@frozen(slots=False, eq=False)
class Endpoint:
    """A JSON endpoint; safe to use from any thread.

    The key in `OPENAI_API_KEY` is sent if it is set. Redirects are not followed, so the key goes
    nowhere else.

    Attributes:
        url: the URL that requests go to.
        sleep: waits between two attempts, in seconds.
    """

    url: str
    sleep: Callable[[float], None] = time.sleep
    _opening: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def post(self, body: Mapping[str, Any], patience: Patience) -> Any:
        """Send a request and return the JSON of the response.

        Temporary failures are retried: 429, 5xx and a broken connection.

        Raises:
            RefusedTextError: where it answers that the request is wrong, or too large.
            EmbedderError: where there is no answer within the patience, or another one that
                is no success or no JSON.
        """
        for attempt in range(patience.tries):
            answer = self._ask(body, patience.timeout)
            if answer.problem is None:
                return answer.data
            wait = _FIRST_WAIT * 2**attempt if answer.wait is None else answer.wait
            last = attempt + 1 == patience.tries or wait > patience.longest_wait
            if answer.error is not None or last:
                break
            _log.info("embedding_request_retried", url=self.url, problem=answer.problem, wait=wait)
            self.sleep(wait)
        raise (answer.error or EmbedderError)(answer.problem)

    def _ask(self, body: Mapping[str, Any], timeout: float) -> _Answer:
        httpx = import_library("httpx")
        try:
            response = self._client.post(
                self.url,
                # In ASCII, so that the endpoint decides about a lone surrogate.
                content=json.dumps(body).encode("ascii"),
                headers={"Content-Type": "application/json", **_authorization()},
                timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_TIMEOUT)),
            )
        except (httpx.ReadError, httpx.RemoteProtocolError) as error:
            return _Answer(problem=f"{self.url} broke the connection: {in_words(error)}")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise EmbedderError(
                f"{self.url} cannot be reached: {in_words(error)}; is the server running?"
            ) from error
        except httpx.TimeoutException as error:
            raise EmbedderError(f"{self.url} gave no answer within {timeout:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise EmbedderError(f"{self.url} cannot be asked: {in_words(error)}") from error
        return _judged(self.url, response)

    @property
    def _client(self) -> httpx.Client:
        with self._opening:
            return self._opened

    @cached_property
    def _opened(self) -> httpx.Client:
        # The client is kept, because a new connection costs a query more than its vector does.
        client: httpx.Client = import_library("httpx").Client()
        weakref.finalize(self, client.close)
        return client


@frozen(kw_only=True)
class _Answer:
    """The result of one attempt.

    Attributes:
        data: the JSON of the response, if there is no problem.
        problem: a description of the problem.
        error: the error to raise for a permanent problem, or None for a temporary one.
        wait: the seconds to wait, if requested by the endpoint, or None.
    """

    data: Any = None
    problem: str | None = None
    error: type[EmbedderError] | None = None
    wait: float | None = None


def _judged(url: str, response: httpx.Response) -> _Answer:
    status = response.status_code
    if response.is_success:
        try:
            return _Answer(data=response.json())
        except ValueError:
            problem = f"{url} answered something other than JSON: {_quoted(response.text)}"
            return _Answer(problem=problem, error=EmbedderError)
    if status in {401, 403}:
        key = "is not set" if _key() is None else "was not accepted"
        problem = f"refused access (HTTP {status}), {KEY_VARIABLE} {key}"
    elif response.is_redirect:
        location = _quoted(response.headers.get("location", ""))
        problem = f"redirects to {location}: use that if it is right"
    else:
        problem = f"answered HTTP {status}"
    wait = _wanted_wait(response.headers.get("retry-after", ""))
    wanted = "" if wait is None else f"; it wants to be asked again in {wait:.0f} s"
    said = _said(response)
    return _Answer(
        problem=f"{url} {problem}{wanted}{f': {said}' if said else ''}",
        error=_error_for(status),
        wait=wait,
    )


def _error_for(status: int) -> type[EmbedderError] | None:
    if status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR:
        return None
    return RefusedTextError if status in _MAY_BE_TOO_LONG else EmbedderError


def _said(response: httpx.Response) -> str:
    """Return the reason in an error's body.

    It is JSON of several possible shapes, or text.
    """
    try:
        body = response.json()
    except ValueError:
        return _quoted(response.text)
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message", error) if isinstance(error, dict) else error
    return _quoted(message if isinstance(message, str) else json.dumps(message))


def _quoted(text: str) -> str:
    """Quote foreign text on one short line, without the key.

    The text may repeat the key.
    """
    key = _key()
    line = " ".join((text.replace(key, "...") if key else text).split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}..."


def _wanted_wait(header: str) -> float | None:
    """Return the seconds until the time in `Retry-After`.

    The header holds a number or a date; None without it.
    """
    if header.strip().isdecimal():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (at.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _key() -> str | None:
    return os.environ.get(KEY_VARIABLE, "").strip() or None


def _authorization() -> dict[str, str]:
    key = _key()
    if key is None:
        return {}
    if not (key.isascii() and key.isprintable()):
        raise EmbedderError(f"{KEY_VARIABLE} has characters that no HTTP header may have")
    return {"Authorization": f"Bearer {key}"}
