"""A store whose searches a host's own object answers."""
# ruff: noqa: ARG002 - the signatures are those of `RecordStore`

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from attrs import Attribute, field, frozen

from contextkit.background import in_loop, in_thread
from contextkit.embedding import Embedders, KeywordsOnly, OneEmbedder
from contextkit.errors import ContextAssemblyError, StoreError, in_words
from contextkit.logs import get_logger
from contextkit.records import Filters, Hit, Record, Search
from contextkit.searcher.calls import HostCall, call_for, method_for
from contextkit.searcher.filters import check_filters, has_field, matches
from contextkit.searcher.results import hit_of
from contextkit.store.identity import StoreIdentity

__all__ = ["SearcherStore"]

_BEYOND_SEED = frozenset({"domains", "kind", "strategies"})
"""Fields that seed 1's results do not have, and that it does not filter them by."""

_log = get_logger(__name__)


def _is_a_searcher(_: object, __: Attribute[object], host: object) -> None:
    if inspect.isclass(host):
        raise ContextAssemblyError(f"{host.__name__} is a class: pass an object of it")
    # An object that makes up its methods as they are asked for does not list them.
    makes_them_up = hasattr(type(host), "__getattr__")
    if not makes_them_up and not any(name.startswith("search_") for name in dir(host)):
        raise ContextAssemblyError(
            f"{type(host).__name__} is no searcher: it has no method search_NAME "
            f"for any source NAME (search_memories, search_code, …)"
        )


@frozen(eq=False)
class SearcherStore:
    """Stands where a store stands, and lets a host's `Searcher` do the searching.

    It finds and does nothing else. What looks a record up beside searching (`get`, `scan`,
    `newest`) finds none; what counts, writes or deletes raises `StoreError`.

    Attributes:
        host: the host's object.
    """

    host: object = field(validator=_is_a_searcher)

    # -- searching ------------------------------------------------------------------------

    def can_answer(self, source: str) -> bool:
        """Whether the host's object has a method for a source."""
        return method_for(self.host, source)[1] is not None

    async def answer(self, search: Search) -> list[Hit]:
        """Answer one search; the pipeline asks this in place of batches to a store.

        Raises `SourceError` for whatever the host's method does wrong.
        """
        call = self._call(search)
        try:
            results = call.make() if call.is_async else await in_thread(call.make)
            if inspect.isawaitable(results):
                results = await results
        except Exception as error:
            raise call.failed(in_words(error)) from error
        return _hits(call, search, results)

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """`answer` for a source that is not asynchronous: blocking, one after the other."""
        return [self._search(search) for search in searches]

    def _search(self, search: Search) -> list[Hit]:
        call = self._call(search)
        try:
            results = in_loop(_awaited(call)) if call.is_async else call.make()
            if inspect.isawaitable(results):
                results = in_loop(_result_of(results))
        except Exception as error:
            raise call.failed(in_words(error)) from error
        return _hits(call, search, results)

    def _call(self, search: Search) -> HostCall:
        call = call_for(self.host, search)
        check_filters(call.left)
        return call

    # -- what a store does beside -----------------------------------------------------------

    @property
    def embedders(self) -> Embedders:
        """No source's records have vectors here."""
        return OneEmbedder(KeywordsOnly())

    @property
    def identity(self) -> StoreIdentity:
        """Raises `StoreError`: index runs and migrations need a store of their own."""
        self._refuse("index runs")

    @property
    def problem(self) -> str | None:
        """None: what is wrong with a searcher is what its methods raise."""
        return None

    def revision(self, source: str) -> None:
        """None: what a searcher searches may change at any time."""

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """None: a searcher finds by words, not by ids."""
        return []

    def scan(
        self,
        source: str | None,
        projects: Sequence[str] | None,
        filters: Filters,
    ) -> Iterator[Record]:
        """None: a searcher does not list what it has."""
        return iter(())

    def newest(
        self,
        source: str,
        projects: Sequence[str],
        filters: Filters,
        limit: int,
    ) -> list[Record]:
        """None: a searcher does not list what it has."""
        return []

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """Raises `StoreError`: 0 would say that there is nothing to search for."""
        self._refuse("counting")

    def put(self, records: Sequence[Record]) -> None:
        """Raises `StoreError`."""
        self._refuse("writing")

    def delete(self, point_ids: Sequence[str]) -> None:
        """Raises `StoreError`."""
        self._refuse("deleting")

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Raises `StoreError`."""
        self._refuse("deleting")

    def optimize(self) -> bool:
        """Raises `StoreError`."""
        self._refuse("optimizing")

    def hold(self) -> AbstractContextManager[None]:
        """Nothing to hold: the host's methods are asked several at once."""
        return contextlib.nullcontext()

    def prepare(self, searched: Iterable[tuple[str, str]] | None = None) -> None:
        """Nothing to open: the host has made its object ready."""

    def close(self) -> None:
        """Nothing to close: the object is the host's."""

    def leave(self) -> None:
        """Nothing to leave: the object is the host's."""

    def _refuse(self, what: str) -> NoReturn:
        raise StoreError(f"{type(self.host).__name__} can be searched and no more: no {what}")


async def _result_of(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _awaited(call: HostCall) -> Any:
    return await call.make()


def _hits(call: HostCall, search: Search, results: object) -> list[Hit]:
    """The hits that a method's results are, best first; `SourceError` for what is none."""
    if isinstance(results, (str, bytes)) or not isinstance(results, Sequence):
        raise call.failed(f"returned {results!r:.80}, expected a list of results")
    project = search.projects[0]
    hits = []
    for position, result in enumerate(results):
        try:
            hit = hit_of(result, source=call.source, project=project, asked=call.taken)
        except ValueError as error:
            raise call.failed(f"result {position}: {error}") from error
        hits.append(hit)
    filters = _applicable(call, [hit.record for hit in hits])
    wanted = [
        hit for hit in hits if matches(hit.record, filters) and _is_for(search.user, hit.record)
    ]
    return sorted(wanted, key=lambda hit: -hit.relevance)[: search.limit]


def _is_for(user: str | None, record: Record) -> bool:
    """Whether a user may see a result: one that names nobody is the project's."""
    owner = record.fields.get("user")
    return user is None or owner is None or str(owner) == user


def _applicable(call: HostCall, records: Sequence[Record]) -> Filters:
    """The filters that are left for the results; logs those on fields that none of them has."""
    unknown = [
        name for name in call.left if records and not any(has_field(r, name) for r in records)
    ]
    strange = [name for name in unknown if name not in _BEYOND_SEED]
    if strange:
        _log.warning(
            "searcher_filters_unknown", source=call.source, method=call.method, filters=strange
        )
    spared = _BEYOND_SEED.intersection(unknown)
    return {name: wanted for name, wanted in call.left.items() if name not in spared}
