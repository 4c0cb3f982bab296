"""The source's own settings, `[sources.workspace]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import fields, frozen

__all__ = ["Settings", "problems"]


@frozen(kw_only=True)
class Settings:
    """What is looked at.

    Attributes:
        days: a file that was edited in so many days is recently edited.
        depth: how many levels of folders the structure shows.
        open_files: files that are open, by their paths in the workspace.
    """

    days: float = 7
    depth: int = 2
    open_files: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Settings:
        """The settings of a configuration that was checked."""
        return cls(
            days=settings.get("days", 7),
            depth=settings.get("depth", 2),
            open_files=tuple(settings.get("open_files", ())),
        )


def problems(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with the settings, one text each; it begins with the key."""
    known = [attribute.name for attribute in fields(Settings)]
    wrong = []
    for key, value in settings.items():
        if key not in known:
            wrong.append(f"{key}: not a setting of workspace; it has {', '.join(known)}")
        elif key == "days" and not (_is_number(value, (int, float)) and 0 < value <= 36_500):
            wrong.append(f"{key}: expected a number of days, over 0 to 36500, got {value!r}")
        elif key == "depth" and not (_is_number(value, (int,)) and 1 <= value <= 10):
            wrong.append(f"{key}: expected a number of levels, 1 to 10, got {value!r}")
        elif key == "open_files" and not _are_paths(value):
            wrong.append(f'{key}: expected a list of paths such as ["src/a.py"], got {value!r}')
    return wrong


def _is_number(value: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _are_paths(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(path, str) for path in value)
