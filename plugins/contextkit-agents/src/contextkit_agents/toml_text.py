"""Add a table to a TOML settings text, and remove contextkit's."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from contextkit_agents.errors import MergeError
from contextkit_agents.json_text import Edit
from contextkit_agents.ours import is_ours

_NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)


def add_tables(text: str, entries: Mapping[str, Any]) -> tuple[str, list[Edit], list[str]]:
    """Return the text with tables at its end, the edits, and the names that were taken.

    Raises `MergeError` for a text that is not TOML, or where a table cannot be added.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    wanted, blocks, kept = _read(text), "", []
    for path, table in _tables(entries):
        parent = wanted
        for name in path[:-1]:
            parent = parent.setdefault(name, {})
            if not isinstance(parent, dict):
                raise MergeError(f"'{name}' is not a table: add contextkit by hand")
        if path[-1] in parent:
            kept.append(".".join(path))
            continue
        parent[path[-1]] = table
        lines = [f"[{'.'.join(path)}]", *(f"{k} = {json.dumps(v)}" for k, v in table.items())]
        blocks += "".join(f"{line}\n" for line in ["", *lines])
    if not blocks:
        return text, [], kept
    start = "" if not text or text.endswith("\n") else "\n"
    added = (start + blocks if text else blocks.lstrip("\n")).replace("\n", line_end)
    _check(text + added, wanted)
    return text + added, [Edit(len(text), "", added)], kept


def remove_tables(text: str) -> str:
    """Return the text without contextkit's tables.

    Raises `MergeError` for a text that is not TOML, or where a table cannot be told from others.
    """
    wanted = _read(text)
    for path, table in list(_tables(wanted)):
        if not is_ours(table):
            continue
        names = r"\s*\.\s*".join(rf"[\"']?{re.escape(name)}[\"']?" for name in path)
        head = re.search(rf"^[ \t]*\[\s*{names}\s*\]", text, re.MULTILINE)
        if head is None:
            raise MergeError(f"[{'.'.join(path)}] is not written as a table: remove it by hand")
        following = _NEXT.search(text, head.end())
        end = following.start() if following else len(text)
        text = text[: head.start()] + text[end:]
        parent = wanted
        for name in path[:-1]:
            parent = parent[name]
        del parent[path[-1]]
        _check(text, wanted)
    return text


def _tables(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield the innermost tables with their paths."""
    for name, value in data.items():
        if isinstance(value, Mapping):
            inner = any(isinstance(part, Mapping) for part in value.values())
            if not inner or is_ours(value):
                yield (*path, name), value
            else:
                yield from _tables(value, (*path, name))


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MergeError(f"not TOML that can be read: {' '.join(str(error).split())}") from error


def _check(text: str, wanted: Mapping[str, Any]) -> None:
    """Check that a changed text means what it should, apart from tables without entries."""
    try:
        found = _read(text)
    except MergeError as error:
        raise MergeError("its tables cannot be extended: add contextkit by hand") from error
    if _without_empty(found) != _without_empty(wanted):
        raise MergeError("its tables cannot be changed safely: edit it by hand")


def _without_empty(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    parts = {name: _without_empty(value) for name, value in copy.copy(data).items()}
    return {name: value for name, value in parts.items() if value != {}}
