"""The source's own settings, `[sources.code]`."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen


def _texts(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(given)


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

    include: tuple[str, ...] = field(default=(), converter=_texts)
    exclude: tuple[str, ...] = field(default=(), converter=_texts)
    max_file_bytes: int = 1_000_000
