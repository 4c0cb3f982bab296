"""Running a blocking call beside the event loop, in a thread that nobody has to wait for."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["in_thread"]

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
    return await future


def _as_exception(error: BaseException) -> Exception:
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
