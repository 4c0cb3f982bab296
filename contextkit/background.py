"""Blocking calls in threads beside the event loop, and the way back from there into the loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from attrs import define, field

__all__ = ["in_loop", "in_thread"]

T = TypeVar("T")


async def in_thread(call: Callable[[], T]) -> T:
    """Run a blocking call in a thread of its own that nobody waits for at exit.

    The event loop's own executor joins its threads when the loop closes, so that one
    source that hangs would hang the whole program.

    Raises what the call raises; `SystemExit` and the like as a `RuntimeError`.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()
    home = _Home(loop)
    context.run(_home.set, home)

    def deliver(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        try:
            outcome: Any = context.run(call)
            setter: Callable[[Any], None] = future.set_result
        except BaseException as error:  # noqa: BLE001 - SystemExit in a thread is a failure too
            outcome, setter = _as_exception(error), future.set_exception
        # Where the loop has closed meanwhile, nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, setter, outcome)

    threading.Thread(target=run, name="contextkit-source", daemon=True).start()
    try:
        return await future
    finally:
        home.leave()


def in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the event loop that started this thread, and wait for its result.

    The coroutine is cancelled when nobody waits for the thread any more.

    Raises:
        RuntimeError: in a thread that `in_thread` did not start, or in an event loop's own.
    """
    home = _home.get(None)
    if home is None or _runs_a_loop():
        coroutine.close()
        raise RuntimeError("this is no thread that an event loop has started and waits for")
    return home.run(coroutine)


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@define(eq=False)
class _Home:
    """The event loop that started a thread, for as long as somebody there waits for it."""

    loop: asyncio.AbstractEventLoop
    _running: set[concurrent.futures.Future[Any]] = field(factory=set, init=False)
    _left: bool = field(default=False, init=False)
    _turn: threading.Lock = field(factory=threading.Lock, init=False)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with self._turn:
            if self._left:
                coroutine.close()
                raise concurrent.futures.CancelledError
            future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
            self._running.add(future)
        return future.result()

    def leave(self) -> None:
        with self._turn:
            self._left = True
        for future in self._running:
            future.cancel()


_home: contextvars.ContextVar[_Home] = contextvars.ContextVar("contextkit_home")


def _as_exception(error: BaseException) -> Exception:
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
