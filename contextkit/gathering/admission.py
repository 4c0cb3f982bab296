"""How many assemblies of one event loop run at once; the others wait for their turn.

An assembly is mostly computing, so that more at once are no faster altogether, and each is
slower. Without a bound a hundred at once all miss their sources' timeouts, and the breakers
take healthy sources for broken ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import weakref
from collections.abc import AsyncIterator

from attrs import define, field

__all__ = ["Admission", "is_inside"]

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("contextkit_inside", default=False)


def is_inside() -> bool:
    """Whether a source asks this, while it answers an assembly that has its turn."""
    return _inside.get()


@define(eq=False)
class Admission:
    """Lets in so many assemblies at once, first come, first served.

    An assembly that a source makes while it answers another one is let in at once: it would
    wait for what waits for it.

    Attributes:
        most: how many, for each event loop.
    """

    most: int
    _doors: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = field(
        factory=weakref.WeakKeyDictionary, init=False
    )

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and keep it for as long as this lasts."""
        if _inside.get():
            yield
            return
        async with self._doors.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self.most)):
            token = _inside.set(True)
            try:
                yield
            finally:
                _inside.reset(token)
