"""Find strategies by name, built in or from `[strategies.NAME]`.

Parts that a strategy does not set come from `[ranking]`. The strategy `default` is therefore equal
to `[ranking]` until `[strategies.default]` sets more. A section with the name of a built-in
strategy changes only the parts that it names.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import Attribute, asdict, evolve, fields_dict, frozen

from contextkit.config.sections import STRATEGY_PARTS
from contextkit.config.settings import Config, normalized, one_name_twice
from contextkit.errors import InvalidRequestError
from contextkit.models.options import UnfitError, values_of
from contextkit.models.strategy import Strategy

T = TypeVar("T")


@frozen
class BuiltIn:
    """A built-in strategy: its description and its parts."""

    about: str
    parts: Mapping[str, Any]


BUILT_IN: Mapping[str, BuiltIn] = {
    "default": BuiltIn("the best match, with small boosts; as in [ranking]", {}),
    "balanced": BuiltIn(
        "relevance, recency and salience together; recency halves every day",
        {
            "relevance": 0.5,
            "recency": 0.3,
            "salience": 0.2,
            "priority": 0.0,
            "half_life_days": 1.0,
        },
    ),
    "conversation": BuiltIn(
        "relevance, recency, priority and usage; decays every day",
        {
            "relevance": 0.4,
            "recency": 0.3,
            "priority": 0.2,
            "history": 0.1,
            "salience": 0.0,
            "decay": 0.95,
        },
    ),
    "recent": BuiltIn(
        "as default; of equally good matches the newer one",
        {"recency": 0.2, "half_life_days": 7.0},
    ),
    "matching": BuiltIn(
        "relevance only, whatever the age",
        {"salience": 0.0, "recency": 0.0, "priority": 0.0},
    ),
}


def strategy_names(config: Config) -> list[str]:
    """List the names of all strategies, sorted."""
    return sorted({*BUILT_IN, *config.strategies})


def strategy_named(config: Config, name: str) -> Strategy:
    """Return a strategy with all its numbers.

    Raises:
        InvalidRequestError: where no strategy has that name.
        ValueError: where its parts contradict each other.
    """
    key = normalized(name)
    if key not in BUILT_IN and key not in config.strategies:
        raise InvalidRequestError(f"there is no strategy '{name}'{_hint(config, key)}")
    built_in = BUILT_IN[key].parts if key in BUILT_IN else {}
    parts = {**asdict(config.ranking), **built_in, **config.strategies.get(key, {})}
    return _spelt(Strategy(name=key, **parts))


def strategy_for(config: Config, given: object) -> Strategy:
    """Return the strategy of a request.

    Args:
        config: its strategies; `[assemble] strategy` is the one where none is given.
        given: a name, a `Strategy`, or parts of one as a mapping, which replace those of the
            strategy that its `name` names, or of the configured one; or None.

    Raises:
        InvalidRequestError: for an unknown name or part, and for a value that makes no sense.
    """
    if given is None:
        return strategy_named(config, config.assemble.strategy)
    if isinstance(given, str):
        return strategy_named(config, given)
    if isinstance(given, Strategy):
        return _spelt(given)
    if isinstance(given, Mapping):
        return _replaced(config, given)
    raise InvalidRequestError(f"strategy must be a name, a Strategy or parts of one, got {given!r}")


def _replaced(config: Config, given: Mapping[Any, Any]) -> Strategy:
    base = strategy_for(config, str(given["name"]) if "name" in given else None)
    parts = {name: _checked_part(name, value) for name, value in given.items() if name != "name"}
    try:
        return _spelt(evolve(base, **parts))
    except ValueError as error:
        raise InvalidRequestError(f"strategy: {error}") from error


def _checked_part(name: object, value: object) -> Any:
    if name not in STRATEGY_PARTS:
        near = difflib.get_close_matches(str(name), STRATEGY_PARTS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"it has: {', '.join(STRATEGY_PARTS)}"
        raise InvalidRequestError(f"a strategy has no part '{name}'; {hint}")
    part: Attribute[Any] = fields_dict(Strategy)[str(name)]
    if value is None and part.default is None:
        return None
    try:
        return values_of(part).checked(value)
    except UnfitError as error:
        raise InvalidRequestError(f"strategy: {error.within(str(name))}") from error


def _spelt(strategy: Strategy) -> Strategy:
    """Normalize the sources' names in a strategy."""
    if not strategy.budget and not strategy.limits:
        return strategy
    return evolve(strategy, budget=_by_source(strategy.budget), limits=_by_source(strategy.limits))


def _by_source(given: Mapping[str, T]) -> dict[str, T]:
    if same := one_name_twice(given):
        raise InvalidRequestError(f"strategy: '{same[0]}' and '{same[1]}' are one source's name")
    return {normalized(source): value for source, value in given.items()}


def _hint(config: Config, name: str) -> str:
    names = strategy_names(config)
    near = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; there are: {', '.join(names)}"
