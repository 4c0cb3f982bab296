"""The caches of single sources' answers and of queries' vectors.

The first serves contexts that ask the other sources anew; the second is shared by processes that
use one Redis.
"""

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


@define(eq=False)
class ResultCache:
    """What sources answered a short while ago; no failure is kept, and nothing of a bad search.

    Attributes:
        levels: where it is kept.
        kind: for how long.
        keys: what it depends on.
        counting: counts the hits.
    """

    levels: Levels
    kind: Kind
    keys: Keys
    counting: Counting = field(factory=Counting)

    async def __call__(self, questions: list[Question]) -> list[Question]:
        """The same questions, each with its answer, or with what will keep that.

        All are looked up at once and before the sources are asked: a Redis that is slow takes
        none of their time, and their searches still travel together.
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
            self.counting.passed_over()
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


_FORM = "<f4"


@define(eq=False)
class QueryVectors:
    """Vectors as numbers of 32 bits, the lowest byte first.

    Attributes:
        levels: where they are kept.
        kind: for how long.
        counting: counts the hits.
    """

    levels: Levels
    kind: Kind
    counting: Counting = field(factory=Counting)

    def get(self, model: str, dimensions: int, text: str) -> NDArray[np.float32] | None:
        """A query's vector of a model, or None; blocks."""
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
        """Keep a query's vector; blocks."""
        key = key_of([model, len(vector), text])
        self.levels.keep_blocking(self.kind, key, vector.astype(_FORM).tobytes())
