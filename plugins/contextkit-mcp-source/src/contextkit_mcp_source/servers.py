"""Servers as the settings describe them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from mcp import StdioServerParameters

_ENTRY = re.compile(r"([A-Za-z][\w.-]*): *(\S.*)", re.DOTALL)
_EXAMPLES = {"servers": "wiki: uvx wiki-server", "tools": "wiki: search_pages"}


@frozen
class Server:
    """One MCP server.

    Attributes:
        name: its name in the settings.
        target: its address, or the command that starts it.
        tool: its search tool; "" for the one whose name says so.
        environment: names of variables that its program gets.
    """

    name: str
    target: str
    tool: str = ""
    environment: tuple[str, ...] = ()

    @property
    def connection(self) -> StdioServerParameters | str:
        """What an MCP client connects to."""
        if self.target.startswith(("http://", "https://")):
            return self.target
        command, *arguments = shlex.split(self.target)
        given = {name: os.environ[name] for name in self.environment if name in os.environ}
        return StdioServerParameters(command=command, args=arguments, env=given)


def servers_of(settings: Mapping[str, Any]) -> list[Server]:
    """Return the servers of `[sources.servers]`."""
    tools = dict(map(_parts, settings.get("tools", ())))
    variables = tuple(settings.get("environment", ()))
    named = map(_parts, settings.get("servers", ()))
    return [Server(name, target, tools.get(name, ""), variables) for name, target in named]


def problems(name: str, value: object) -> Sequence[str]:
    """Say what is wrong with the setting `servers` or `tools`."""
    expected = f'{name}: must be a list of texts such as "{_EXAMPLES[name]}"'
    if not isinstance(value, (list, tuple)):
        return [f"{expected}, got {value!r:.60}"]
    wrong = [each for each in value if not isinstance(each, str) or not _is_entry(each)]
    if wrong:
        return [f"{expected}, got {wrong[0]!r:.60}"]
    names = [_parts(each)[0] for each in value]
    twice = next((each for each in names if names.count(each) > 1), None)
    return [f"{name}: each name must stand once, got {twice!r} twice"] if twice else []


def _is_entry(text: str) -> bool:
    if _ENTRY.fullmatch(text) is None:
        return False
    try:
        return bool(shlex.split(_parts(text)[1]))
    except ValueError:
        return False


def _parts(entry: str) -> tuple[str, str]:
    name, _, rest = entry.partition(":")
    return name, rest.strip()
