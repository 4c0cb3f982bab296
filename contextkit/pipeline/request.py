"""From a host's arguments to a checked request: defaults from the configuration, clear errors.

Checking what a request says beside its query: what it filters, whose it is, what it adds.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import evolve

from contextkit.config.settings import Config, normalized
from contextkit.config.strategies import strategy_for
from contextkit.errors import InvalidRequestError, RecordError
from contextkit.models.items import DETAILS, GROUPINGS, SHARES, STYLES
from contextkit.models.request import ContextRequest
from contextkit.models.strategy import STRATEGY_DEPTH, Strategy, is_number
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import conditions

_LISTS = ("kinds", "entity_types", "exclude", "exclude_sources")
FILTER_OPTIONS = (*_LISTS, "since", "user", "additional_context")
"""The options of a request that are checked here."""

_MOST_NAMES = 1000


def checked_filter_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `FILTER_OPTIONS` that are given, in the form that a request has.

    Raises:
        InvalidRequestError: naming the option, what it is and what it should be.
    """
    checked: dict[str, Any] = {
        name: _names(name, given[name]) for name in _LISTS if given.get(name) is not None
    }
    if given.get("since") is not None:
        checked["since"] = check_since(given["since"])
    if given.get("user") is not None:
        checked["user"] = check_name("user", given["user"])
    if given.get("additional_context") is not None:
        checked["additional_context"] = _text(given["additional_context"])
    return checked


def _names(option: str, given: object) -> tuple[str, ...]:
    is_list = isinstance(given, (Sequence, Set)) and not isinstance(given, (str, bytes))
    names = list(given) if isinstance(given, (Sequence, Set)) else []
    if not is_list or not all(isinstance(name, str) and name.strip() for name in names):
        raise InvalidRequestError(f"{option} must be a list of names, got {given!r}")
    if len(names) > _MOST_NAMES:
        raise InvalidRequestError(f"{option} has {len(names)} names; {_MOST_NAMES} at most")
    for name in names:
        _check_unicode(option, name)
    return tuple(dict.fromkeys(sorted(names) if isinstance(given, Set) else names))


def check_since(given: object) -> datetime:
    """A time that carries its zone; raises `InvalidRequestError` for anything else."""
    if not isinstance(given, datetime) or given.utcoffset() is None:
        raise InvalidRequestError(f"since must be a datetime with a time zone, got {given!r}")
    return given


def check_name(option: str, given: object) -> str:
    """The name of a user or of a session; raises `InvalidRequestError` for what is none."""
    if not isinstance(given, str) or not given.strip():
        raise InvalidRequestError(f"{option} must be the name of a {option}, got {given!r}")
    _check_unicode(option, given)
    return given


def _check_unicode(option: str, name: str) -> None:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidRequestError(f"{option} must be valid Unicode, got {name!r}") from error


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise InvalidRequestError(f"additional_context must be a text, got {given!r:.80}")
    # Half a surrogate pair is no text that a host could write anywhere.
    return given.encode("utf-8", "replace").decode("utf-8")


_CHOICES = {
    "style": STYLES,
    "detail": DETAILS,
    "group_by": GROUPINGS,
    "overflow": ("hard", "soft"),
    "shares": SHARES,
}
_SWITCHES = ("include_sources", "guard", "compress", "fill")
_WITHIN_0_AND_1 = ("min_relevance", "diversity")
_CONFIGURED = (
    "max_tokens",
    "limit",
    "sources",
    "source_timeout",
    "deadline",
    "tokens",
    *_CHOICES,
    *_SWITCHES,
    *_WITHIN_0_AND_1,
)
_MAX_QUERY = 1_000_000
"""Characters; what a longer one asks for is in none of them."""

_LEAST_LIMIT = 50
_TOKENS_AN_ITEM = 40

_BY_SOURCE = ("weights", "limits", "timeouts")
_BY_REQUEST = ("filters", "session", "recipe", "strategy", "depth", "record_use", "cache")
_OPTIONS = (*_CONFIGURED, *_BY_SOURCE, *FILTER_OPTIONS, *_BY_REQUEST)
_OF_THE_STRATEGY = ("shares", "min_relevance", "diversity", "depth")
"""What a strategy says for requests that do not say it themselves."""


def make_request(
    config: Config, query: str, *, project: str, workspace: Path | None, **given: Any
) -> ContextRequest:
    """A request with every value checked.

    Args:
        config: its `[assemble]` section fills in what is not given, after the strategy.
        query: what the context is needed for.
        project: the project whose records are searched.
        workspace: the workspace's root folder.
        given: fields of `ContextRequest`; None means not given.

    Raises:
        InvalidRequestError: naming the field, what it is and what it should be.
    """
    for name in given:
        if name not in _OPTIONS:
            raise InvalidRequestError(f"a request has no option '{name}'{_hint(name)}")
    strategy = strategy_for(config, given.get("strategy"))
    values: dict[str, Any] = {name: getattr(config.assemble, name) for name in _CONFIGURED}
    for name in _OF_THE_STRATEGY:
        if (part := getattr(strategy, name)) is not None:
            values[name] = part
    if given.get("sources") is None:
        # What a request names by itself, no setting leaves out.
        values["exclude_sources"] = config.assemble.exclude_sources or ()
    values.update({name: value for name, value in given.items() if value is not None})
    values["strategy"] = strategy
    if given.get("limit") is None and _is_whole(values["max_tokens"]):
        values["limit"] = default_limit(config, values["max_tokens"])
    values.update(checked_filter_options(values))
    _check_query(query)
    _check_depth(values.get("depth"))
    _check_record_use(values.get("record_use"))
    _check_numbers(values)
    _check_choices(values)
    _check_session(values.get("session"))
    for name in _BY_SOURCE:
        _check_by_source(name, values.get(name, {}))
    _check_filters(values.get("filters", {}))
    if values["sources"] is not None:
        values["sources"] = _checked_sources(values["sources"])
    return ContextRequest(
        # Half a surrogate pair, as from an argument that is not UTF-8, is no text to search.
        query=query.encode("utf-8", "replace").decode("utf-8"),
        project=project,
        workspace=workspace,
        **values,
    )


def default_limit(config: Config, max_tokens: int) -> int:
    """Give the items to retrieve per source where a request does not say: it follows the budget.

    Args:
        config: its `[assemble] limit`, where that is set, is stronger.
        max_tokens: the budget, in tokens.
    """
    return config.assemble.limit or max(_LEAST_LIMIT, max_tokens // _TOKENS_AN_ITEM)


def with_budget(request: ContextRequest, max_tokens: int | None) -> ContextRequest:
    """The request with another budget, or with its own where none is given.

    Raises `InvalidRequestError` for a budget that is none.
    """
    if max_tokens is None:
        return request
    check_whole_number("max_tokens", max_tokens)
    return evolve(request, max_tokens=max_tokens)


def _hint(name: str) -> str:
    nearest = difflib.get_close_matches(name, _OPTIONS, n=1)
    return f"; did you mean '{nearest[0]}'?" if nearest else f"; it has: {', '.join(_OPTIONS)}"


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


def _check_session(session: object) -> None:
    if session is not None:
        check_name("session", session)


def _check_depth(depth: object) -> None:
    if depth is not None and (type(depth) is not int or depth < 0):
        raise InvalidRequestError(f"depth must be {STRATEGY_DEPTH}, got {depth!r}")


def _check_record_use(record_use: object) -> None:
    if record_use is not None and not isinstance(record_use, bool):
        raise InvalidRequestError(f"record_use must be true or false, got {record_use!r}")


def _check_numbers(values: Mapping[str, Any]) -> None:
    for name in ("max_tokens", "limit"):
        check_whole_number(name, values[name])
    for name in ("source_timeout", "deadline"):
        seconds = values[name]
        if not _is_number(seconds) or not seconds > 0:
            raise InvalidRequestError(f"{name} must be a number of seconds over 0, got {seconds!r}")
    for name in _WITHIN_0_AND_1:
        value = values[name]
        if not _is_number(value) or not 0 <= value <= 1:
            raise InvalidRequestError(f"{name} must be within 0..1, got {value!r}")


def check_whole_number(name: str, value: object) -> None:
    """Raise `InvalidRequestError` for what is no whole number of at least 1."""
    if not _is_whole(value):
        raise InvalidRequestError(f"{name} must be a whole number of at least 1, got {value!r}")


def _is_whole(value: object) -> bool:
    return type(value) is int and value >= 1


def _check_choices(values: Mapping[str, Any]) -> None:
    for name, allowed in _CHOICES.items():
        if values[name] not in allowed:
            raise InvalidRequestError(
                f"{name} must be one of {', '.join(allowed)}, got {values[name]!r}"
            )
    for name in (*_SWITCHES, "cache"):
        if not isinstance(values.get(name, True), bool):
            # A caller may name sources there.
            hint = "; `sources` says which to ask" if name == "include_sources" else ""
            raise InvalidRequestError(f"{name} must be true or false, got {values[name]!r}{hint}")
    if not isinstance(values["tokens"], str) or not values["tokens"]:
        raise InvalidRequestError(
            f"tokens must be the name of what counts them, got {values['tokens']!r}"
        )


def _checked_sources(sources: object) -> tuple[str, ...]:
    if (
        isinstance(sources, (str, bytes))
        or not isinstance(sources, Sequence)
        or not all(isinstance(source, str) for source in sources)
    ):
        raise InvalidRequestError(f"sources must be a list of names, got {sources!r}")
    return tuple(dict.fromkeys(sources))


def _check_by_source(name: str, given: object) -> None:
    if not isinstance(given, Mapping):
        raise InvalidRequestError(f"{name} must be source -> number, got {given!r}")
    for source, value in given.items():
        if name == "limits":
            if type(value) is not int or value < 1:
                raise InvalidRequestError(
                    f"{name}: {source} must be a whole number of at least 1, got {value!r}"
                )
        elif not _is_number(value) or not 0 < value < math.inf:
            raise InvalidRequestError(f"{name}: {source} must be a number over 0, got {value!r}")


def _check_filters(filters: object) -> None:
    if not isinstance(filters, Mapping):
        raise InvalidRequestError(f"filters must be field -> value, got {filters!r}")
    try:
        conditions(None, None, filters)
    except (RecordError, TypeError) as error:
        raise InvalidRequestError(str(error)) from error


def _is_number(value: object) -> bool:
    return is_number(value) or (isinstance(value, float) and math.isinf(value))


def refuse_unknown_sources(registry: SourceRegistry, given: object) -> None:
    """Raise `InvalidRequestError` where a request's own strategy names a source that is none.

    Args:
        registry: the sources, those that are off too.
        given: what the request has as its strategy; a name names one of the configuration,
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


def unknown_sources(registry: SourceRegistry, named: Sequence[str]) -> list[str]:
    """Those of some names that are no installed source, sorted."""
    known = {normalized(status.name) for status in registry.plugins}
    return sorted({name for name in named if normalized(name) not in known})
