"""What a cached value depends on, as a key: the same key means the same value."""

from __future__ import annotations

import hashlib
import json
import secrets
import weakref
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from attrs import define, field, fields, has

from contextkit.concurrency import in_thread
from contextkit.config.settings import Config
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import NotAsked
from contextkit.errors import StoreError
from contextkit.models.request import ContextRequest, Recipe
from contextkit.package import VERSION
from contextkit.plugin.manager import SourceRegistry
from contextkit.plugin.status import HOST, PluginStatus
from contextkit.store.base import RecordStore
from contextkit.store.ownership import Ownership

_NOT_CONFIGURING = frozenset({"cache", "hooks", "origins"})
_AFFECTING_NOTHING = tuple(
    each.name for each in fields(ContextRequest) if each.metadata.get("affects") == "nothing"
)
_AFFECTING_NO_ANSWER = tuple(
    each.name
    for each in fields(ContextRequest)
    if each.metadata.get("affects", "answers") != "answers"
)
"""Fields of a request that a cacheable source's answer does not depend on."""

_own_tokens: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


class NoKeyError(Exception):
    """Nothing may be kept of a request; the text says why."""


def key_of(value: object) -> str:
    """A digest of a value, the same in every process. Raises `NoKeyError` for odd ones."""
    text = json.dumps(_canonical(value), separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@define(eq=False)
class Keys:
    """The keys of one kit's contexts and of its sources' answers.

    Attributes:
        registry: the plugins; which of them are on is part of each key.
        store: its revisions are, too.
        blocking: whether its revisions may be waited for.
    """

    registry: SourceRegistry
    store: RecordStore
    blocking: bool = False
    _configured: tuple[Config, str] | None = field(default=None, init=False)

    async def apart(self, make: Callable[[], str]) -> str:
        """What makes a key, beside the event loop where it may have to wait."""
        return await in_thread(make) if self.blocking else make()

    def of_context(self, request: ContextRequest, recipe: Recipe, sources: Iterable[str]) -> str:
        """The key of a context from these sources. Raises `NoKeyError`; may block."""
        if request.strategy.history:
            raise NoKeyError("its strategy scores usage history")
        answering = [self._answering(source) for source in sorted(set(sources))]
        asked = _without(request, _AFFECTING_NOTHING)
        return key_of([self._surroundings(), answering, asked, recipe])

    def of_answer(self, source: str, request: ContextRequest) -> str:
        """The key of a source's answer to its request. Raises `NoKeyError`; may block."""
        asked = _without(request, _AFFECTING_NO_ANSWER)
        return key_of([self._surroundings(), self._answering(source), asked])

    def _answering(self, source: str) -> list[object]:
        """What a source's answers depend on: its plugin, which may be off, and its records."""
        return [*self._identity(self.registry.status(source)), self._revision(source)]

    def _revision(self, source: str) -> str:
        if not self.registry.info(source).cacheable:
            raise NoKeyError(f"{source} depends on more than its records")
        read = dict.fromkeys((source, *self.registry.info(source).reads))
        revisions = [self.store.revision(name) for name in read]
        if None in revisions:
            raise NoKeyError("the store cannot tell when its records change")
        return " ".join(map(str, revisions))

    def _surroundings(self) -> list[object]:
        """What every answer depends on: settings, models, and the plugins with their versions."""
        by_keywords = self.store.embedders == OneEmbedder(NotAsked())
        return [VERSION, self._configuration(), by_keywords, [*self._plugins()]]

    def _configuration(self) -> str:
        config = self.registry.config
        if self._configured is None or self._configured[0] is not config:
            ownership = Ownership.of(config)
            try:
                owner = [ownership.user, ownership.checkout("")]
            except StoreError as error:
                raise NoKeyError(str(error)) from error
            self._configured = config, key_of([_without(config, _NOT_CONFIGURING), owner])
        return self._configured[1]

    def _plugins(self) -> Iterable[list[object]]:
        for plugin in self.registry.plugins:
            if plugin.state != "on":
                continue
            wraps = self.registry.wraps(plugin.name)
            if wraps and not self.registry.info(plugin.name).cacheable:
                raise NoKeyError(f"{plugin.name} changes the sources' answers")
            yield self._identity(plugin)

    def _identity(self, plugin: PluginStatus) -> list[object]:
        own = plugin.distribution == HOST
        token = _own_token(self.registry.plugin(plugin.name)) if own else ""
        return [plugin.name, plugin.distribution, plugin.version, token]


def _own_token(plugin: object) -> str:
    """What identifies a plugin of the host's own, which has no version."""
    try:
        return _own_tokens.get(plugin) or _own_tokens.setdefault(plugin, secrets.token_hex(16))
    except TypeError:
        raise NoKeyError(f"{type(plugin).__name__} cannot be told from others") from None


def _without(value: Any, names: Iterable[str]) -> dict[str, Any]:
    left_out = set(names)
    return {f.name: getattr(value, f.name) for f in fields(type(value)) if f.name not in left_out}


def _canonical(value: Any) -> Any:
    """The value as JSON in which equal values are equal, and what differs differs."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Path() | datetime():
            return [type(value).__name__, str(value)]
        case Mapping():
            pairs = [[_canonical(key), _canonical(inner)] for key, inner in value.items()]
            texts = all(isinstance(key, str) for key in value)
            return ["map", sorted(pairs, key=itemgetter(0) if texts else json.dumps)]
        case list() | tuple():
            return ["list", [_canonical(inner) for inner in value]]
        case set() | frozenset():
            return ["set", sorted(map(_canonical, value), key=json.dumps)]
        case _ if has(type(value)):
            return [type(value).__name__, _canonical(_without(value, ()))]
    raise NoKeyError(f"a {type(value).__name__} has no key")
