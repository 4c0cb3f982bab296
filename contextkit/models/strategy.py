"""Strategies: how to score items and split the budget.

`contextkit.config.strategies` has the named ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attrs import Attribute, fields, frozen

from contextkit.models.items import SHARES, Shares
from contextkit.models.options import (
    UNIT,
    WEIGHT,
    UnfitError,
    Values,
    choice,
    integers,
    numbers,
    option,
    over_0,
    table,
    text,
)

COMPONENTS = ("relevance", "salience", "recency", "priority", "history")
"""The components of a score, in the order in which they are added up."""

_ROUNDING = 1e-9


def _part(default: Any, values: Values, about: str) -> Any:
    def check(_: object, attribute: Attribute[Any], value: object) -> None:
        if value is not None or default is not None:
            try:
                values.checked(value)
            except UnfitError as error:
                raise error.within(attribute.name) from None

    return option(default, about, values, validator=check)


def _percentages() -> Values:
    expected = "SOURCE = percent, each at least 0 and together at most 100"
    rows = table(expected, WEIGHT)

    def read(value: Any) -> dict[str, float]:
        found: dict[str, float] = rows.read(value)
        if math.fsum(found.values()) > 100 + _ROUNDING:
            raise UnfitError(expected, value)
        return found

    return Values(expected, read, rows.parse)


@frozen(kw_only=True, repr=False)
class Strategy:
    """How to score items and split the budget.

    An item's score is the weighted mean of its components, each 0..1, times `decay` for every
    day of its age. `Strategy()` is the strategy `default`.

    Raises `ValueError` for an invalid value.
    """

    name: str = _part("default", text("a name"), "Name of the strategy.")
    relevance: float = _part(
        1.0, WEIGHT, "Weight of relevance. At least one of the five weights is over 0."
    )
    salience: float = _part(0.10, WEIGHT, "Weight of salience.")
    recency: float = _part(0.05, WEIGHT, "Weight of recency.")
    priority: float = _part(0.02, WEIGHT, "Weight of the source's priority.")
    history: float = _part(
        0.0, WEIGHT, "Weight of usage: how often and how recently an item was used."
    )
    half_life_days: float = _part(
        30.0, over_0("days"), "Age at which an item's recency is one half."
    )
    decay: float = _part(
        1.0,
        numbers("a number over 0 and at most 1", lambda value: 0 < value <= 1),
        "Factor on the whole score for each day of an item's age; 1 means no decay. Items "
        "without a date do not decay.",
    )
    neighbours: float = _part(
        0.7, UNIT, "Part of its match that an item passes on to the items beside it."
    )
    budget: Mapping[str, float] = _part(
        {}, _percentages(), "Percent of the budget, by source. Others share the rest by weight."
    )
    limits: Mapping[str, int] = _part(
        {},
        table("SOURCE = a whole number of at least 1, for each", integers()),
        "Items to retrieve, by source.",
    )
    depth: int | None = _part(
        None,
        integers(least=0),
        "How many steps a source follows related items. Unset: the source decides.",
    )
    shares: Shares | None = _part(
        None, choice(*SHARES), "How to split the budget. Unset: `assemble.shares`."
    )
    min_relevance: float | None = _part(
        None, UNIT, "Drop items below this relevance. Unset: `assemble.min_relevance`."
    )
    diversity: float | None = _part(
        None, UNIT, "Penalty for resembling a better item. Unset: `assemble.diversity`."
    )

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
        """The sum of the weights, by which every score is divided."""
        return self.relevance + self.salience + self.recency + self.priority + self.history

    def as_dict(self) -> dict[str, Any]:
        """The name and the numbers as JSON values, without unset ones."""
        rows = {part.name: getattr(self, part.name) for part in fields(Strategy)}
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in rows.items()
            if value is not None and value != {}
        }


DEFAULT = Strategy()
