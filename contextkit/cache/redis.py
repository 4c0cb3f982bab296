"""Redis as a cache, with time limits and without errors."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field

from contextkit.concurrency import Breaker, ForkLock, in_thread
from contextkit.errors import in_words
from contextkit.logs import get_logger

if TYPE_CHECKING:
    from redis import Redis
    from redis.connection import AbstractConnection

T = TypeVar("T")

_COOLDOWN_SECONDS = 5.0
"""How long Redis is not used after a failure."""

_RUN = re.compile(rb"run_id:(\w+)")

_log = get_logger(__name__)


@define(eq=False)
class RedisLevel:
    """A Redis server, for any thread and event loop.

    Each operation runs in a thread, so that its time is limited whatever the server does.

    Attributes:
        url: its address.
        password: its password, or None.
        timeout: time limit of one operation in seconds.
        breaker: skips the server for a while after a failure.
    """

    url: str
    password: str | None
    timeout: float
    breaker: Breaker = field(factory=lambda: Breaker(1, _COOLDOWN_SECONDS))
    _client: Redis | None = field(default=None, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)
    _problem: str | None = field(default=None, init=False)
    _connections: int = field(default=0, init=False)
    _server: tuple[int, str | None] = field(default=(0, None), init=False)

    @property
    def run(self) -> str | None:
        """The id of the server process behind the newest connection.

        It changes when the server restarts. None without a connection, or if the server does
        not report it.
        """
        return self._server[1]

    @property
    def problem(self) -> str | None:
        """The last error, or None."""
        return self._problem

    def attempt(self, operation: Callable[[Redis], T], seconds: float | None = None) -> T | None:
        """Run an operation.

        Returns None if Redis fails, is too slow or is skipped.

        Args:
            operation: the operation.
            seconds: its time limit; default: `timeout`.
        """
        if not self.breaker.allows():
            return None
        limit = seconds or self.timeout
        with self._recorded(limit) as recorded:
            # The time for imports does not count.
            client = self.connected()
            recorded.append(_started(operation, client).result(limit))
        return recorded[0] if recorded else None

    async def attempt_async(self, operation: Callable[[Redis], T]) -> T | None:
        """`attempt` for a caller in an event loop."""
        if not self.breaker.allows():
            return None
        with self._recorded(self.timeout) as recorded:
            client = self._client
            if client is None:
                client = await in_thread(self.connected)
            async with asyncio.timeout(self.timeout):
                recorded.append(await asyncio.wrap_future(_started(operation, client)))
        return recorded[0] if recorded else None

    @contextlib.contextmanager
    def _recorded(self, seconds: float) -> Iterator[list[Any]]:
        """Report an operation's outcome and suppress its error."""
        result: list[Any] = []
        try:
            yield result
        except Exception as error:  # noqa: BLE001 - a failing cache must not fail the caller
            self._failed(error, seconds)
        except BaseException:
            # The caller was cancelled or interrupted: Redis is not at fault.
            self.breaker.abandoned()
            raise
        else:
            self._succeeded()

    def _failed(self, error: Exception, seconds: float) -> None:
        self.breaker.failed()
        reason = in_words(error)
        if isinstance(error, TimeoutError):
            reason = f"no answer within {seconds:g} s"
        first, self._problem = self._problem is None, reason
        if first:
            _log.warning("cache_unreachable", url=self.url, reason=reason)

    def _succeeded(self) -> None:
        self.breaker.succeeded()
        if self._problem is not None:
            self._problem = None
            _log.info("cache_back", url=self.url)

    def connected(self) -> Redis:
        """Return the client, unconnected. Raises `ValueError` for an invalid address."""
        with self._turn:
            if self._client is None:
                self._client = self._make_client()
            return self._client

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        with self._turn:
            client, self._client = self._client, None
        if client is not None:
            client.connection_pool.disconnect()

    def _greet(self, connection: AbstractConnection) -> None:
        """Set up a connection, and learn the server process's id."""
        from redis.exceptions import ResponseError

        self._connections += 1
        number = self._connections
        connection.on_connect()  # type: ignore[no-untyped-call]
        connection.send_command("INFO", "server")  # type: ignore[no-untyped-call]
        try:
            answer = connection.read_response(disable_decoding=True)
        except ResponseError:
            answer = b""
        run = _RUN.search(answer) if isinstance(answer, bytes) else None
        # Setting up a connection to the old process may finish after a restart.
        if number > self._server[0]:
            self._server = number, run[1].decode() if run else None

    def _make_client(self) -> Redis:
        # Importing it takes tens of milliseconds.
        from redis import ConnectionError as NotConnectedError, ConnectionPool, Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        options: dict[str, Any] = {"password": self.password} if self.password else {}
        pool = ConnectionPool.from_url(
            self.url,
            redis_connect_func=self._greet,
            client_name="contextkit",
            socket_timeout=self.timeout,
            socket_connect_timeout=self.timeout,
            # Retry once at once: an idle connection may have been closed.
            retry=Retry(NoBackoff(), 1, (NotConnectedError,)),
            **options,
        )
        return Redis(connection_pool=pool)


def _started(operation: Callable[[Redis], T], client: Redis) -> concurrent.futures.Future[T]:
    """Start an operation in a thread that never delays exit."""
    future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def run() -> None:
        try:
            outcome = operation(client)
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                future.set_exception(error)
        else:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                future.set_result(outcome)

    threading.Thread(target=run, name="contextkit-cache", daemon=True).start()
    return future
