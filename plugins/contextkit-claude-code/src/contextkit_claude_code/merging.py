"""Add contextkit's entries to a settings text, and remove them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from contextkit_claude_code.json_text import (
    Edit,
    Node,
    apply,
    parse,
    with_element,
    with_member,
    without,
)
from contextkit_claude_code.wanted import SERVER_NAME, is_our_hook, is_our_server

_HOOKS = "hooks"
_SERVERS = "mcpServers"


class MergeError(ValueError):
    """The text is no settings file, or must not change.

    It may contain a value that contextkit must not overwrite.
    """


def add_hooks(text: str, hooks: Mapping[str, dict[str, Any]]) -> list[Edit]:
    """Return the edits that add missing entries of events.

    Raises `MergeError` where a value on the way is not what Claude Code has there.
    """
    edits: list[Edit] = []
    for event, entry in hooks.items():
        root = _root(text)
        under = _inside(root, _HOOKS, dict)
        if under is None:
            edits.append(with_member(text, root, _HOOKS, {event: [entry]}))
        else:
            entries = _inside(under, event, list, f"{_HOOKS}.{event}")
            if entries is None:
                edits.append(with_member(text, under, event, [entry]))
            else:
                edits.append(with_element(text, entries, entry))
        text = apply(text, edits[-1])
    return edits


def add_server(text: str, server: Mapping[str, Any]) -> list[Edit]:
    """Return the edit that adds the MCP server.

    There is none if another program's server has the name.

    Raises `MergeError` where a value on the way is not what Claude Code has there.
    """
    root = _root(text)
    servers = _inside(root, _SERVERS, dict)
    if servers is None:
        return [with_member(text, root, _SERVERS, {SERVER_NAME: server})]
    if servers.member(SERVER_NAME) is not None:
        return []
    return [with_member(text, servers, SERVER_NAME, server)]


def remove_all(text: str) -> list[Edit]:
    """Return the edits that remove all of contextkit's entries.

    What becomes empty is removed as well.

    Raises `MergeError` where a value on the way is not what Claude Code has there.
    """
    edits: list[Edit] = []
    while (edit := _next_removal(text)) is not None:
        edits.append(edit)
        text = apply(text, edit)
    return edits


def _next_removal(text: str) -> Edit | None:
    root = _root(text)
    for path in (*_our_hooks(text, root), *_our_server(text, root)):
        # A parent that holds nothing else is removed with it.
        while len(path) > 1 and len(path[-1][0].parts) == 1:
            path.pop()
        return without(text, *path[-1])
    return None


_Path = list[tuple[Node, int]]
"""The nodes from the root to the target.

Each has the position of the next one in it.
"""


def _our_hooks(text: str, root: Node) -> Iterator[_Path]:
    under = _inside(root, _HOOKS, dict)
    if under is None:
        return
    above: _Path = [(root, _position(root, _HOOKS))]
    for position, (_, _, entries) in enumerate(under.members):
        for number, entry in enumerate(entries.elements):
            listed = entry.member(_HOOKS)
            for place, hook in enumerate(listed.elements if listed else ()):
                if listed is not None and is_our_hook(json.loads(text[hook.start : hook.end])):
                    path = [*above, (under, position), (entries, number)]
                    # An entry without hooks has no effect, whatever tools it is for.
                    alone = len(listed.elements) == 1
                    yield path if alone else [*path, (listed, place)]


def _our_server(text: str, root: Node) -> Iterator[_Path]:
    servers = _inside(root, _SERVERS, dict)
    server = servers.member(SERVER_NAME) if servers else None
    if servers is None or server is None:
        return
    if is_our_server(json.loads(text[server.start : server.end])):
        place = _position(servers, SERVER_NAME)
        yield [(root, _position(root, _SERVERS)), (servers, place)]


def _root(text: str) -> Node:
    try:
        root = parse(text)
    except (ValueError, RecursionError) as error:
        raise MergeError(f"not JSON that can be read: {' '.join(str(error).split())}") from error
    if not root.is_object:
        raise MergeError("expected a JSON object")
    return root


def _inside(node: Node, key: str, kind: type, spelt: str | None = None) -> Node | None:
    found = node.member(key)
    if found is not None and found.value is not kind:
        expected = "an object" if kind is dict else "a list"
        raise MergeError(f"'{spelt or key}' is not {expected}")
    return found


def _position(node: Node, key: str) -> int:
    return max(i for i, (name, _, _) in enumerate(node.members) if name == key)
