"""The revisions of a server's records in Redis, for all who cache there."""

from __future__ import annotations

import secrets

from attrs import define, field

from contextkit.caching.levels import Levels
from contextkit.fork_locks import ForkLock

__all__ = ["SharedRevisions"]

_TOKEN_BYTES = 16
_EVERYTHING = ""


@define(eq=False)
class SharedRevisions:
    """Tokens that are replaced by whoever writes with the same cache.

    While Redis does not answer nothing is known, and what changed meanwhile is noted there
    before anything is told again.

    Attributes:
        levels: with a Redis.
        place: the store's, in the tokens' names.
    """

    levels: Levels
    place: str
    _unsaid: set[str] = field(factory=set, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def of(self, source: str) -> str | None:
        """A source's revision; None without a Redis that answers."""
        with self._turn:
            waiting = sorted(self._unsaid)
        if not all(self._said(each) for each in waiting):
            return None
        names = [self._name(each) for each in (_EVERYTHING, source)]
        tokens = self.levels.tokens_blocking(names, _new_token)
        return None if tokens is None else "-".join(tokens)

    def changed(self, source: str | None) -> None:
        """Note that a source's records change."""
        self._said(_EVERYTHING if source is None else source)

    def _said(self, source: str) -> bool:
        said = self.levels.set_token_blocking(self._name(source), _new_token())
        with self._turn:
            (self._unsaid.discard if said else self._unsaid.add)(source)
        return said

    def _name(self, source: str) -> str:
        return f"revision:{self.place}:{source}"


def _new_token() -> str:
    return secrets.token_hex(_TOKEN_BYTES)
