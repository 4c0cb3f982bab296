"""Cache the results of single sources, and query vectors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from contextkit.cache.codec import NotExactError, read_items, write_items
from contextkit.cache.keys import Keys, NoKeyError, key_of
from contextkit.cache.levels import Kind, Levels
from contextkit.cache.stats import Counting
from contextkit.logs import get_logger
from contextkit.pipeline.gather import Found, Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_log = get_logger(__name__)

_FORM = "<f4"


@define(eq=False)
class ResultCache:
    """Caches sources' results, except those of failing searches.

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

    async def __call__(self, questions: list[Question]) -> list[Question]:
        """Add cached answers, or functions to cache new ones.

        All are looked up at once, before the sources run: a slow Redis takes nothing of their
        time, and their searches still form one batch.
        """
        keys = {n: key for n, q in enumerate(questions) if (key := await self._key(q)) is not None}
        kept = await self.levels.get_all(self.kind, list(keys.values())) if keys else []
        recalled = list(questions)
        for (number, key), value in zip(keys.items(), kept, strict=True):
            recalled[number] = self._with(questions[number], key, value)
        return recalled

    async def _key(self, question: Question) -> str | None:
        source, request = question.section.source, question.request
        try:
            return await self.keys.apart(lambda: self.keys.of_answer(source, request))
        except NoKeyError:
            self.counting.uncacheable()
            return None

    def _with(self, question: Question, key: str, value: bytes | None) -> Question:
        found = None if value is None else read_items(value)
        if found is None:
            self.counting.missed()
            return evolve(question, keep=partial(self._keep, question.section.source, key))
        self.counting.hit()
        return evolve(question, recalled=Found(tuple(found.value), found.seconds))

    async def _keep(self, source: str, key: str, found: Found) -> None:
        if problem := self.keys.store.problem:
            _log.debug("answer_not_kept", source=source, reason=problem)
            return
        try:
            value = write_items(found.items)
        except NotExactError as error:
            _log.debug("answer_not_kept", source=source, reason=str(error))
        else:
            await self.levels.keep(self.kind, key, value)


@define(eq=False)
class QueryVectors:
    """Caches query vectors as little-endian 32-bit numbers, for all processes.

    Attributes:
        levels: the storage.
        kind: sizes and lifetimes.
        counting: counts the hits.
    """

    levels: Levels
    kind: Kind
    counting: Counting = field(factory=Counting)

    def get(self, model: str, dimensions: int, text: str) -> NDArray[np.float32] | None:
        """Return the cached vector of a query, or None; blocks."""
        import numpy as np

        kept = self.levels.get_blocking(self.kind, key_of([model, dimensions, text]))
        if kept is not None and len(kept) == dimensions * np.dtype(_FORM).itemsize:
            vector = np.frombuffer(kept, _FORM).astype(np.float32)
            if np.isfinite(vector).all():
                self.counting.hit()
                return vector
        self.counting.missed()
        return None

    def keep(self, model: str, text: str, vector: NDArray[np.float32]) -> None:
        """Cache a query's vector; blocks."""
        key = key_of([model, len(vector), text])
        self.levels.keep_blocking(self.kind, key, vector.astype(_FORM).tobytes())
