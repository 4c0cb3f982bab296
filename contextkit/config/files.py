"""Read a settings file: dotted keys, values and line numbers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit.config.sections import SECTIONS, SOURCE_NAME
from contextkit.config.settings import normalized, one_name_twice
from contextkit.errors import ConfigError
from contextkit.files import parse_toml, read_toml

_TABLE = re.compile(r"\s*+\[([^\[\]]++)\]")
_NAMED = {"sources": "a source's", "strategies": "a strategy's"}
"""The sections of many tables, one for each name."""
_NOT_IN_KEY = re.compile(r"[\s\"']")
_LONGEST_TABLE = 1000
"""Keys of a table with a longer name have no line: each would hold the name once more."""


@frozen
class FileSetting:
    """A value in a settings file, and its line.

    Lines are counted from 1.
    """

    raw: Any
    line: int | None


def read_settings(file: Path) -> dict[str, FileSetting]:
    """Read the settings of a TOML file.

    The file is a `contextkit.toml`, a `config.toml`, or a `pyproject.toml` with the table.

    Raises `ConfigError` for a file that cannot be read, is not TOML, or has a value where
    a table belongs.
    """
    return settings_in(read_text(file), file)


def read_text(file: Path) -> str:
    """Read a settings file, with line feeds at the ends of lines.

    Raises `ConfigError` for a file that cannot be read.
    """
    try:
        # Some editors write a byte order mark; the user is not at fault for it.
        return read_toml(file).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {error}", file=file) from error


def settings_in(text: str, file: Path) -> dict[str, FileSetting]:
    """Read the settings of a file's text.

    Raises `ConfigError` for one that is not TOML, or has a value where a table belongs.
    """
    table = _parsed(text, file)
    prefix = ""
    if file.name == "pyproject.toml":
        table, prefix = table["tool"]["contextkit"], "tool.contextkit."

    lines = _Lines(text)

    def line_of(key: str) -> int | None:
        return lines.of(f"{prefix}{key}")

    if not isinstance(table, Mapping):
        raise ConfigError(
            "expected a table", key="tool.contextkit", file=file, line=lines.of(prefix)
        )
    try:
        return {key: FileSetting(raw, line_of(key)) for key, raw in _flatten(table)}
    except _MisplacedError as error:
        raise ConfigError(
            error.expected, key=error.key, file=file, line=line_of(error.key)
        ) from error
    except _SameNameError as error:
        places = [_first_line_of(text, f"{prefix}{key}") for key in error.keys]
        raise ConfigError(
            f"the same name as {error.keys[0]} in line {places[0]}, because - and _ are "
            f"equivalent in names: keep one of them",
            key=error.keys[1],
            file=file,
            line=places[1],
        ) from error


class _MisplacedError(Exception):
    def __init__(self, key: str, expected: str) -> None:
        self.key, self.expected = key, expected
        super().__init__(expected)


class _SameNameError(Exception):
    def __init__(self, *keys: str) -> None:
        self.keys = keys
        super().__init__(*keys)


def _parsed(text: str, file: Path) -> Any:
    try:
        return parse_toml(text)
    except (ValueError, RecursionError) as error:
        # An overlong number or unclosed brackets raise here too, without a line number.
        found = re.search(r"\(at line (\d+)", str(error))
        line = int(found.group(1)) if found else None
        if found is None and isinstance(error, tomllib.TOMLDecodeError):
            line = text.count("\n") + 1
        raise ConfigError(f"not valid TOML: {error}", file=file, line=line) from error


def _flatten(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if name not in {*SECTIONS, *_NAMED}:
            yield name, value
        elif not isinstance(value, Mapping):
            raise _MisplacedError(name, f"expected a table, [{name}]")
        elif name not in _NAMED:
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield from _flatten_named(name, value)


def _flatten_named(section: str, tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if same := one_name_twice(filter(SOURCE_NAME.fullmatch, tables)):
        raise _SameNameError(*(f"{section}.{name}" for name in same))
    for name, settings in tables.items():
        key = f"{section}.{name}"
        if not isinstance(settings, Mapping):
            raise _MisplacedError(key, f"expected a table, [{key}]")
        if not SOURCE_NAME.fullmatch(name):
            raise _MisplacedError(
                key, f"{_NAMED[section]} name is lower-case letters, digits, - and _"
            )
        yield from (
            (f"{section}.{normalized(name)}.{key}", inner) for key, inner in settings.items()
        )


class _Lines:
    """Line numbers of keys, read in one pass."""

    def __init__(self, text: str) -> None:
        self._first: dict[str, int] = {}
        for number, key in keys_by_line(text):
            self._first.setdefault(normalized(key), number)
        self._lengths = {len(key) for key in self._first}

    def of(self, dotted: str) -> int | None:
        """Return the line on which a key is set.

        Where the key has no line, it is the line of the closest key or table around it.
        """
        wanted = normalized(_NOT_IN_KEY.sub("", dotted.rstrip(".")))
        end = len(wanted)
        while end > 0:
            if end in self._lengths and (line := self._first.get(wanted[:end])) is not None:
                return line
            end = wanted.rfind(".", 0, end)
        return None


def _first_line_of(text: str, dotted: str) -> int | None:
    """Return the first line of a table or its settings.

    The key is compared as the file spells it.
    """
    for number, here in keys_by_line(text):
        if f"{here}.".startswith(f"{dotted}."):
            return number
    return None


def keys_by_line(text: str) -> Iterator[tuple[int, str]]:
    """Yield each table's or key's line, counted from 1, with its name.

    A key's name includes its table's.
    """
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        heading = _TABLE.match(line)
        if heading:
            table = _NOT_IN_KEY.sub("", heading.group(1))
            yield number, table
        elif "=" in line and len(table) <= _LONGEST_TABLE:
            key = _NOT_IN_KEY.sub("", line.split("=", 1)[0])
            yield number, f"{table}.{key}" if table else key
