"""Find where a configuration file's tables and keys begin.

This works by lines, without a parser: a chunk shows the file as it is, comments included, and a
file that is being written, or contains templates, has chunks too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from contextkit_documents.file_kinds import Kind

_LONGEST = 500
_TABLE = re.compile(r"\s*+\[++([^\[\]#]++)\]++\s*+(?:[#;].*)?")
_YAML_KEY = re.compile(r"([^\s#\-:][^:#]*+|\"[^\"]+\"|'[^']+')\s*:(?:\s.*)?")
_JSON_KEY = re.compile(r"(\s*)\"((?:[^\"\\]++|\\.)+)\"\s*:.*")

_PROJECT_TABLES = re.compile(
    r"project(?:\..+)?|build-system|package(?:\..+)?|(?:dev-|build-)?dependencies(?:\..+)?|"
    r"workspace(?:\..+)?|features|metadata|options(?:\..+)?|tool\.poetry(?:\..+)?|"
    r"dependency-groups"
)
_PROJECT_WORDS = """
    author authors bin browser bugs bundledDependencies contributors dependencies description
    devDependencies engines exports files funding homepage keywords license main module name
    optionalDependencies os packageManager peerDependencies private publishConfig repository
    require require-dev scripts type types version workspaces autoload
"""
_PROJECT_KEYS = frozenset(_PROJECT_WORDS.split())


@frozen
class Key:
    """A top-level table or key.

    Attributes:
        name: `tool.ruff`, `scripts`.
        first: its row, counted from 0.
        kind: `metadata` if it describes the project, else `configuration`.
    """

    name: str
    first: int
    kind: Kind


def keys_of(lines: Sequence[str], language: str, *, metadata: bool) -> list[Key]:
    """Return top-level tables or keys, in order.

    TOML and INI have tables, YAML and JSON have keys.

    Args:
        lines: the file's lines.
        language: `toml`, `ini`, `yaml` or `json`.
        metadata: whether the file describes the project.
    """
    # A longer line opens no table, and matching it could take long.
    lines = [line if len(line) <= _LONGEST else "" for line in lines]
    found = {"toml": _tables, "ini": _tables, "yaml": _yaml, "json": _json}[language](lines)
    return [
        Key(name, row, _kind(name, language) if metadata else "configuration")
        for row, name in found
    ]


def _kind(name: str, language: str) -> Kind:
    if language == "yaml":
        return "metadata"
    if language == "json":
        return "metadata" if name in _PROJECT_KEYS else "configuration"
    return "metadata" if _PROJECT_TABLES.fullmatch(name) else "configuration"


def _tables(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    # A line such as `["a"],` within a TOML list is not a table: something follows it, or it begins
    # with a quotation mark.
    for row, line in enumerate(lines):
        found = _TABLE.fullmatch(line)
        name = found[1].strip() if found else ""
        if name and name[0] not in "\"'" and "," not in name:
            yield row, name


def _yaml(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for row, line in enumerate(lines):
        found = _YAML_KEY.fullmatch(line)
        if found:
            yield row, found[1].strip().strip("\"'")


def _json(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the keys indented like the first one."""
    indent = None
    for row, line in enumerate(lines):
        found = _JSON_KEY.fullmatch(line)
        if found is None:
            continue
        if indent is None:
            indent = found[1]
        if found[1] == indent:
            yield row, found[2]
