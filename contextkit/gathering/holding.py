"""Holding the store while an assembly's sources ask it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

from attrs import define, field

from contextkit.background import in_thread
from contextkit.store.base import RecordStore

__all__ = ["held"]


@contextlib.asynccontextmanager
async def held(store: RecordStore, first: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Hold the store for as long as this lasts: one turn for all who ask meanwhile.

    The wait for it does not block the event loop. A caller that is cancelled while it
    waits leaves no hold behind, even where its event loop ends with it.

    Args:
        store: the store.
        first: called before the hold is taken, in the same thread beside the event loop;
            default: nothing is.
    """
    hold = _Hold(store.hold())

    def prepare_and_take() -> None:
        first()
        hold.take()

    try:
        await in_thread(prepare_and_take)
        yield
    finally:
        hold.leave()


@define(eq=False)
class _Hold:
    """A hold that one thread takes and another leaves, whichever of the two comes first."""

    _hold: AbstractContextManager[None]
    _turn: threading.Lock = field(factory=threading.Lock, init=False)
    _taken: bool = field(default=False, init=False)
    _left: bool = field(default=False, init=False)

    def take(self) -> None:
        self._hold.__enter__()
        with self._turn:
            self._taken = wanted = not self._left
        if not wanted:
            self._hold.__exit__(None, None, None)

    def leave(self) -> None:
        with self._turn:
            self._left, taken = True, self._taken
        if taken:
            self._hold.__exit__(None, None, None)
