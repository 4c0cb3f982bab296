"""The settings of both sources, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "CODE_SOURCE",
    "DEPTH",
    "MOST_DEPTH",
    "code_source_in",
    "depth_in",
    "entities_problems",
    "relations_problems",
]

CODE_SOURCE = ""
"""Reading entities from code takes longer than indexing it, and seldom answers a question."""

DEPTH = 2
MOST_DEPTH = 5


def code_source_in(settings: Mapping[str, Any]) -> str:
    """The source whose records entities are made from; empty for none."""
    return str(settings.get("code_source", CODE_SOURCE))


def depth_in(settings: Mapping[str, Any]) -> Any:
    """How far relations are followed."""
    return settings.get("depth", DEPTH)


def entities_problems(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with `[sources.entities]`, a line each."""
    found = [
        f"{key}: the source entities has no such setting, only code_source"
        for key in settings
        if key != "code_source"
    ]
    if not isinstance(settings.get("code_source", CODE_SOURCE), str):
        found.append(
            f"code_source: expected the name of a source, or an empty text for none, "
            f"got {settings['code_source']!r}"
        )
    return found


def relations_problems(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with `[sources.relations]`, a line each."""
    found = [
        f"{key}: the source relations has no such setting, only depth"
        for key in settings
        if key != "depth"
    ]
    depth = depth_in(settings)
    if type(depth) is not int or not 0 <= depth <= MOST_DEPTH:
        found.append(f"depth: expected a whole number from 0 to {MOST_DEPTH}, got {depth!r}")
    return found
