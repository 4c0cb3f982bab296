"""Sources to ask: some that know their items already, and the first-party ones with records."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attrs import define, field, frozen

from contextkit import ContextKit, hookimpl
from contextkit.embedding.built_in import load_embedder
from contextkit.models.items import ContextItem
from contextkit.models.request import ContextRequest
from contextkit.store.base import RecordStore
from tests.benchmarks.texts import repository_texts

__all__ = ["BlockingSource", "PreparedSource", "TimedStore", "furnish"]


@frozen(eq=False)
class PreparedSource:
    """A source that knows its items before it is asked."""

    items: Sequence[ContextItem]
    weight: float = 1.0

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> Sequence[ContextItem]:
        """The first items, in the event loop, as the first-party sources answer."""
        return self.items[: request.limit]

    @hookimpl
    def contextkit_weight(self, request: ContextRequest) -> float:
        """The same whatever is asked."""
        return self.weight


@frozen(eq=False)
class BlockingSource(PreparedSource):
    """The same, answering in a thread."""

    @hookimpl
    def contextkit_query(  # type: ignore[override]
        self, request: ContextRequest
    ) -> Sequence[ContextItem]:
        """The first items."""
        return self.items[: request.limit]


@define(eq=False)
class TimedStore:
    """A store that counts the seconds for which it searches or embeds, in whatever threads."""

    store: RecordStore
    seconds: float = field(default=0.0, init=False)
    _running: int = field(default=0, init=False)
    _since: float = field(default=0.0, init=False)
    _turn: threading.Lock = field(factory=threading.Lock, init=False)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        return partial(self._timed, found) if name in {"search", "prepare"} else found

    def _timed(self, call: Callable[..., Any], *arguments: Any) -> Any:
        self._change(1)
        try:
            return call(*arguments)
        finally:
            self._change(-1)

    def _change(self, by: int) -> None:
        with self._turn:
            now = time.perf_counter()
            if self._running:
                self.seconds += now - self._since
            self._running += by
            self._since = now


def furnish(kit: ContextKit, number: int) -> str:
    """Give the first-party sources records: the workspace's, and so many made of its texts.

    Returns:
        What there is now, in words.
    """
    kit.index()
    texts = [" ".join(text.split())[:300] for text in repository_texts()]
    book = _of("contextkit_memories").MemoryBook(kit.records("memories"))
    for text in texts[:number]:
        book.remember(text, category="decisions", importance=len(text) % 10 / 10)
    experiences = _of("contextkit_experiences")
    goals = zip(texts[number:], texts[2 * number :], texts[3 * number :], strict=False)
    experiences.ExperienceBook(kit.records("experiences")).add(
        [
            experiences.from_json(_experience(place, *goal))
            for place, goal in zip(range(number), goals, strict=False)
        ]
    )
    model = load_embedder(kit.config.embedding.model)
    _of("contextkit_values").refresh(
        kit.records("experiences"), kit.records("values"), model, min_similarity=0.0
    )
    counts = {name: kit.records(name).count() for name in kit.registry.sources}
    return ", ".join(f"{count:,} records of {name}" for name, count in counts.items())


def _of(package: str) -> Any:
    """A plugin's package; the tests of the core import none by name."""
    return importlib.import_module(package)


def _experience(place: int, goal: str, action: str, result: str) -> dict[str, Any]:
    return {
        "domain": "debugging",
        "strategy": "check-assumptions",
        "goal": goal[:120],
        "hypothesis": "it is as it was written",
        "action": action[:200],
        "prediction": "the tests pass",
        "outcome_status": "falsified" if place % 3 == 0 else "confirmed",
        "outcome_result": result[:200],
        "surprise": goal[40:160],
        "root_cause": action[20:160],
        "lesson": {"what_worked": result[:100]},
    }
