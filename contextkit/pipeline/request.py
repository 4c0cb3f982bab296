"""Turn a host's arguments into a checked request.

Defaults come from the configuration, and errors name the option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, fields

from contextkit.config.settings import Config, normalized
from contextkit.config.strategies import strategy_for
from contextkit.errors import InvalidContextTypeError, InvalidRequestError, RecordError
from contextkit.models.request import ContextRequest, RequestDefaults
from contextkit.models.request_options import checked_option
from contextkit.models.strategy import Strategy
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import conditions

_CONFIGURED = tuple(each.name for each in fields(RequestDefaults))
_OF_THE_STRATEGY = ("shares", "min_relevance", "diversity", "depth")
"""Defaults of a request that a strategy may have."""

_MAX_QUERY = 1_000_000
_LEAST_BUDGET = 2_000
_SHORT_ITEM = 40


def make_request(
    config: Config,
    query: str,
    *,
    project: str,
    workspace: Path | None,
    recipe: str = "context",
    **given: Any,
) -> ContextRequest:
    """Create a request from checked values.

    Args:
        config: its `[assemble]` section gives the missing values, after the strategy.
        query: the purpose of the context.
        project: the project whose records are searched.
        workspace: the workspace's root folder.
        recipe: the name of the recipe that is followed.
        given: options of `ContextRequest`; None means not given.

    Raises:
        InvalidRequestError: with the option, its value and the valid values.
    """
    checked = {
        name: checked_option(name, value) for name, value in given.items() if value is not None
    }
    strategy = strategy_for(config, checked.get("strategy"))
    values: dict[str, Any] = {name: getattr(config.assemble, name) for name in _CONFIGURED}
    for name in _OF_THE_STRATEGY:
        if (part := getattr(strategy, name)) is not None:
            values[name] = part
    if "sources" in checked:
        # A setting never skips a source that a request names.
        values["exclude_sources"] = ()
    if "max_tokens" in checked:
        values["reserve"] = 0
    values.update(checked)
    values["strategy"] = strategy
    values["max_tokens"] = _without_reserve(values["max_tokens"], values["reserve"])
    if "limit" not in checked:
        values["limit"] = config.assemble.limit or default_limit(values["max_tokens"])
        values["limit_by_source"] = not config.assemble.limit
    _check_query(query)
    _check_filters(values.get("filters", {}))
    return ContextRequest(
        # Half a surrogate pair, as from an argument that is not UTF-8, cannot be searched.
        query=query.encode("utf-8", "replace").decode("utf-8"),
        project=project,
        workspace=workspace,
        recipe=recipe,
        **values,
    )


def default_limit(max_tokens: int, item_tokens: int = _SHORT_ITEM) -> int:
    """Return how many items to retrieve from a source if no limit is set.

    Each item costs the same time, and few of the last ones are shown: of 1,396 items within 2,000
    tokens, nine in a thousand were not among the first thirty of their source.

    Args:
        max_tokens: the budget, in tokens.
        item_tokens: the tokens of a typical item; default: those of a short one.
    """
    return max(1, max(_LEAST_BUDGET, max_tokens) // item_tokens)


def with_budget(request: ContextRequest, max_tokens: int | None) -> ContextRequest:
    """Return the request with another budget, if one is given.

    Raises `InvalidRequestError` for an invalid budget.
    """
    if max_tokens is None:
        return request
    budget = checked_option("max_tokens", max_tokens)
    return evolve(request, max_tokens=_without_reserve(budget, request.reserve))


def _without_reserve(max_tokens: int, reserve: int) -> int:
    """Subtract the reserve from the budget.

    Raises `InvalidRequestError` where no tokens are left.
    """
    if reserve >= max_tokens:
        raise InvalidRequestError(
            f"reserve must be less than max_tokens, {max_tokens:,}, got {reserve:,}"
        )
    return max_tokens - reserve


def _check_query(query: object) -> None:
    if not isinstance(query, str):
        raise InvalidRequestError(f"the query must be a text, got {query!r}")
    if not query.strip():
        raise InvalidRequestError("the query is empty: say what the context is needed for")
    if len(query) > _MAX_QUERY:
        raise InvalidRequestError(
            f"the query has {len(query):,} characters and may have {_MAX_QUERY:,}: "
            "say what the context is needed for in fewer"
        )


def _check_filters(filters: Mapping[str, Any]) -> None:
    try:
        conditions(None, None, filters)
    except (RecordError, TypeError) as error:
        raise InvalidRequestError(str(error)) from error


def refuse_unknown_sources(registry: SourceRegistry, given: object) -> None:
    """Raise `InvalidRequestError` for unknown sources in a request's strategy.

    Args:
        registry: the sources, those that are off too.
        given: the request's strategy; a name names one of the configuration,
            where such a source is only noted in the trace.
    """
    if isinstance(given, Strategy):
        named = [*given.budget, *given.limits]
    elif isinstance(given, Mapping):
        named = [*given.get("budget", ()), *given.get("limits", ())]
    else:
        return
    for name in unknown_sources(registry, named):
        known = ", ".join(status.name for status in registry.plugins)
        raise InvalidRequestError(
            f"strategy: there is no source '{name}'; there are: {known or 'none'}"
        )


def refuse_unknown_names(registry: SourceRegistry, request: ContextRequest) -> None:
    """Raise `InvalidContextTypeError` for unknown sources in a request's tables."""
    for name in unknown_sources(registry, [*request.weights, *request.limits, *request.timeouts]):
        raise InvalidContextTypeError(name, [status.name for status in registry.plugins])


def unknown_sources(registry: SourceRegistry, named: Sequence[str]) -> list[str]:
    """Return the names without an installed source, sorted."""
    if not named:
        return []
    known = {normalized(status.name) for status in registry.plugins}
    return sorted({name for name in named if normalized(name) not in known})
