"""The history of use in one assembly: read before items are scored, written when they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from attrs import define, field

from contextkit.background import in_thread
from contextkit.errors import InvalidRequestError, UseHistoryError
from contextkit.fitting.fit import Fitted
from contextkit.formatted import FormattedContext
from contextkit.gathering.gather import Answer
from contextkit.logs import get_logger
from contextkit.models import ContextItem
from contextkit.request import ContextRequest
from contextkit.tracing import Stopwatch
from contextkit.use_history.history import Key, UseHistory

__all__ = ["Choosing", "mark_used"]

T = TypeVar("T")

_log = get_logger(__name__)


@define
class Choosing:
    """What one assembly reads of the history and adds to it.

    A strategy for which use counts nothing costs nothing, and a history that cannot be used
    costs only its signal.

    Attributes:
        history: the history, or None where there is none.
        request: what is assembled.
        watch: times it, as the stage `history`.
        notes: what went wrong, for the trace; one line at most.
    """

    history: UseHistory | None
    request: ContextRequest
    watch: Stopwatch
    notes: list[str] = field(factory=list, init=False)

    async def signals(self, answers: Sequence[Answer]) -> Mapping[Key, float]:
        """How often and how lately each found item was chosen: (source, id) -> 0..1."""
        if self.history is None or not self.request.strategy.history:
            return {}
        items = [(item.source, item.id) for answer in answers for item in answer.items]
        found = await self._attempt(partial(self.history.signals, self.request.project, items))
        return found or {}

    async def shown(self, fitted: Fitted) -> None:
        """Note what got in, where the request counts and nothing went wrong before."""
        request = self.request
        counts = request.strategy.history and request.record_use and not self.notes
        if self.history is None or not counts:
            return
        items = [
            (entry.piece.candidate.item.source, entry.piece.candidate.item.id)
            for entries in fitted.placed.values()
            for entry in entries
        ]
        asked = f"{request.recipe}\n{request.query}"
        await self._attempt(partial(self.history.shown, request.project, items, asked))

    async def _attempt(self, call: Callable[[], T]) -> T | None:
        try:
            with self.watch.stage("history"):
                return await in_thread(call)
        except UseHistoryError as error:
            self.notes.append(f"what was chosen before does not count: {error}")
            _log.warning("use_history_failed", reason=str(error))
            return None


def mark_used(
    history: UseHistory | None,
    project: str,
    used: FormattedContext | Iterable[ContextItem | Key],
) -> None:
    """Note that items were of use; a history that cannot be used is only logged.

    Raises `InvalidRequestError` for what is no item.
    """
    items: Iterable[ContextItem | Key] = used.items if isinstance(used, FormattedContext) else used
    if not isinstance(items, Iterable):
        raise InvalidRequestError(f"expected a context, or items of one, got {used!r}")
    keys = [_checked_key(one) for one in items]
    if history is None:
        return
    try:
        history.used(project, keys)
    except UseHistoryError as error:
        _log.warning("use_history_failed", reason=str(error))


def _checked_key(one: object) -> Key:
    if isinstance(one, ContextItem):
        return one.source, one.id
    if isinstance(one, tuple) and len(one) == 2 and all(isinstance(part, str) for part in one):
        return one
    raise InvalidRequestError(f"expected an item, or its source and its id, got {one!r}")
