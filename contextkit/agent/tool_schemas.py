"""JSON schemas and validating readers for Python types."""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, Required, Union

from attrs import evolve, frozen

from contextkit.models.strategy import is_number

_SHOWN = 60
_LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping)


class UnfitError(ValueError):
    """A value does not fit its schema.

    Attributes:
        expected: a description of valid values.
        found: the value.
        path: its place in the whole value, such as `lesson.takeaway` or `tags[2]`.
    """

    def __init__(self, expected: str, found: object, path: str = "") -> None:
        self.expected = expected
        self.found = found
        self.path = path
        super().__init__(f"{f'{path}: ' if path else ''}expected {expected}, got {_shown(found)}")

    def within(self, path: str) -> UnfitError:
        """The same error for an enclosing value."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return UnfitError(self.expected, self.found, f"{path}{dot}{self.path}")


@frozen
class Shape:
    """The JSON values of a type.

    Attributes:
        schema: the JSON schema.
        words: the description in errors, as in "expected a number".
        read: converts a JSON value to Python; raises `UnfitError`.
        optional: for "another shape or null", that other shape.
    """

    schema: Mapping[str, Any]
    words: str
    read: Callable[[Any], Any]
    optional: Shape | None = None


def shape_of(annotation: Any) -> Shape:
    """Return the shape of a type.

    Supported are strings, numbers, booleans, None, `datetime` (ISO 8601), `Literal`, unions,
    lists, tuples of one type, mappings with string keys, `TypedDict` and `Any`.

    Raises `TypeError` for any other type.
    """
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _SCALARS:
        shape = _SCALARS[annotation]
    elif origin is Annotated:
        shape = _annotated(inner[0], inner[1:])
    elif origin in {Required, NotRequired}:
        shape = shape_of(inner[0])
    elif origin in {Union, types.UnionType}:
        shape = _union([shape_of(option) for option in inner])
    elif origin is Literal:
        shape = _literal(inner)
    elif _is_list(origin or annotation, inner):
        shape = _list(shape_of(inner[0]) if inner else _ANYTHING)
    elif (origin or annotation) in _OBJECTS and inner[:1] in {(), (str,)}:
        shape = _mapping(shape_of(inner[1]) if inner else _ANYTHING)
    elif typing.is_typeddict(annotation):
        shape = _typed_dict(annotation)
    else:
        raise TypeError(f"no JSON schema describes {getattr(annotation, '__name__', annotation)}")
    return shape


def described_shape(shape: Shape, description: str) -> Shape:
    """Add a description to the schema of a shape."""
    return evolve(shape, schema={**shape.schema, "description": description})


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _scalar(kind: str, words: str, fits: Callable[[Any], bool], **more: str) -> Shape:
    def read(value: Any) -> Any:
        if not fits(value):
            raise UnfitError(words, value)
        return value

    return Shape({"type": kind, **more}, words, read)


def _read_integer(value: Any) -> int:
    # JSON has one kind of number: 5.0 is an integer.
    if not is_number(value) or value != int(value):
        raise UnfitError("a whole number", value)
    return int(value)


def _read_time(value: Any) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise UnfitError(_SCALARS[datetime].words, value) from None


_ANYTHING = Shape({}, "anything", lambda value: value)
_SCALARS: dict[Any, Shape] = {
    Any: _ANYTHING,
    str: _scalar("string", "a text", lambda value: isinstance(value, str)),
    bool: _scalar("boolean", "true or false", lambda value: isinstance(value, bool)),
    int: Shape({"type": "integer"}, "a whole number", _read_integer),
    float: _scalar("number", "a number", is_number),
    types.NoneType: _scalar("null", "null", lambda value: value is None),
    datetime: Shape(
        {"type": "string", "format": "date-time"},
        "a time such as 2026-03-01T09:30:00Z",
        _read_time,
    ),
}


def _annotated(annotation: Any, notes: Sequence[object]) -> Shape:
    shape = shape_of(annotation)
    text = next((note for note in notes if isinstance(note, str)), None)
    return shape if text is None else described_shape(shape, text)


def _union(options: Sequence[Shape]) -> Shape:
    null = _SCALARS[types.NoneType]
    others = [option for option in options if option is not null]
    words = " or ".join(option.words for option in options)

    def read(value: Any) -> Any:
        if value is None and null in options:
            return None
        if len(others) == 1:
            return others[0].read(value)
        for option in others:
            try:
                return option.read(value)
            except UnfitError:
                continue
        raise UnfitError(words, value)

    return Shape(
        {"anyOf": [dict(option.schema) for option in options]},
        words,
        read,
        optional=others[0] if len(others) == 1 and null in options else None,
    )


def _literal(values: Sequence[Any]) -> Shape:
    words = f"one of {', '.join(map(str, values))}"

    def read(value: Any) -> Any:
        # Comparing types as well keeps True apart from 1.
        if not any(value == known and type(value) is type(known) for known in values):
            raise UnfitError(words, value)
        return value

    texts = {"type": "string"} if all(isinstance(value, str) for value in values) else {}
    return Shape({**texts, "enum": list(values)}, words, read)


def _is_list(kind: Any, inner: tuple[Any, ...]) -> bool:
    return kind in _LISTS and (kind is not tuple or inner[1:] in {(), (...,)})


def _list(entry: Shape) -> Shape:
    def read(value: Any) -> Any:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise UnfitError("a list", value)
        return [_inside(entry, each, f"[{place}]") for place, each in enumerate(value)]

    return Shape({"type": "array", "items": dict(entry.schema)}, "a list", read)


def _mapping(entry: Shape) -> Shape:
    def read(value: Any) -> Any:
        _check_object(value)
        return {key: _inside(entry, each, key) for key, each in value.items()}

    more = {"additionalProperties": dict(entry.schema)} if entry.schema else {}
    return Shape({"type": "object", **more}, "an object", read)


def _typed_dict(kind: Any) -> Shape:
    hints = typing.get_type_hints(kind, include_extras=True)
    entries = {key: shape_of(hint) for key, hint in hints.items()}
    required = [
        key
        for key, hint in hints.items()
        if key in kind.__required_keys__ and typing.get_origin(hint) is not NotRequired
    ]

    def read(value: Any) -> Any:
        _check_object(value)
        for key in required:
            if key not in value:
                raise UnfitError(f"an object with {', '.join(required)}", value)
        return {
            key: _inside(entries[key], each, key) if key in entries else each
            for key, each in value.items()
        }

    return Shape(
        {
            "type": "object",
            "properties": {key: dict(entry.schema) for key, entry in entries.items()},
            "required": required,
        },
        "an object",
        read,
    )


def _check_object(value: object) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise UnfitError("an object", value)


def _inside(shape: Shape, value: object, place: str) -> Any:
    try:
        return shape.read(value)
    except UnfitError as error:
        raise error.within(place) from None
