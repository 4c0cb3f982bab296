"""Limit the assemblies that run at once in one event loop.

Further assemblies wait for their turn. An assembly is mostly computation, so more at once are no
faster altogether, and each of them is slower. Without a limit, all of a hundred assemblies at once
miss their sources' timeouts, and the breakers take healthy sources for broken ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import weakref
from collections.abc import AsyncIterator

from attrs import define, field

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("contextkit_inside", default=False)


def is_inside() -> bool:
    """Check whether the caller is a source within an assembly."""
    return _inside.get()


@define(eq=False)
class Admission:
    """Limits concurrent assemblies, first come, first served.

    An assembly that a source starts while it answers another one is admitted at once. Otherwise
    each of the two would wait for the other.

    Attributes:
        most: the limit for each event loop.
    """

    most: int
    _doors: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = field(
        factory=weakref.WeakKeyDictionary, init=False
    )

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it within the block."""
        if _inside.get():
            yield
            return
        async with self._doors.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self.most)):
            token = _inside.set(True)
            try:
                yield
            finally:
                _inside.reset(token)
