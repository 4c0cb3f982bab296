"""Add entries to a JSON settings text, and remove contextkit's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field

from contextkit_agents.errors import MergeError
from contextkit_agents.json_text import Edit, Node, apply, parse, with_element, with_member, without
from contextkit_agents.ours import is_ours


@define
class Merged:
    """The edits that add entries to a text.

    Attributes:
        text: the text with the entries.
        edits: the edits, in order.
        kept: names that other programs' entries already have.
    """

    text: str
    edits: list[Edit] = field(factory=list)
    kept: list[str] = field(factory=list)

    def add(self, entries: Mapping[str, Any], path: tuple[str, ...] = ()) -> None:
        """Add the entries below a path: members of objects, and elements of lists."""
        for name, value in entries.items():
            target, place = self._at(path), (*path, name)
            found = target.member(name)
            if found is None:
                self._apply(with_member(self.text, target, name, value))
            elif isinstance(value, list):
                _expect(found.is_array, place, "a list")
                for element in value:
                    self._apply(with_element(self.text, self._at(place), element))
            elif isinstance(value, Mapping) and not is_ours(value):
                _expect(found.is_object, place, "an object")
                self.add(value, place)
            elif isinstance(value, Mapping):
                self.kept.append(".".join(place))

    def _at(self, path: tuple[str, ...]) -> Node:
        node = _root(self.text)
        for name in path:
            found = node.member(name)
            if found is None:
                raise MergeError(f"'{name}' is missing")
            node = found
        return node

    def _apply(self, edit: Edit) -> None:
        self.edits.append(edit)
        self.text = apply(self.text, edit)


def remove_all(text: str) -> str:
    """Return the text without contextkit's entries, and without what becomes empty.

    Raises `MergeError` for a text that is not JSON, or with a comment beside such an entry.
    """
    while (path := next(_ours(text, _root(text)), None)) is not None:
        text = apply(text, without(text, *_highest(path)))
    return text


_Path = list[tuple[Node, int]]
"""The nodes from the root to the target, each with the position of the next one in it."""


def _ours(text: str, node: Node) -> Iterator[_Path]:
    children = node.elements or [child for _, _, child in node.members]
    for position, child in enumerate(children):
        mine = child.member("command") and is_ours(node_value(text, child))
        below: Iterator[_Path] = iter([[]]) if mine else _ours(text, child)
        yield from ([(node, position), *path] for path in below)


def _highest(path: _Path) -> tuple[Node, int]:
    """Return the highest node that holds nothing else but the target."""
    while len(path) > 1 and len(path[-1][0].parts) == 1:
        path.pop()
        node, position = path[-1]
        in_group = len(path) > 1 and path[-2][0].is_array and node.is_object
        # A group of hooks has no effect without them, whatever tools it is for.
        if in_group and node.members[position][0] == "hooks":
            path.pop()
    return path[-1]


def node_value(text: str, node: Node) -> Any:
    """Return a node's value, or None where comments stand in it."""
    try:
        return json.loads(text[node.start : node.end])
    except ValueError:
        return None


def _root(text: str) -> Node:
    try:
        root = parse(text)
    except (ValueError, RecursionError) as error:
        raise MergeError(f"not JSON that can be read: {' '.join(str(error).split())}") from error
    _expect(root.is_object, (), "a JSON object")
    return root


def _expect(fits: bool, path: tuple[str, ...], what: str) -> None:
    if not fits:
        raise MergeError(f"'{'.'.join(path)}' is not {what}" if path else f"expected {what}")
