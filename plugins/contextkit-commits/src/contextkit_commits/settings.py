"""The source's own settings, `[sources.commits]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import fields, frozen

from contextkit.errors import ConfigError

__all__ = ["Settings", "read_settings", "settings_problems"]


@frozen(kw_only=True)
class Settings:
    """What `[sources.commits]` may hold.

    Attributes:
        max_commits: commits to keep, newest first; 0 keeps all. Nearly every repository is
            smaller than the default; in the few larger ones the first run would take from
            minutes to hours, for commits that are many years old.
        git_timeout: seconds of silence after which git is given up on; at most a day.
    """

    max_commits: int = 100_000
    git_timeout: float = 60.0


_LONGEST = 86_400

_NAMES = tuple(attribute.name for attribute in fields(Settings))


def settings_problems(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with the settings, a text per problem that begins with its key."""
    problems = [
        f"{key}: not a setting of commits, which has {' and '.join(_NAMES)}"
        for key in sorted(settings)
        if key not in _NAMES
    ]
    most = settings.get("max_commits", 0)
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        problems.append(f"max_commits: expected a whole number, 0 for all commits, got {most!r}")
    seconds = settings.get("git_timeout", 1)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= _LONGEST:
        problems.append(
            f"git_timeout: expected a number of seconds over 0 and at most {_LONGEST}, "
            f"got {seconds!r:.60}"
        )
    return problems


def read_settings(settings: Mapping[str, Any]) -> Settings:
    """The settings, defaults filled in; raises `ConfigError` for the first that is wrong."""
    for problem in settings_problems(settings):
        key, _, message = problem.partition(": ")
        raise ConfigError(message, key=f"sources.commits.{key}")
    return Settings(**settings)
