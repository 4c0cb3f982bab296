"""Encode contexts and items exactly as JSON.

A cache may be shared, so it contains plain data only. Values that would not decode to the same,
such as a source's own object in an item's metadata, are not cached.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import GenericAlias
from typing import TYPE_CHECKING, Any, get_args, get_origin

from attrs import fields, frozen, resolve_types

from contextkit.errors import ContextKitError
from contextkit.models.context import FormattedContext
from contextkit.models.items import ContextItem, Provenance, Successor
from contextkit.models.trace import ItemTrace, SourceTrace, Trace
from contextkit.pipeline.update import Asked, Ongoing
from contextkit.text.signals import QuerySignals

if TYPE_CHECKING:
    import cattrs


_MARK = "\0"
_TUPLE = f"{_MARK}tuple"
_TIME = f"{_MARK}time"
_ANYTHING = Mapping[str, Any]
_TRACES = Sequence[ItemTrace]
_KINDS = (
    Provenance,
    Successor,
    ContextItem,
    ItemTrace,
    SourceTrace,
    QuerySignals,
    Trace,
    FormattedContext,
)
_ROUGHLY = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""Errors that malformed values raise."""


class NotExactError(ContextKitError):
    """A value would change when encoded as JSON and decoded."""


@frozen
class Aged:
    """A value from a cache.

    Attributes:
        value: the value.
        seconds: its age.
    """

    value: Any
    seconds: float


def write_context(context: FormattedContext) -> bytes:
    """Encode a context. Raises `NotExactError`."""
    return _written(context)


def read_context(kept: bytes) -> Aged | None:
    """Decode a context with its trace; None for malformed bytes."""
    return _read(kept, FormattedContext)


def write_items(items: Sequence[ContextItem]) -> bytes:
    """Encode items. Raises `NotExactError`."""
    return _written(list(items))


def read_items(kept: bytes) -> Aged | None:
    """Decode items; None for malformed bytes."""
    return _read(kept, list[ContextItem])


def _written(value: object) -> bytes:
    try:
        plain = _converter().unstructure(value)
        text = json.dumps({"at": time.time(), "value": plain}, allow_nan=False)
    except _ROUGHLY as error:
        raise NotExactError(str(error)) from error
    return text.encode()


def _read(kept: bytes, kind: Any) -> Aged | None:
    try:
        found = json.loads(kept)
        value = _converter().structure(found["value"], kind)
        return Aged(value, max(0.0, time.time() - float(found["at"])))
    except _ROUGHLY:
        return None


@cache
def _converter() -> cattrs.Converter:
    import cattrs
    from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

    converter = cattrs.Converter(detailed_validation=False)
    converter.register_unstructure_hook(datetime, datetime.isoformat)
    converter.register_structure_hook(datetime, lambda raw, _: datetime.fromisoformat(raw))
    converter.register_unstructure_hook_func(lambda kind: kind == _ANYTHING, _exactly)
    converter.register_structure_hook_func(
        lambda kind: kind == _ANYTHING, lambda raw, _: _back(raw)
    )
    converter.register_unstructure_hook_func(
        lambda kind: kind == _TRACES, lambda rows: [converter.unstructure(row) for row in rows]
    )
    converter.register_structure_hook_func(
        lambda kind: kind == _TRACES, lambda raw, _: converter.structure(raw, tuple[ItemTrace, ...])
    )
    converter.register_structure_hook_factory(
        lambda kind: isinstance(kind, GenericAlias) and get_origin(kind) is tuple,
        lambda kind: _tuple_reader(converter, kind),
    )
    for kind in _KINDS:
        resolve_types(kind, localns={"Asked": Asked, "Ongoing": Ongoing})
        # Private fields belong to the live object and are not cached.
        names = [field.name for field in fields(kind)]
        hidden: Any = {name: override(omit=True) for name in names if name[0] == "_"}
        converter.register_unstructure_hook(
            kind, make_dict_unstructure_fn(kind, converter, **hidden)
        )
        converter.register_structure_hook(kind, make_dict_structure_fn(kind, converter, **hidden))
    return converter


def _tuple_reader(converter: cattrs.Converter, kind: Any) -> Callable[[Any, Any], Any]:
    """Build a reader for tuples of one type.

    It is faster than cattrs' own, which looks up the hook for each member.
    """
    member = get_args(kind)[0]
    read = converter.get_structure_hook(member)
    return lambda raw, _: tuple([read(each, member) for each in raw])


def _exactly(value: Any) -> Any:
    """Encode a metadata value as JSON that records its type."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_exactly(inner) for inner in value]
    if type(value) is tuple:
        return {_TUPLE: [_exactly(inner) for inner in value]}
    if type(value) is datetime:
        return {_TIME: value.isoformat()}
    if type(value) is dict and all(type(key) is str and key[:1] != _MARK for key in value):
        return {key: _exactly(inner) for key, inner in value.items()}
    raise ValueError(f"cannot cache a value of type {type(value).__name__} unchanged")


def _back(value: Any) -> Any:
    match value:
        case list():
            return [_back(inner) for inner in value]
        case {"\0tuple": inner}:
            return tuple(_back(each) for each in inner)
        case {"\0time": text}:
            return datetime.fromisoformat(text)
        case dict():
            return {key: _back(inner) for key, inner in value.items()}
    return value
