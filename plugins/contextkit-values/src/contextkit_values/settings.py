"""What may stand in `[sources.values]` beside the core's own keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["problems_with"]


def _whole_from(least: int, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "max_values": (lambda value: _whole_from(1, value), "a whole number from 1"),
    "min_cluster_size": (lambda value: _whole_from(2, value), "a whole number from 2"),
    "min_similarity": (_is_share, "a number within 0..1"),
}


def problems_with(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with the settings, one line each that begins with the key."""
    problems = []
    for key, value in settings.items():
        if key not in _RULES:
            problems.append(f"{key}: not a setting of values; there are {', '.join(_RULES)}")
        elif not _RULES[key][0](value):
            problems.append(f"{key}: expected {_RULES[key][1]}, found {value!r}")
    return problems
