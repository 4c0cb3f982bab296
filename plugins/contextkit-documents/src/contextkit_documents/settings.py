"""The source's own settings, `[sources.documents]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import fields, frozen

from contextkit.errors import ConfigError
from contextkit.indexing.globs import wrong_globs

__all__ = ["Settings", "problems"]

_DEFAULT_MAX_BYTES = 500_000


@frozen(kw_only=True)
class Settings:
    """Which documents are indexed.

    Attributes:
        include: gitignore-style globs; where there are any, only files that match one are
            indexed.
        exclude: gitignore-style globs of what is not indexed.
        max_file_bytes: larger files are skipped.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = _DEFAULT_MAX_BYTES

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Settings:
        """The settings of a configuration.

        Raises `ConfigError` naming what is wrong with it.
        """
        wrong = problems(settings)
        if wrong:
            raise ConfigError("; ".join(wrong), key="sources.documents")
        return cls(
            include=tuple(settings.get("include", ())),
            exclude=tuple(settings.get("exclude", ())),
            max_file_bytes=settings.get("max_file_bytes", _DEFAULT_MAX_BYTES),
        )


def problems(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with the settings, one text each; it begins with the key."""
    known = [attribute.name for attribute in fields(Settings)]
    wrong = []
    for key, value in settings.items():
        if key not in known:
            wrong.append(f"{key}: not a setting of documents; it has {', '.join(known)}")
        elif key == "max_file_bytes":
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                wrong.append(f"{key}: expected a number of bytes, at least 1, got {value!r}")
        else:
            wrong.extend(wrong_globs(key, value))
    return wrong
