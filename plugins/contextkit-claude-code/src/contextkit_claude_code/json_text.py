"""Changing a JSON text where it must be changed, and nowhere else.

Settings files belong to people: their spaces, their order, their way to write a number and
even a key that stands there twice are kept.
"""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import define, field, frozen

_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode
_DEFAULT_STEP = "  "


@define(eq=False)
class Node:
    """A value in a JSON text.

    Attributes:
        start: where it begins.
        end: where it has ended.
        value: what it is; of an object and an array, which of the two.
        members: an object's keys with their places and values, in order.
        elements: an array's values.
    """

    start: int
    end: int
    value: Any
    members: list[tuple[str, int, Node]] = field(factory=list)
    elements: list[Node] = field(factory=list)

    @property
    def is_object(self) -> bool:
        """Whether it has members."""
        return self.value is dict

    @property
    def is_array(self) -> bool:
        """Whether it has elements."""
        return self.value is list

    def member(self, key: str) -> Node | None:
        """The value of a key, the last one where there are several, as JSON readers take it."""
        return next((node for name, _, node in reversed(self.members) if name == key), None)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Where its members or elements begin and end."""
        if self.is_object:
            return [(start, node.end) for _, start, node in self.members]
        return [(node.start, node.end) for node in self.elements]


@frozen
class Edit:
    """`removed` at `start` becomes `added`."""

    start: int
    removed: str
    added: str

    @property
    def reversed(self) -> Edit:
        """What takes it back, in the text that it has made."""
        return Edit(self.start, self.added, self.removed)


def apply(text: str, edit: Edit) -> str:
    """The text with the edit made."""
    return text[: edit.start] + edit.added + text[edit.start + len(edit.removed) :]


def parse(text: str) -> Node:
    """The text's value. Raises `ValueError` or `RecursionError` where it is not JSON."""
    json.loads(text)
    node, _ = _value(text, _skip(text, 0))
    return node


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _value(text: str, start: int) -> tuple[Node, int]:
    match text[start]:
        case "{":
            return _object(text, start)
        case "[":
            return _array(text, start)
    value, end = _decode(text, start)
    return Node(start, end, value), end


def _object(text: str, start: int) -> tuple[Node, int]:
    node = Node(start, start, dict)
    position = _skip(text, start + 1)
    while text[position] != "}":
        key_start = position
        key, position = _decode(text, position)
        colon = _skip(text, position)
        value, position = _value(text, _skip(text, colon + 1))
        node.members.append((key, key_start, value))
        position = _next(text, position)
    node.end = position + 1
    return node, node.end


def _array(text: str, start: int) -> tuple[Node, int]:
    node = Node(start, start, list)
    position = _skip(text, start + 1)
    while text[position] != "]":
        value, position = _value(text, position)
        node.elements.append(value)
        position = _next(text, position)
    node.end = position + 1
    return node, node.end


def _next(text: str, position: int) -> int:
    position = _skip(text, position)
    return _skip(text, position + 1) if text[position] == "," else position


# -- edits ----------------------------------------------------------------------------------


def with_member(text: str, target: Node, key: str, value: Any) -> Edit:
    """The edit that gives an object one more member, its last, written as its others are."""
    return _with(text, target, value, f"{json.dumps(key, ensure_ascii=False)}: ")


def with_element(text: str, target: Node, value: Any) -> Edit:
    """The edit that gives an array one more element, its last, written as its others are."""
    return _with(text, target, value, "")


def _with(text: str, target: Node, value: Any, before: str) -> Edit:
    line_end = "\r\n" if "\r\n" in text else "\n"
    parts = target.parts
    step = _step(text)
    if not parts:
        outer = _indent_at(text, target.start)
        made = _written(value, outer + step, step)
        interior = text[target.start + 1 : target.end - 1]
        added = f"\n{outer}{step}{before}{made}\n{outer}".replace("\n", line_end)
        return Edit(target.start + 1, interior, added)
    last_start, last_end = parts[-1]
    if len(parts) > 1:
        gap = text[parts[-2][1] : last_start].partition(",")[2]
    else:
        gap = text[target.start + 1 : last_start]
    if "\n" in gap:
        made = _written(value, gap.rpartition("\n")[2], step).replace("\n", line_end)
        added = f",{gap}{before}{made}"
    else:
        added = f", {before}{json.dumps(value, ensure_ascii=False)}"
    return Edit(last_end, "", added)


def without(text: str, target: Node, position: int) -> Edit:
    """The edit that takes a member or an element away, with its comma."""
    parts = target.parts
    start, end = parts[position]
    if len(parts) == 1:
        start, end = target.start + 1, target.end - 1
    elif position == len(parts) - 1:
        start = parts[position - 1][1]
    else:
        end = parts[position + 1][0]
    return Edit(start, text[start:end], "")


def _written(value: Any, indent: str, step: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return f"\n{indent}".join(lines)


def _step(text: str) -> str:
    """What each level is indented by: as the first indented line is."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found.group(1) if found else _DEFAULT_STEP


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]
