"""The options of a request by name: checking them, and their types as keywords."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from attrs import Attribute, fields

from contextkit.errors import InvalidRequestError
from contextkit.models.items import Detail, Grouping, Overflow, Shares, Style
from contextkit.models.options import UnfitError, shown, values_of
from contextkit.models.request import ContextRequest
from contextkit.models.strategy import Strategy

OPTIONS: Mapping[str, Attribute[Any]] = {
    each.name: each for each in fields(ContextRequest) if "values" in each.metadata
}
"""The options of a request, by name."""


def checked_option(name: str, value: object, *, as_text: bool = False) -> Any:
    """The value of an option of a request.

    Args:
        name: the option.
        value: the value given.
        as_text: whether a text stands for a value of another type.

    Raises `InvalidRequestError` for an unknown option, and for a value that does not fit: it
    names the option, the value and what would fit.
    """
    if name not in OPTIONS:
        nearest = difflib.get_close_matches(name, OPTIONS, n=1)
        hint = f"did you mean '{nearest[0]}'?" if nearest else f"it has: {', '.join(OPTIONS)}"
        raise InvalidRequestError(f"a request has no option '{name}'; {hint}")
    try:
        return values_of(OPTIONS[name]).checked(value, as_text=as_text)
    except UnfitError as error:
        where = f"{name}: {error.path}" if error.path else name
        expected, got = error.expected, shown(error.found)
        raise InvalidRequestError(f"{where} must be {expected}, got {got}") from None


class PremortemOptions(TypedDict, total=False):
    """The options of a request without `strategy`, which a premortem takes for its own."""

    max_tokens: int | None
    limit: int | None
    sources: Sequence[str] | None
    exclude_sources: Collection[str] | None
    source_timeout: float | None
    deadline: float | None
    tokens: str | None
    style: Style | None
    detail: Detail | None
    group_by: Grouping | None
    include_sources: bool | None
    guard: bool | None
    compress: bool | None
    overflow: Overflow | None
    shares: Shares | None
    fill: bool | None
    min_relevance: float | None
    diversity: float | None
    dedup: bool | None
    dedup_threshold: float | None
    max_items: int | None
    min_sources: int | None
    reserve: int | None
    since: datetime | str | None
    as_of: datetime | str | None
    kinds: Collection[str] | None
    entity_types: Collection[str] | None
    exclude: Collection[str] | None
    filters: Mapping[str, Any] | None
    weights: Mapping[str, float] | None
    limits: Mapping[str, int] | None
    timeouts: Mapping[str, float] | None
    depth: int | None
    session: str | None
    user: str | None
    additional_context: str | None
    further: int | None
    record_use: bool | None
    cache: bool | None


class RequestOptions(PremortemOptions, total=False):
    """The options of a request as keywords; None leaves one unset.

    It is for type checkers: `ContextRequest` says what each of them does.
    """

    strategy: str | Strategy | Mapping[str, Any] | None
