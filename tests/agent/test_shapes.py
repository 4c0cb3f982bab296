"""Which types have a JSON schema, and what their values are read as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from contextkit import (
    ContextKit,
)
from contextkit.agent.tool_schemas import shape_of
from contextkit.models.options import UnfitError


class Water(TypedDict):
    """What a tide table says."""

    metres: Annotated[float, "over zero"]
    rising: bool
    since: NotRequired[str]


class Half(TypedDict, total=False):
    """Nothing in it is needed."""

    name: str


@pytest.mark.parametrize(
    ("annotation", "schema", "good", "bad"),
    [
        (str, {"type": "string"}, ["", "a"], [1, None]),
        (bool, {"type": "boolean"}, [True], [1, "true"]),
        (int, {"type": "integer"}, [5, -1, 5.0], [True, 5.5, "5", float("nan")]),
        (float, {"type": "number"}, [5, 0.5], [True, "5", float("inf")]),
        (Any, {}, [None, [1]], []),
        (None.__class__, {"type": "null"}, [None], [0]),
        (
            datetime,
            {"type": "string", "format": "date-time"},
            ["2026-03-01T09:30:00Z"],
            ["yesterday", 5],
        ),
        (
            Literal["a", "b"],
            {"type": "string", "enum": ["a", "b"]},
            ["a"],
            ["c", None, ["a"]],
        ),
        (Literal[1, "b"], {"enum": [1, "b"]}, [1, "b"], [True, "1"]),
        (
            str | None,
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            ["a", None],
            [1],
        ),
        (
            int | str,
            {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            [1, "a"],
            [None, 0.5],
        ),
        (list[int], {"type": "array", "items": {"type": "integer"}}, [[], [1]], ["12", [1, "a"]]),
        (list, {"type": "array", "items": {}}, [["a", 1]], [{}]),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}, [["a"]], ["a", [1]]),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}, [["a"]], [b"a", [1]]),
        (
            dict[str, int],
            {"type": "object", "additionalProperties": {"type": "integer"}},
            [{"a": 1}],
            [[], {"a": "b"}, {1: 1}],
        ),
        (Mapping[str, Any], {"type": "object"}, [{"a": "b"}], [1]),
        (dict, {"type": "object"}, [{"a": 1}], ["a"]),
        (
            Water,
            {
                "type": "object",
                "properties": {
                    "metres": {"type": "number", "description": "over zero"},
                    "rising": {"type": "boolean"},
                    "since": {"type": "string"},
                },
                "required": ["metres", "rising"],
            },
            [{"metres": 1, "rising": True}, {"metres": 1, "rising": True, "more": 1}],
            [{"metres": 1}, {"metres": 1, "rising": True, "since": 1}, 1],
        ),
        (
            Half,
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": []},
            [{}],
            [{"name": 1}],
        ),
    ],
)
def test_a_type_has_a_schema_and_reads_its_values(
    annotation: Any, schema: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    """What fits its schema is read, and nothing else."""
    shape = shape_of(annotation)
    assert shape.schema == schema
    for value in good:
        shape.read(value)
    for value in bad:
        with pytest.raises(UnfitError, match=r"^[a-z\[\]0-9.]*:? ?expected .*, got "):
            shape.read(value)


def test_values_become_python_values() -> None:
    """A time is a time, a whole number an int."""
    assert shape_of(datetime).read("2026-03-01T09:30:00Z") == datetime(
        2026, 3, 1, 9, 30, tzinfo=UTC
    )
    assert type(shape_of(int).read(5.0)) is int


@pytest.mark.parametrize(
    "annotation", [bytes, set[str], dict[int, str], tuple[int, str], object, ContextKit, "str"]
)
def test_a_type_without_a_schema(annotation: Any) -> None:
    """What JSON does not have is refused by name."""
    with pytest.raises(TypeError, match="no JSON schema describes "):
        shape_of(annotation)


def test_an_unfit_value_is_found_where_it_lies() -> None:
    """The error names the place in the whole, and shows no more of the value than a line."""
    shape = shape_of(dict[str, list[Water]])
    with pytest.raises(UnfitError, match=r"^noon\[1\]\.metres: expected a number, got 'x{79}…$"):
        shape.read({"noon": [{"metres": 1, "rising": True}, {"metres": "x" * 99, "rising": True}]})
