"""Checking what a request says beside its query: what it filters, whose it is, what it adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from contextkit.errors import InvalidRequestError

__all__ = ["FILTER_OPTIONS", "check_name", "check_since", "checked_filter_options"]

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
