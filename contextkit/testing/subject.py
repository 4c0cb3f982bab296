"""The source under test, in its own kit and store.

The store is on disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import astuple, evolve, field, frozen

from contextkit.concurrency import in_thread
from contextkit.errors import ContextKitError
from contextkit.kit import ContextKit
from contextkit.models.items import ContextItem
from contextkit.models.request import ContextRequest, Section
from contextkit.pipeline.filters import with_filters
from contextkit.pipeline.recipes import section_request
from contextkit.plugin.item_checks import checked_items
from contextkit.testing.kits import open_kit

T = TypeVar("T")

HELD_SECONDS = 0.5
"""For as long as all sources together have by default, nothing may hold the event loop."""
TRIES = 5
"""What is slow so often in a row is slow by itself, and not because the machine is busy."""

_SAMPLE_SECONDS = 0.02
_ALL = 1_000_000


class NotConformingError(ContextKitError):
    """A source breaks a rule; the message states the remedy."""


@frozen(kw_only=True, eq=False)
class Subject:
    """A source under test.

    Attributes:
        kit: a kit that knows this source alone.
        name: the source's name.
        query: a query that finds something.
        timeout: seconds that one query may take.
        filters: what every query is asked with.
    """

    kit: ContextKit
    name: str
    query: str
    timeout: float = 10.0
    filters: Mapping[str, Any] = field(factory=dict)

    def has(self, hook: str) -> bool:
        """Check whether the source has a hook."""
        return self.kit.registry.implements(self.name, hook)

    def call(self, hook: str, /, **arguments: Any) -> Any:
        """Call one hook of the source, or return None.

        It returns None where the source has no such hook.

        Raises `SourceError`, from the cause, for any error of the hook.
        """
        return self.kit.registry.call(self.name, hook, **arguments)

    def request(self, query: str | None = None, limit: int = 20, **wanted: Any) -> ContextRequest:
        """Create a request as this source sees it.

        By default it has the query that finds something.

        Args:
            query: the request's query.
            limit: items at most.
            wanted: further fields of the request, such as `kinds`.
        """
        asked = ContextRequest(
            query=self.query if query is None else query,
            limit=limit,
            filters=self.filters,
            source_timeout=self.timeout,
            deadline=self.timeout,
            project=self.kit.project,
            workspace=self.kit.workspace.root,
            **wanted,
        )
        section = Section(source=self.name, limit=limit)
        bound = section_request(self.kit.registry, section, asked)
        info = self.kit.registry.info(self.name)
        own = with_filters(bound, info, self.name, [self.name])
        return evolve(own, records=self.kit.records(self.name))

    async def ask(self, request: ContextRequest) -> Any:
        """Call `contextkit_query`, and return its unchecked result.

        The result is awaited as in the core.
        """

        def call() -> Any:
            return self.call("contextkit_query", request=request)

        function = self.kit.registry.implementation(self.name, "contextkit_query")
        result = call() if inspect.iscoroutinefunction(function) else await in_thread(call)
        return await result if inspect.isawaitable(result) else result

    async def find(self, request: ContextRequest) -> tuple[ContextItem, ...]:
        """Return all items of `contextkit_query`, with checked types."""
        return checked_items(self.name, await self.ask(request), _ALL).items

    def items(self, query: str | None = None, limit: int = 20) -> tuple[ContextItem, ...]:
        """Return all items that the source finds.

        Raises `NotConformingError` where it takes longer than `timeout`.
        """
        return within(lambda: self.find(self.request(query, limit)), self.timeout)

    def found(self) -> tuple[ContextItem, ...]:
        """Return the items for `query`.

        Raises `NotConformingError` where there are none: nothing else could be checked.
        """
        items = self.items()
        if not items:
            raise NotConformingError(
                f"contextkit_query finds nothing for query = {self.query!r}: set `query` to one "
                f"that finds something, and override `records` or `prepare` to store it"
            )
        return items


def as_values(items: Sequence[ContextItem]) -> list[tuple[Any, ...]]:
    """List every field of the items, for comparison.

    Items count as equal by source and content alone.
    """
    return [astuple(item, recurse=False) for item in items]


def as_they_are(items: Sequence[ContextItem]) -> tuple[ContextItem, ...]:
    """Copy items, to be safe from changes by the source."""
    return tuple(evolve(item, metadata=_copied(item.metadata)) for item in items)


def _copied(value: Any) -> Any:
    """Copy a JSON value, to share it with no test."""
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def within(start: Callable[[], Coroutine[Any, Any, T]], seconds: float) -> T:
    """Run a coroutine to completion in its own event loop.

    Raises:
        NotConformingError: where it has not ended after `seconds` seconds.
        BaseException: any error of the coroutine.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(start()))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, name="contextkit-conformance", daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise NotConformingError(
            f"contextkit_query has not ended after {seconds:g} s: answer sooner, or raise `timeout`"
        )
    return outcome[0]


def slowness() -> float:
    """Return how much slower than when idle the machine is.

    The factor is at least 1.
    """
    started, computed = time.perf_counter(), time.thread_time()
    while time.thread_time() - computed < _SAMPLE_SECONDS:
        pass
    return max(1.0, (time.perf_counter() - started) / _SAMPLE_SECONDS)


@contextlib.contextmanager
def open_subject(  # noqa: PLR0913 - what a test class may say of its source
    source: object,
    name: str,
    workspace: Path,
    *,
    query: str,
    timeout: float = 10.0,
    filters: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    embedding: str = "none",
    make_workspace: Callable[[Path], None] = lambda _: None,
) -> Iterator[Subject]:
    """Open a source in a kit without user configuration.

    The kit is closed at the end.

    Args:
        source: the plugin.
        name: the source's name.
        workspace: a folder that is made for it.
        query: a query that finds something.
        timeout: seconds that one query may take.
        filters: what every query is asked with.
        settings: the source's own settings, `[sources.NAME]`.
        embedding: the model of the dense vectors; `none` searches by keywords alone.
        make_workspace: fills the workspace's folder.

    Raises:
        ConfigError: where one of the settings is wrong.
        PluginError: where the plugin cannot be registered.
    """
    workspace.mkdir()
    make_workspace(workspace)
    flags = {f"sources.{name}.{key}": value for key, value in (settings or {}).items()}
    flags["embedding.model"] = embedding
    with open_kit(workspace, {name: source}, settings=flags) as kit:
        yield Subject(kit=kit, name=name, query=query, timeout=timeout, filters=filters or {})
