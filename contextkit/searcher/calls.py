"""Which method of a host's searcher answers a search, and how it is called."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping, Set
from functools import partial
from types import MethodType
from typing import Any

from attrs import frozen

from contextkit.errors import SourceError
from contextkit.records import Filters, Search
from contextkit.store.hybrid import MAX_QUERY_CHARACTERS

__all__ = ["HostCall", "call_for", "method_for"]

_SEED_NAMES = {"outcome_status": "outcome", "domains": "domain", "strategies": "strategy"}
"""Filters that a searcher takes under another name than the field has."""

_OVERFETCH = 5
"""So many times the limit is asked for where filters are still to be applied."""

_BY_POSITION = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@frozen(kw_only=True)
class HostCall:
    """One call of a host's method.

    Attributes:
        source: the source that asks.
        method: the method's name.
        make: makes the call.
        is_async: whether it must be made in the event loop.
        taken: the filters that the method is given.
        left: the filters that are still to be applied to its results.
    """

    source: str
    method: str
    make: Callable[[], Any]
    is_async: bool
    taken: Filters
    left: Filters

    def failed(self, reason: str) -> SourceError:
        """The error that costs the source that asked."""
        return SourceError(self.source, self.method, reason)


def method_for(host: object, source: str) -> tuple[str, Callable[..., Any] | None]:
    """The name of the method that answers a source, and the method where there is one."""
    name = f"search_{source.replace('-', '_')}"
    method = getattr(host, name, None)
    return name, method if callable(method) else None


def call_for(host: object, search: Search) -> HostCall:
    """The call that answers a search.

    Raises `SourceError` where the object has no such method, or one that cannot be called
    with a query, a limit and the filters that it has parameters for.
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
    dropped_later = bool(left) or (search.user is not None and not takes_user)
    if parameters.takes("limit"):
        keywords["limit"] = search.limit * (_OVERFETCH if dropped_later else 1)
    query = search.query[:MAX_QUERY_CHARACTERS]
    # A method that takes nothing by position takes the query by its name.
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
    """What a method takes.

    Attributes:
        signature: its signature, or None where Python cannot read it.
        first: the name of what takes the query by position, "" where nothing does.
        named: what it takes by name.
        any_name: whether it takes whatever name it is given.
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
        """Whether it takes something of this name beside the query."""
        return name in self.named or (self.any_name and name != self.first and name.isidentifier())

    def names_for(self, filters: Filters, own: Set[str]) -> Mapping[str, str]:
        """Field -> the name that a filter on it is taken under, for those that are taken.

        Args:
            filters: the filters.
            own: names under which it takes what is no filter.
        """
        names: dict[str, str] = {}
        for field in filters:
            seed_name = _SEED_NAMES.get(field, field)
            for name in (field, seed_name) if field in self.named else (seed_name, field):
                used = {*own, *names.values()}
                if name not in used and self.takes(name):
                    names[field] = name
                    break
        return names

    def problem(self, call: partial[Any]) -> str | None:
        """What keeps a call from being made, in words, or None."""
        if self.signature is None:
            return None
        try:
            self.signature.bind(*call.args, **call.keywords)
        except TypeError as error:
            return str(error)
        return None


def _signature(method: Callable[..., Any]) -> inspect.Signature | None:
    """A method's signature, or that of its class's `__call__`; None where neither is readable.

    Python 3.11.2 cannot read an `AsyncMock`; no Python reads a made-up `__signature__`.
    """
    with contextlib.suppress(Exception):  # a host's object may raise anything here
        return inspect.signature(method)
    call = type(method).__call__
    if inspect.isfunction(call):
        with contextlib.suppress(TypeError, ValueError):
            return inspect.signature(MethodType(call, method))
    return None
