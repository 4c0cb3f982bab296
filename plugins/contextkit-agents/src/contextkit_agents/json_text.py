"""Edit a JSON text with minimal changes.

Settings files belong to people: white space, order, number formats, comments, trailing commas and
even duplicate keys are kept.
"""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import define, field, frozen

from contextkit_agents.errors import MergeError

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = r'"(?>(?:[^"\\]|\\.)*)(?:"|\Z)'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)")
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])")
_LINE_END_SPACES = re.compile(r"(?<![ \t])[ \t]+\n")
_decode = json.JSONDecoder().raw_decode
_DEFAULT_STEP = "  "


@define(eq=False)
class Node:
    """A value in a JSON text.

    Attributes:
        start: its start position.
        end: its end position, exclusive.
        value: its value; for an object or an array, only its type.
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
        """Return whether it is an object."""
        return self.value is dict

    @property
    def is_array(self) -> bool:
        """Return whether it is an array."""
        return self.value is list

    def member(self, key: str) -> Node | None:
        """Return a key's value; of duplicates the last.

        JSON readers take the last one as well.
        """
        return next((node for name, _, node in reversed(self.members) if name == key), None)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Return the positions of its members or elements."""
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
        """Return the edit that reverts this one.

        It applies to the text that this edit makes.
        """
        return Edit(self.start, self.added, self.removed)


def apply(text: str, edit: Edit) -> str:
    """Apply the edit to the text."""
    return text[: edit.start] + edit.added + text[edit.start + len(edit.removed) :]


def parse(text: str) -> Node:
    """Parse a JSON text, which may have comments and trailing commas.

    Raises `ValueError` or `RecursionError` if it is not JSON.
    """
    text = blanked(text)
    json.loads(text)
    node, _ = _value(text, _skip(text, 0))
    return node


def blanked(text: str) -> str:
    """Replace comments and trailing commas by spaces, so that every position stays."""
    if "//" in text or "/*" in text:
        text = _COMMENT.sub(_as_spaces, text)
    return _LAST_COMMA.sub(_as_spaces, text)


def _as_spaces(found: re.Match[str]) -> str:
    part = found[0]
    return part if part[0] == '"' else re.sub(r"[^\r\n]", " ", part)


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
    """Return an edit that appends a member to an object.

    It is written like the other members.
    """
    return _with(text, target, value, f"{json.dumps(key, ensure_ascii=False)}: ")


def with_element(text: str, target: Node, value: Any) -> Edit:
    """Return an edit that appends an element to an array.

    It is written like the other elements.
    """
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
        if interior.strip():
            # A comment stays before the first entry.
            return Edit(target.end - 1, "", added)
        return Edit(target.start + 1, interior, added)
    last_start, last_end = parts[-1]
    first = parts[-2][1] if len(parts) > 1 else target.start + 1
    # Comments between two entries are not repeated.
    plain, gap = blanked(text)[first:last_start], text[first:last_start]
    gap = gap if plain == gap else _LINE_END_SPACES.sub("\n", plain)
    gap = gap.partition(",")[2] if len(parts) > 1 else gap
    if "\n" in gap:
        made = _written(value, gap.rpartition("\n")[2], step).replace("\n", line_end)
        added = f",{gap}{before}{made}"
    else:
        added = f", {before}{json.dumps(value, ensure_ascii=False)}"
    return Edit(last_end, "", added)


def without(text: str, target: Node, position: int) -> Edit:
    """Return an edit that removes a member or element.

    It removes the comma as well.
    """
    parts = target.parts
    start, end = parts[position]
    if len(parts) == 1:
        start, end = target.start + 1, target.end - 1
    elif position == len(parts) - 1:
        start = parts[position - 1][1]
    else:
        end = parts[position + 1][0]
    if _COMMENT.sub(_as_spaces, text)[start:end] != text[start:end]:
        raise MergeError("there is a comment beside contextkit's entry: remove the entry by hand")
    return Edit(start, text[start:end], "")


def _written(value: Any, indent: str, step: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return f"\n{indent}".join(lines)


def _step(text: str) -> str:
    """Return the indentation step, that of the first indented line."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found.group(1) if found else _DEFAULT_STEP


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]
