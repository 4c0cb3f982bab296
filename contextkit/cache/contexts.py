"""Cache whole contexts, and assemble concurrent requests once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, Literal, TypeVar

from attrs import define, evolve, field

from contextkit.cache.codec import NotExactError, read_context, write_context
from contextkit.cache.keys import Keys, NoKeyError
from contextkit.cache.levels import Kind, Levels
from contextkit.cache.stats import Counting
from contextkit.models.context import FormattedContext
from contextkit.models.request import ContextRequest, Recipe
from contextkit.models.trace import CacheTrace
from contextkit.pipeline.admission import is_inside
from contextkit.pipeline.pipeline import Pipeline
from contextkit.pipeline.recipes import sections_to_ask
from contextkit.pipeline.update import Asked

T = TypeVar("T")

_Key = tuple[asyncio.AbstractEventLoop, str]

_State = Literal["hit", "kept", "not_kept"]
_COMPLETE = frozenset({"ok", "empty", "below_floor"})


@define
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


@define(eq=False)
class Flights(Generic[T]):
    """Running computations, by key and event loop."""

    _flying: dict[_Key, _Flight[T]] = field(factory=dict, init=False)

    async def join(self, key: str, compute: Callable[[], Awaitable[T]]) -> T:
        """Join the running computation of a key, or start it.

        All callers get its result or its error. It continues while anyone waits for it;
        cancelling one caller does not affect the others.
        """
        place = (asyncio.get_running_loop(), key)
        flight = self._flying.get(place)
        if flight is None:
            flight = self._flying[place] = _Flight(asyncio.create_task(_run(compute)))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if self._flying.get(place) is flight and (flight.task.done() or not flight.waiting):
                del self._flying[place]
            if not flight.waiting:
                flight.task.cancel()


async def _run(compute: Callable[[], Awaitable[T]]) -> T:
    return await compute()


@define(eq=False)
class ContextCache:
    """Caches assembled contexts for repeated requests.

    Attributes:
        levels: the storage.
        kind: sizes and lifetimes.
        keys: builds the keys.
        counting: counts the hits.
    """

    levels: Levels
    kind: Kind
    keys: Keys
    counting: Counting = field(factory=Counting)
    _flights: Flights[FormattedContext] = field(factory=Flights, init=False)

    async def assembled(
        self, pipeline: Pipeline, request: ContextRequest, recipe: Recipe
    ) -> FormattedContext:
        """Return a context from the cache or the pipeline.

        Concurrent equal requests are assembled once. Only complete contexts are cached: every
        source answered, from its records alone, and there were no problems.

        Raises what `Pipeline.assemble` raises.
        """
        await self.levels.prepare()
        try:
            key = await self._key(request, recipe)
        except NoKeyError as reason:
            self.counting.uncacheable()
            return self._traced(await pipeline.assemble(request, recipe), "not_kept", str(reason))
        # A nested request must not wait for an assembly that waits for it.
        flight = f"{key} inside" if is_inside() else key
        context = await self._flights.join(
            flight, lambda: self._looked_up(key, pipeline, request, recipe)
        )
        return _own(context)

    async def _key(self, request: ContextRequest, recipe: Recipe) -> str:
        sources = [
            s.source for s in sections_to_ask(self.keys.registry, recipe, request.exclude_sources)
        ]
        return await self.keys.apart(lambda: self.keys.of_context(request, recipe, sources))

    async def _looked_up(
        self, key: str, pipeline: Pipeline, request: ContextRequest, recipe: Recipe
    ) -> FormattedContext:
        kept = await self.levels.get(self.kind, key)
        found = None if kept is None else read_context(kept)
        if found is not None:
            self.counting.hit()
            context = evolve(found.value, ongoing=Asked(request, recipe))
            return self._traced(context, "hit", age=found.seconds)
        self.counting.missed()
        context = await pipeline.assemble(request, recipe)
        problem = _incomplete(context)
        if problem is None:
            try:
                await self.levels.keep(self.kind, key, write_context(context))
            except NotExactError as error:
                problem = str(error)
        return self._traced(context, "not_kept" if problem else "kept", problem)

    def _traced(
        self,
        context: FormattedContext,
        state: _State,
        reason: str | None = None,
        age: float | None = None,
    ) -> FormattedContext:
        ratio = round(self.counting.so_far.hit_ratio, 3)
        cache = CacheTrace(state=state, age=age, hit_ratio=ratio, reason=reason)
        return evolve(context, trace=evolve(context.trace, cache=cache))


def _incomplete(context: FormattedContext) -> str | None:
    """Say why a context is incomplete, or None."""
    for source in context.trace.sources:
        if source.state not in _COMPLETE:
            return f"{source.source}: {source.reason}"
    return context.trace.notes[0] if context.trace.notes else None


def _own(context: FormattedContext) -> FormattedContext:
    """Copy a context's lists, to isolate its callers."""
    return evolve(
        context,
        items=list(context.items),
        sources_used=dict(context.sources_used),
        truncated_items=list(context.truncated_items),
    )
