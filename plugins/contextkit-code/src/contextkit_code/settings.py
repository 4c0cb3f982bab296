"""The source's own settings, `[sources.code]`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from attrs import fields, frozen

from contextkit.errors import ConfigError
from contextkit.indexing.globs import wrong_globs

__all__ = ["DEFAULT_MAX_FILE_BYTES", "Settings", "problems"]

DEFAULT_MAX_FILE_BYTES = 1_000_000


@frozen(kw_only=True)
class Settings:
    """What is indexed.

    Attributes:
        include: gitignore-style globs; where there are any, only files that match one are
            indexed.
        exclude: gitignore-style globs of what is not indexed; `!glob` takes back what an
            earlier glob, or a built-in rule, leaves out.
        max_file_bytes: larger files are skipped.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Settings:
        """The settings of a configuration.

        Raises `ConfigError` naming what is wrong with it.
        """
        wrong = problems(settings)
        if wrong:
            raise ConfigError("; ".join(wrong), key="sources.code")
        return cls(
            include=tuple(settings.get("include", ())),
            exclude=tuple(settings.get("exclude", ())),
            max_file_bytes=settings.get("max_file_bytes", DEFAULT_MAX_FILE_BYTES),
        )


def problems(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with the settings, one text each; it begins with the key."""
    known = [attribute.name for attribute in fields(Settings)]
    wrong = []
    for key, value in settings.items():
        if key not in known:
            wrong.append(_unknown(key, known))
        elif key == "max_file_bytes":
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                wrong.append(f"{key}: expected a number of bytes, at least 1, got {value!r}")
        else:
            wrong.extend(wrong_globs(key, value))
    return wrong


def _unknown(key: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(key, known, n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"{key}: not a setting of code; it has {', '.join(known)}{hint}"
