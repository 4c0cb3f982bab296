"""Shared revisions of a server's records, in Redis."""

from __future__ import annotations

import secrets
from collections import deque

from attrs import define, field

from contextkit.cache.levels import Levels
from contextkit.concurrency import ForkLock

_TOKEN_BYTES = 16
_EVERYTHING = ""
_KNOWN = 256
"""How many tokens of a source each process remembers."""


@define(eq=False)
class SharedRevisions:
    """Tokens in Redis that every writer replaces.

    While Redis does not answer, revisions are unknown. Changes made meanwhile are written to
    Redis before any revision is read again.

    Redis may return to an earlier state, when it restarts from a snapshot or a replica takes
    over; its tokens and cached contexts are then old. So the server process's id is part of a
    revision. If data were restored into a running Redis, a token that this process has already
    seen replaced is replaced again.

    Attributes:
        levels: the storage, with Redis.
        place: identifies the store in the tokens' names.
    """

    levels: Levels
    place: str
    _unsaid: set[str] = field(factory=set, init=False)
    _known: dict[str, deque[str]] = field(factory=dict, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def of(self, source: str) -> str | None:
        """A source's revision; None if Redis does not answer."""
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
        """Change a source's revision."""
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
        """Remember a token; False for one that was replaced before."""
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
