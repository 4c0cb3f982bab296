"""All errors that contextkit raises deliberately.

```
ContextKitError
├── ContextAssemblyError            a context could not be assembled
│   ├── InvalidContextTypeError     the request names an unknown source
│   ├── InvalidRequestError         a value of the request is invalid
│   └── SourceError                 one source failed in one hook
├── ConfigError                     a setting is wrong: file, line, key
├── PluginError                     a plugin cannot be used
│   └── DuplicateSourceError        two distributions use one source name
├── RecordError                     a record cannot be stored as it is
├── UseHistoryError                 the usage history cannot be read or written
├── WorkspaceError                  the workspace cannot be read
└── StoreError                      the record store failed
    ├── StoreBusyError              another process kept it for too long
    ├── StoreDamagedError           its files are damaged
    │   └── RecordDamagedError      some of its records are damaged
    ├── StoreFullError              its disk is full
    ├── StoreModelMismatchError     another embedding model made its vectors
    └── StoreReadOnlyError          its folder is read-only
```
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

__all__ = [
    "ConfigError",
    "ContextAssemblyError",
    "ContextKitError",
    "DuplicateSourceError",
    "InvalidContextTypeError",
    "InvalidRequestError",
    "PluginError",
    "RecordDamagedError",
    "RecordError",
    "SourceError",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreModelMismatchError",
    "StoreReadOnlyError",
    "UseHistoryError",
    "WorkspaceError",
    "in_words",
    "ungrouped",
]


_LONGEST_REASON = 1_000
"""In characters."""

_SHOWN_RECORDS = 5


def ungrouped(error: BaseException) -> list[BaseException]:
    """Return an error, or all errors of a group."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [each for inner in error.exceptions for each in ungrouped(inner)]


def in_words(error: BaseException) -> str:
    """Describe a foreign error on one line.

    For a group, all its different errors are described.
    """
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(dict.fromkeys(map(in_words, ungrouped(error))))
    try:
        said = str(error)
        if isinstance(error, SyntaxError) and error.filename:
            # The error itself has only the file's name, which often is `__init__.py`.
            said = f"{error.msg} ({error.filename}:{error.lineno})"
        text = " ".join(said.split())
    except Exception:  # noqa: BLE001 - a foreign error's `__str__` may fail too
        text = ""
    if len(text) > _LONGEST_REASON:
        # It may be a whole page from a server, too long for a log, a trace or a terminal.
        text = f"{text[:_LONGEST_REASON].rstrip()} …"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class ContextKitError(Exception):
    """Base of all errors in this module.

    The message is one line for users.
    """

    exit_code = 1


class ContextAssemblyError(ContextKitError):
    """Base of errors in the assembly of a context."""


class InvalidContextTypeError(ContextAssemblyError):
    """The request names an unknown or disabled source.

    Attributes:
        invalid_type: the requested name.
        valid_types: the valid names.
    """

    exit_code = 2

    def __init__(
        self, invalid_type: str, valid_types: Sequence[str], reason: str | None = None
    ) -> None:
        self.invalid_type = invalid_type
        self.valid_types = list(valid_types)
        nearest = difflib.get_close_matches(invalid_type, self.valid_types, n=1)
        hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
        why = f" ({reason})" if reason else ""
        super().__init__(
            f"Invalid source '{invalid_type}'{why}. "
            f"Valid sources: {', '.join(self.valid_types) or 'none'}.{hint}"
        )


class InvalidRequestError(ContextAssemblyError):
    """A value of the request is invalid.

    The message says what is expected.
    """

    exit_code = 2


class SourceError(ContextAssemblyError):
    """One source failed in one hook.

    It is raised `from` its cause, if any.

    Attributes:
        source: the source's name.
        hook: the hook that failed, for instance `contextkit_query`.
        reason: the error message.
    """

    def __init__(self, source: str, hook: str, reason: str) -> None:
        self.source = source
        self.hook = hook
        self.reason = reason
        super().__init__(f"source '{source}' failed in {hook}: {reason}")


class ConfigError(ContextKitError):
    """A setting is wrong.

    The message gives its place and the expected value.

    Attributes:
        key: the dotted key, for instance `sources.code.weight`.
        file: its file, or None for the environment or a flag.
        line: its line in the file, counted from 1, or None.
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        key: str | None = None,
        file: Path | None = None,
        line: int | None = None,
    ) -> None:
        self.key = key
        self.file = file
        self.line = line
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        named = f"{key}: " if key else ""
        super().__init__(f"{where}{named}{message}")


class PluginError(ContextKitError):
    """A plugin cannot be used.

    The message names it, its distribution and why.
    """


class DuplicateSourceError(PluginError):
    """Two distributions provide a source of the same name.

    Attributes:
        name: the contested source name.
        distributions: the distributions that provide it.
    """

    def __init__(self, name: str, distributions: Sequence[str]) -> None:
        self.name = name
        self.distributions = list(distributions)
        super().__init__(
            f"the source name '{name}' is provided by {' and by '.join(self.distributions)}: "
            f"uninstall one of them, or switch the name off with "
            f"[sources.{name}] enabled = false"
        )


class RecordError(ContextKitError):
    """A record cannot be stored as it is.

    Nothing of it was stored.
    """


class UseHistoryError(ContextKitError):
    """The usage history cannot be read or written."""


class WorkspaceError(ContextKitError):
    """The workspace cannot be read."""


class StoreError(ContextKitError):
    """The record store failed."""

    exit_code = 4


class StoreBusyError(StoreError):
    """Another process kept the store for too long."""


class StoreDamagedError(StoreError):
    """The store's files are damaged; nothing in them was changed."""


class RecordDamagedError(StoreDamagedError):
    """Stored records are damaged; they were not changed.

    Attributes:
        records: a name for each, such as `memories record 'tea'`, or the engine's point if not
            even its id can be read.
    """

    def __init__(self, records: Sequence[str]) -> None:
        self.records = list(records)
        named = ", ".join(self.records[:_SHOWN_RECORDS])
        more = len(self.records) - _SHOWN_RECORDS
        super().__init__(
            f"damaged in the store: {named}{f' and {more} more' if more > 0 else ''}; the other "
            f"records can be read: `contextkit import` an export that still has them, or "
            f"`contextkit export` the others, move the store away, `contextkit import` that file "
            f"and run `contextkit index`"
        )


class StoreFullError(StoreError):
    """The store's disk has no room for the write.

    Nothing was stored.
    """


class StoreModelMismatchError(StoreError):
    """The store's vectors were made by another embedding model."""


class StoreReadOnlyError(StoreError):
    """The store is read-only; nothing was stored."""
