"""The source's own settings, `[sources.code]`."""

from __future__ import annotations

from attrs import field, frozen


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

    include: tuple[str, ...] = field(default=(), converter=tuple)
    exclude: tuple[str, ...] = field(default=(), converter=tuple)
    max_file_bytes: int = 1_000_000
