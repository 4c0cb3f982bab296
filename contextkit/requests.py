"""From a host's arguments to a checked request: defaults from the configuration, clear errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contextkit.config import Config
from contextkit.errors import InvalidRequestError
from contextkit.models import STYLES, ContextRequest

__all__ = ["make_request"]

_OVERFLOWS = ("hard", "soft")


def make_request(
    config: Config, query: str, *, project: str, workspace: Path | None, **given: Any
) -> ContextRequest:
    """A request with every value checked.

    Args:
        config: its `[assemble]` section fills in what is not given.
        query: what the context is needed for.
        project: the project whose records are searched.
        workspace: the workspace's root folder.
        given: fields of `ContextRequest`; None means not given.

    Raises:
        InvalidRequestError: naming the field, what it is and what it should be.
    """
    settings = config.assemble
    values: dict[str, Any] = {
        name: getattr(settings, name)
        for name in (
            "max_tokens",
            "limit",
            "sources",
            "source_timeout",
            "deadline",
            "style",
            "overflow",
            "min_relevance",
        )
    }
    values.update({name: value for name, value in given.items() if value is not None})
    _check(query, values)
    if values["sources"] is not None:
        values["sources"] = tuple(dict.fromkeys(values["sources"]))
    return ContextRequest(query=query, project=project, workspace=workspace, **values)


def _check(query: object, values: Mapping[str, Any]) -> None:
    if not isinstance(query, str) or not query.strip():
        raise InvalidRequestError("the query is empty: say what the context is needed for")
    for name in ("max_tokens", "limit"):
        value = values[name]
        if type(value) is not int or value < 1:
            raise InvalidRequestError(f"{name} must be a whole number of at least 1, got {value!r}")
    for name in ("source_timeout", "deadline"):
        _check_number(name, values[name], "a number of seconds over 0", minimum=0, exclusive=True)
    _check_number("min_relevance", values["min_relevance"], "within 0..1", minimum=0, maximum=1)
    for name, allowed in (("style", STYLES), ("overflow", _OVERFLOWS)):
        if values[name] not in allowed:
            raise InvalidRequestError(
                f"{name} must be one of {', '.join(allowed)}, got {values[name]!r}"
            )
    sources = values["sources"]
    if isinstance(sources, str) or not (sources is None or isinstance(sources, Sequence)):
        raise InvalidRequestError(f"sources must be a list of names, got {sources!r}")
    for source, weight in values.get("weights", {}).items():
        _check_number(f"weight of {source}", weight, "over 0", minimum=0, exclusive=True)


def _check_number(
    name: str,
    value: object,
    expected: str,
    *,
    minimum: float,
    maximum: float = math.inf,
    exclusive: bool = False,
) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not minimum <= float(value) <= maximum or (exclusive and value == minimum):  # type: ignore[arg-type]
        raise InvalidRequestError(f"{name} must be {expected}, got {value!r}")
