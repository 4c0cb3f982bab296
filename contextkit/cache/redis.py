"""Redis as a cache: bounded in time, and never a reason for anything to fail."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field

from contextkit.concurrency import Breaker
from contextkit.errors import in_words
from contextkit.logs import get_logger

if TYPE_CHECKING:
    from cashews.backends.redis import Redis
    from redis.asyncio import ConnectionPool
    from redis.asyncio.connection import AbstractConnection


T = TypeVar("T")

_COOLDOWN_SECONDS = 5.0
"""How long a Redis that does not answer is left alone."""

_RUN = re.compile(rb"run_id:(\w+)")

_log = get_logger(__name__)


@define(eq=False)
class RedisLevel:
    """One Redis; everything here runs in one event loop.

    Attributes:
        url: where it is.
        password: what it asks for, where it does.
        timeout: seconds that one operation may take.
        breaker: leaves it alone for a while after a failure.
    """

    url: str
    password: str | None
    timeout: float
    breaker: Breaker = field(factory=lambda: Breaker(1, _COOLDOWN_SECONDS))
    _client: Redis | None = field(default=None, init=False)
    _pool: ConnectionPool | None = field(default=None, init=False)
    _problem: str | None = field(default=None, init=False)
    _connections: int = field(default=0, init=False)
    _server: tuple[int, str | None] = field(default=(0, None), init=False)

    @property
    def run(self) -> str | None:
        """The run of the server that the newest connection is to: no other run has its name.

        None where there was no connection, or where the server does not say it.
        """
        return self._server[1]

    @property
    def problem(self) -> str | None:
        """Why it does not answer, in words, or None."""
        return self._problem

    async def attempt(
        self, operation: Callable[[Redis], Awaitable[T]], seconds: float | None = None
    ) -> T | None:
        """What an operation gives; None where Redis fails, takes too long or is left alone.

        Args:
            operation: what to do with Redis.
            seconds: how long it may take, over `timeout`.
        """
        if not self.breaker.allows():
            return None
        try:
            # Importing what it needs is not Redis' time.
            client = await self.connected()
            async with asyncio.timeout(seconds or self.timeout):
                result = await operation(client)
        except asyncio.CancelledError:
            self.breaker.abandoned()
            raise
        except Exception as error:  # noqa: BLE001 - a cache's failure costs time and nothing else
            self._failed(error, seconds or self.timeout)
            return None
        self._succeeded()
        return result

    def _failed(self, error: Exception, seconds: float) -> None:
        self.breaker.failed()
        # The cache library's own error says nothing; what it was raised from does.
        reason = in_words(error.__cause__ or error)
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

    async def connected(self) -> Redis:
        """The client; nothing is sent yet. Raises `ValueError` for an address that is none."""
        if self._client is None:
            client = self._make_client()
            await client.init()  # type: ignore[no-untyped-call]
            self._client = client
        return self._client

    async def close(self) -> None:
        """Close the connections; they are made again when it is used."""
        pool, self._pool, self._client = self._pool, None, None
        if pool is not None:
            await pool.disconnect()

    def forget(self) -> None:
        """Drop the connections without a word: they are another event loop's or process'."""
        self._pool = self._client = None

    def from_url(self, url: str, **options: Any) -> ConnectionPool:
        """Make the connections' pool; the cache library asks for it, and has no way to close it."""
        from redis.asyncio import BlockingConnectionPool

        self._pool = BlockingConnectionPool.from_url(url, redis_connect_func=self._greet, **options)
        return self._pool

    async def _greet(self, connection: AbstractConnection) -> None:
        """Begin a connection, and learn which run of the server it is to."""
        from redis.exceptions import ResponseError

        self._connections += 1
        number = self._connections
        await connection.on_connect()
        await connection.send_command("INFO", "server")
        try:
            told = await connection.read_response(disable_decoding=True)
        except ResponseError:
            told = b""
        run = _RUN.search(told) if isinstance(told, bytes) else None
        # One that began before the server was started anew may be greeted last.
        if number > self._server[0]:
            self._server = number, run[1].decode() if run else None

    def _make_client(self) -> Redis:
        # Both cost tens of milliseconds to import.
        from cashews.backends.redis import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        options: dict[str, Any] = {"password": self.password} if self.password else {}
        return Redis(
            self.url,
            suppress=False,
            serializer=_AsTheyAre(),
            connection_pool_class=self,
            client_name="contextkit",
            socket_timeout=self.timeout,
            socket_connect_timeout=self.timeout,
            # Once more at once: a connection that was idle may have been closed.
            retry=Retry(NoBackoff(), 1),
            **options,
        )


class _AsTheyAre:
    """Values are bytes and stay bytes: what others write to Redis is never unpickled."""

    async def encode(self, _backend: object, *, value: bytes, **_: object) -> bytes:
        return value

    async def decode(self, _backend: object, *, value: object, **_: object) -> object:
        return value
