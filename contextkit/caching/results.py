"""The cache of single sources' answers, for contexts that ask others anew."""

from __future__ import annotations

from attrs import define, field

from contextkit.caching.keys import Keys, NoKeyError
from contextkit.caching.levels import Kind, Levels
from contextkit.caching.stats import Counting
from contextkit.caching.values import NotExactError, read_items, write_items
from contextkit.gather import Ask, Found
from contextkit.logs import get_logger
from contextkit.models import ContextRequest

__all__ = ["ResultCache"]

_log = get_logger(__name__)


@define(eq=False)
class ResultCache:
    """What sources answered a short while ago; a source's failure is never kept.

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

    async def __call__(self, source: str, request: ContextRequest, ask: Ask) -> Found:
        """A source's answer from the cache, or from the source. Raises what `ask` raises."""
        try:
            key = await self.keys.apart(lambda: self.keys.of_answer(source, request))
        except NoKeyError:
            self.counting.passed_over()
            return await ask()
        kept = await self.levels.get(self.kind, key)
        found = None if kept is None else read_items(kept)
        if found is not None:
            self.counting.hit()
            return Found(tuple(found.value), found.seconds)
        self.counting.missed()
        asked = await ask()
        try:
            value = write_items(asked.items)
        except NotExactError as error:
            _log.debug("answer_not_kept", source=source, reason=str(error))
        else:
            await self.levels.keep(self.kind, key, value)
        return asked
