"""The revisions of a server's records in Redis, for all who cache there."""

from __future__ import annotations

import secrets
from collections import deque

from attrs import define, field

from contextkit.cache.levels import Levels
from contextkit.concurrency import ForkLock

_TOKEN_BYTES = 16
_EVERYTHING = ""
_KNOWN = 256
"""How many tokens of a source are remembered."""


@define(eq=False)
class SharedRevisions:
    """Tokens that every writer with the same cache replaces.

    While Redis does not answer nothing is known, and what changed meanwhile is noted there
    before anything is reported again.

    A Redis may go back to what it held before: one that is started from a snapshot, or a
    replica that takes over, has tokens of the past, and contexts of that time. So its run is
    part of a revision; and of a Redis that was filled anew while it ran, a token is replaced
    that another one is known to have followed.

    Attributes:
        levels: with a Redis.
        place: the store's, in the tokens' names.
    """

    levels: Levels
    place: str
    _unsaid: set[str] = field(factory=set, init=False)
    _known: dict[str, deque[str]] = field(factory=dict, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def of(self, source: str) -> str | None:
        """A source's revision; None without a Redis that answers."""
        with self._turn:
            waiting = sorted(self._unsaid)
        if not all(self._said(each) for each in waiting):
            return None
        places = (_EVERYTHING, source)
        tokens = self.levels.tokens_blocking([self._name(each) for each in places], _new_token)
        run = self.levels.run
        if tokens is None or run is None:
            return None
        went_back = [
            each
            for each, token in zip(places, tokens, strict=True)
            if not self._follows(each, token)
        ]
        for each in went_back:
            self._said(each)
        return None if went_back else "-".join([run, *tokens])

    def changed(self, source: str | None) -> None:
        """Note that a source's records change."""
        self._said(_EVERYTHING if source is None else source)

    def _said(self, source: str) -> bool:
        token = _new_token()
        said = self.levels.set_token_blocking(self._name(source), token)
        with self._turn:
            (self._unsaid.discard if said else self._unsaid.add)(source)
        if said:
            self._follows(source, token)
        return said

    def _follows(self, source: str, token: str) -> bool:
        """Note a token that was read or written; False for one that others have replaced."""
        with self._turn:
            known = self._known.setdefault(source, deque(maxlen=_KNOWN))
            if known and known[-1] == token:
                return True
            if token in known:
                return False
            known.append(token)
            return True

    def _name(self, source: str) -> str:
        return f"revision:{self.place}:{source}"


def _new_token() -> str:
    return secrets.token_hex(_TOKEN_BYTES)
