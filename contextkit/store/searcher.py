# ruff: noqa: ARG002 - the signatures are those of `RecordStore`
"""A store whose searches the host's object answers, and how its methods are called."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from functools import partial
from types import MethodType
from typing import Any, NoReturn

from attrs import Attribute, field, frozen

from contextkit.concurrency import in_loop, in_thread
from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.embedding.embedder import KeywordsOnly
from contextkit.errors import ContextAssemblyError, SourceError, StoreError, in_words
from contextkit.logs import get_logger
from contextkit.models.record import Filters, Hit, Record, Search
from contextkit.store.hybrid import MAX_QUERY_CHARACTERS
from contextkit.store.identity import StoreIdentity
from contextkit.store.searcher_filters import check_filters, has_field, matches
from contextkit.store.searcher_results import hit_of

_PARAMETER_NAMES = {"outcome_status": "outcome", "domains": "domain", "strategies": "strategy"}
"""Field -> the name under which a searcher takes a filter on it."""

_OVERFETCH = 5
"""Factor on the limit if filters are applied to the results afterwards."""

_BY_POSITION = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)

_UNFILTERED_FIELDS = frozenset({"domains", "kind", "strategies"})
"""Fields that searchers' results lack, and that searchers do not filter by."""

_log = get_logger(__name__)


@frozen(kw_only=True)
class HostCall:
    """One call of a host's method.

    Attributes:
        source: the source that searches.
        method: the method's name.
        make: makes the call.
        is_async: whether the call must run in the event loop.
        taken: the filters that are passed to the method.
        left: the filters that are applied to its results.
    """

    source: str
    method: str
    make: Callable[[], Any]
    is_async: bool
    taken: Filters
    left: Filters

    def failed(self, reason: str) -> SourceError:
        """The error for the source that made the call."""
        return SourceError(self.source, self.method, reason)


def method_for(host: object, source: str) -> tuple[str, Callable[..., Any] | None]:
    """The name of a source's method, with the method."""
    name = f"search_{source.replace('-', '_')}"
    method = getattr(host, name, None)
    return name, method if callable(method) else None


def call_for(host: object, search: Search) -> HostCall:
    """Build the call that answers a search.

    Raises `SourceError` if the object has no such method, or one that does not accept a query,
    a limit and the filters that it has parameters for.
    """
    name, method = method_for(host, search.source)
    if method is None:
        reason = f"{type(host).__name__} has no such method, so nothing is found"
        raise SourceError(search.source, name, reason)
    parameters = _Parameters.of(method)
    takes_user = search.user is not None and parameters.takes("user")
    own = {"query", "limit", *(("user",) if takes_user else ())}
    names = parameters.names_for(search.filters, own)
    left = {field: value for field, value in search.filters.items() if field not in names}
    keywords = {given: search.filters[field] for field, given in names.items()}
    if takes_user:
        keywords["user"] = search.user
    dropped_later = bool(left.keys() - _UNFILTERED_FIELDS) or (
        search.user is not None and not takes_user
    )
    if parameters.takes("limit"):
        wanted = search.limit if search.host_limit is None else search.host_limit
        keywords["limit"] = wanted * (_OVERFETCH if dropped_later else 1)
    query = search.query[:MAX_QUERY_CHARACTERS]
    # A method without positional parameters gets the query by name.
    call = partial(method, query, **keywords)
    if not parameters.first:
        call = partial(method, query=query, **keywords)
    problem = parameters.problem(call)
    if problem:
        shown = ", ".join(["query", *(f"{key}=" for key in keywords)])
        raise SourceError(search.source, name, f"cannot be called as {name}({shown}): {problem}")
    return HostCall(
        source=search.source,
        method=name,
        make=call,
        is_async=inspect.iscoroutinefunction(method),
        taken={field: search.filters[field] for field in names},
        left=left,
    )


@frozen
class _Parameters:
    """The parameters of a method.

    Attributes:
        signature: its signature; None if Python cannot read it.
        first: the name of the first positional parameter, or "".
        named: the parameters that can be passed by name.
        any_name: whether it accepts any name.
    """

    signature: inspect.Signature | None
    first: str
    named: frozenset[str]
    any_name: bool

    @classmethod
    def of(cls, method: Callable[..., Any]) -> _Parameters:
        signature = _signature(method)
        if signature is None:
            # Call it with the argument names of the `Searcher` protocol.
            return cls(None, "query", frozenset({"limit"}), any_name=False)
        parameters = list(signature.parameters.values())
        first = parameters[0].name if parameters and parameters[0].kind in _BY_POSITION else ""
        return cls(
            signature=signature,
            first=first,
            named=frozenset(p.name for p in parameters if p.kind in _BY_NAME and p.name != first),
            any_name=any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters),
        )

    def takes(self, name: str) -> bool:
        """Whether it accepts another parameter of this name."""
        return name in self.named or (self.any_name and name != self.first and name.isidentifier())

    def names_for(self, filters: Filters, own: Set[str]) -> Mapping[str, str]:
        """Map filtered fields to the method's parameters.

        Args:
            filters: the filters.
            own: names of parameters that are not filters.
        """
        names: dict[str, str] = {}
        for given in filters:
            other_name = _PARAMETER_NAMES.get(given, given)
            for name in (given, other_name) if given in self.named else (other_name, given):
                used = {*own, *names.values()}
                if name not in used and self.takes(name):
                    names[given] = name
                    break
        return names

    def problem(self, call: partial[Any]) -> str | None:
        """Why the call cannot be made, or None."""
        if self.signature is None:
            return None
        try:
            self.signature.bind(*call.args, **call.keywords)
        except TypeError as error:
            return str(error)
        return None


def _signature(method: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a method or of its `__call__`.

    Python 3.11.2 cannot read an `AsyncMock`; no Python reads an invented `__signature__`.
    """
    with contextlib.suppress(Exception):  # a host's object may raise anything here
        return inspect.signature(method)
    call = type(method).__call__
    if inspect.isfunction(call):
        with contextlib.suppress(TypeError, ValueError):
            return inspect.signature(MethodType(call, method))
    return None


def _is_a_searcher(_: object, __: Attribute[object], host: object) -> None:
    if inspect.isclass(host):
        raise ContextAssemblyError(f"searcher: expected an object, got the class {host.__name__}")
    # An object with `__getattr__` need not list its methods.
    makes_them_up = hasattr(type(host), "__getattr__")
    if not makes_them_up and not any(name.startswith("search_") for name in dir(host)):
        raise ContextAssemblyError(
            f"searcher: {type(host).__name__} has no method search_NAME for any source NAME: "
            f"add search_memories, search_code, …"
        )


@frozen(eq=False)
class SearcherStore:
    """A store that passes searches on to a host's `Searcher`.

    It only searches. Looking records up in other ways (`get`, `scan`, `newest`) finds none;
    counting, writing and deleting raise `StoreError`.

    Attributes:
        host: the host's object.
    """

    host: object = field(validator=_is_a_searcher)

    # -- searching ------------------------------------------------------------------------

    def can_answer(self, source: str) -> bool:
        """Whether the host's object has a method for a source."""
        return method_for(self.host, source)[1] is not None

    async def answer(self, search: Search) -> list[Hit]:
        """Answer one search for the pipeline.

        Raises `SourceError` for any error of the host's method.
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
        """Answer searches of a synchronous source, one after the other."""
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
        """None: the records have no vectors here."""
        return OneEmbedder(KeywordsOnly())

    @property
    def identity(self) -> StoreIdentity:
        """Raises `StoreError`: index runs and migrations need a store."""
        self._refuse("index runs")

    @property
    def problem(self) -> str | None:
        """None: a searcher reports problems by raising."""
        return None

    def revision(self, source: str) -> None:
        """None: a searcher's results may change at any time."""

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """None: a searcher does not find records by id."""
        return []

    def scan(
        self,
        source: str | None,
        projects: Sequence[str] | None,
        filters: Filters,
    ) -> Iterator[Record]:
        """None: a searcher does not list its records."""
        return iter(())

    def newest(
        self,
        source: str,
        projects: Sequence[str],
        filters: Filters,
        limit: int,
    ) -> list[Record]:
        """None: a searcher does not list its records."""
        return []

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """Raises `StoreError`: 0 would mean that the source is empty."""
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
        """Nothing to lock: the host's methods are called concurrently."""
        return contextlib.nullcontext()

    def prepare(self, searched: Iterable[tuple[str, str]] | None = None) -> None:
        """Nothing to open: the host prepared its object."""

    def close(self) -> None:
        """Nothing to close: the host owns the object."""

    def leave(self) -> None:
        """Nothing to release: the host owns the object."""

    def _refuse(self, what: str) -> NoReturn:
        raise StoreError(
            f"{type(self.host).__name__} can only search: {what} needs a store of contextkit"
        )


async def _result_of(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _awaited(call: HostCall) -> Any:
    return await call.make()


def _hits(call: HostCall, search: Search, results: object) -> list[Hit]:
    """Convert a method's results to hits.

    `SourceError` if one is invalid.
    """
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
    """Whether a user may see a result.

    Results without a user are shared.
    """
    owner = record.fields.get("user")
    return user is None or owner is None or str(owner) == user


def _applicable(call: HostCall, records: Sequence[Record]) -> Filters:
    """The filters to apply to the results.

    Logs those on unknown fields.
    """
    unknown = [
        name for name in call.left if records and not any(has_field(r, name) for r in records)
    ]
    strange = [name for name in unknown if name not in _UNFILTERED_FIELDS]
    if strange:
        _log.warning(
            "searcher_filters_unknown", source=call.source, method=call.method, filters=strange
        )
    spared = _UNFILTERED_FIELDS.intersection(unknown)
    return {name: wanted for name, wanted in call.left.items() if name not in spared}
