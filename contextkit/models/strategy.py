"""Strategies: how to score items and split the budget.

`contextkit.config.strategies` has the named ones.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import Attribute, field, fields, frozen

if TYPE_CHECKING:
    from contextkit.models.items import Shares

COMPONENTS = ("relevance", "salience", "recency", "priority", "history")
"""The components of a score, in the order of their sum."""

_ROUNDING = 1e-9


def is_number(value: object) -> bool:
    """Whether a value is a finite number, not a boolean."""
    if isinstance(value, int):
        # An integer of hundreds of digits is too large for a float.
        return not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(value, float) and math.isfinite(value)


def _part(default: Any, expected: str, fits: Callable[[Any], bool]) -> Any:
    def check(_: object, attribute: Attribute[Any], value: object) -> None:
        if not fits(value):
            raise ValueError(f"{attribute.name}: expected {expected}, got {value!r}")

    return field(default=default, validator=check, metadata={"expected": expected})


def _at_least_0(value: object) -> bool:
    return is_number(value) and value >= 0  # type: ignore[operator]


def _over_0(value: object) -> bool:
    return is_number(value) and value > 0  # type: ignore[operator]


def _up_to_1(value: object) -> bool:
    return _at_least_0(value) and value <= 1  # type: ignore[operator]


def _whole(value: object, least: int) -> bool:
    return type(value) is int and value >= least


def _percentages(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and all(isinstance(source, str) and _at_least_0(part) for source, part in value.items())
        and math.fsum(value.values()) <= 100 + _ROUNDING
    )


def _limits(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(source, str) and _whole(limit, 1) for source, limit in value.items()
    )


_WEIGHT = "a number of at least 0"
_UNIT = "a number within 0..1"
_PERCENTAGES = "SOURCE = percent, each at least 0 and together at most 100"
STRATEGY_DEPTH = "a whole number of at least 0"


@frozen(kw_only=True, repr=False)
class Strategy:
    """How to score items and split the budget.

    An item's score is the weighted mean of its components, each 0..1, times `decay` for every
    day of its age. `Strategy()` is the strategy `default`.

    Attributes:
        name: the strategy's name.
        relevance: weight of relevance. At least one of the five weights must be over 0.
        salience: weight of salience.
        recency: weight of recency.
        priority: weight of the source's priority.
        history: weight of usage: how often and how recently an item was used.
        half_life_days: age at which an item's recency is one half.
        decay: factor on the whole score for each day of an item's age; 1 means no decay.
            Items without a date do not decay.
        neighbours: part of its match that an item passes on to the items beside it.
        budget: percent of the budget by source. Other sources share the rest by weight.
        limits: items to retrieve, by source.
        depth: how many steps a source follows related items. Default: the source decides.
        shares: default of a request's `shares`. Default: that of `[assemble]`.
        min_relevance: default of a request's `min_relevance`. Default: that of `[assemble]`.
        diversity: default of a request's `diversity`. Default: that of `[assemble]`.

    Raises `ValueError` for an invalid value.
    """

    name: str = _part("default", "a name", lambda value: isinstance(value, str) and bool(value))
    relevance: float = _part(1.0, _WEIGHT, _at_least_0)
    salience: float = _part(0.10, _WEIGHT, _at_least_0)
    recency: float = _part(0.05, _WEIGHT, _at_least_0)
    priority: float = _part(0.02, _WEIGHT, _at_least_0)
    history: float = _part(0.0, _WEIGHT, _at_least_0)
    half_life_days: float = _part(30.0, "days, over 0", _over_0)
    decay: float = _part(
        1.0, "a number over 0 and at most 1", lambda value: _over_0(value) and value <= 1
    )
    neighbours: float = _part(0.7, _UNIT, _up_to_1)
    budget: Mapping[str, float] = _part({}, _PERCENTAGES, _percentages)
    limits: Mapping[str, int] = _part(
        {}, "SOURCE = a whole number of at least 1, for each", _limits
    )
    depth: int | None = _part(None, STRATEGY_DEPTH, lambda v: v is None or _whole(v, 0))
    shares: Shares | None = _part(
        None, "by_evidence or fixed", lambda value: value in {None, "by_evidence", "fixed"}
    )
    min_relevance: float | None = _part(None, _UNIT, lambda v: v is None or _up_to_1(v))
    diversity: float | None = _part(None, _UNIT, lambda v: v is None or _up_to_1(v))

    def __attrs_post_init__(self) -> None:
        if not self.whole > 0:
            raise ValueError(f"expected a weight over 0: one of {', '.join(COMPONENTS)}")
        if not math.isfinite(self.whole):
            raise ValueError(f"expected weights that add up: {', '.join(COMPONENTS)}")

    def __repr__(self) -> str:
        """The name and the values that differ from the default."""
        parts = ((part, getattr(self, part.name)) for part in fields(Strategy))
        shown = [
            f"{part.name}={value!r}"
            for part, value in parts
            if part.name == "name" or value != part.default
        ]
        return f"Strategy({', '.join(shown)})"

    @cached_property
    def whole(self) -> float:
        """The sum of the weights, which divides every score."""
        return self.relevance + self.salience + self.recency + self.priority + self.history

    def as_dict(self) -> dict[str, Any]:
        """Name and numbers as JSON values, without unset ones."""
        rows = {part.name: getattr(self, part.name) for part in fields(Strategy)}
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in rows.items()
            if value is not None and value != {}
        }


DEFAULT = Strategy()
