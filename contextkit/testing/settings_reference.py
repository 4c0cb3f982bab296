"""Generate the reference of all settings from `contextkit.config`'s fields.

The reference is Markdown.

`python -m contextkit.testing.settings_reference FILE` writes it between the file's marks.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import Attribute, fields

from contextkit.config.sections import SECTIONS, SourceSettings
from contextkit.config.settings import Config, section_about
from contextkit.models.source import WorkspaceRule
from contextkit.models.strategy import Strategy
from contextkit.testing.reference import cell, described_fields, filled, table, write_page

_HEADINGS = ("setting", "default", "value", "project file", "what it does")
_RULES: Mapping[WorkspaceRule, str] = {
    "free": "yes",
    "user": "no",
    "off": "off only",
    "on": "on only",
    "lower": "lower only",
    "fewer": "fewer only",
    "more": "more only",
    "plain": "names only",
}


def settings_reference() -> str:
    """Tabulate each section, in the order of the code."""
    project = [a for a in _fields(Config) if a.name == "project"]
    parts = [f"### Top level\n\n{table(_HEADINGS, map(_row, project))}"]
    kinds = {**SECTIONS, "sources.NAME": SourceSettings, "strategies.NAME": Strategy}
    for section, kind in kinds.items():
        known = dict(described_fields(inspect.getdoc(kind) or ""))
        rows = [_row(a, known.get(a.name, "")) for a in _fields(kind) if _is_setting(a)]
        parts.append(f"### `[{section}]`\n\n{section_about(kind)}\n\n{table(_HEADINGS, rows)}")
    return "\n\n".join(parts)


def _fields(kind: type) -> Iterator[Attribute[Any]]:
    yield from fields(kind)


def _is_setting(field: Attribute[Any]) -> bool:
    return "expected" in field.metadata and field.name != "name"


def _row(field: Attribute[Any], meaning: str = "") -> tuple[str, ...]:
    about = field.metadata
    meaning = about.get("help", meaning)
    return (
        f"`{field.name}`",
        _default(field.default),
        cell(about["expected"]),
        _RULES[about.get("rule", "free")],
        cell(meaning[:1].upper() + meaning[1:]),
    )


def _default(value: object) -> str:
    return "unset" if value is None else f"`{json.dumps(value)}`"


def main() -> None:
    """Write the reference into the named page, or print it."""
    write_page(lambda page: filled(page, settings_reference()))


if __name__ == "__main__":
    main()
