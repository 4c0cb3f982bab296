"""Read files' definitions and imports from the code source's records.

Only the records' fields are read: `kind` (`unit`, or `outline` for a file's own), `file_path`,
`language`, `name`, `qualified_name`, `unit_type`, `start_line`, `docstring`, `imports`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import frozen

from contextkit import Record, RecordsView
from contextkit.text import one_line
from contextkit_entities.entity import texts_in

_BATCH = 256
_LONGEST_SUMMARY = 100
_NO_DEFINITIONS = frozenset({"cell", "lines", "section", "namespace", "impl", "instance", "test"})


class Definition(NamedTuple):
    """A definition at a file's outermost level.

    Attributes:
        name: its name.
        type: `function`, `class`, …
        line: its first line, from 1.
        summary: the first line of its docstring, or empty.
    """

    name: str
    type: str
    line: int
    summary: str


@frozen
class CodeFile:
    """One file of the code.

    Attributes:
        stamp: a value that changes whenever the file's records do.
        language: its language.
        definitions: the definitions that other files may use.
        imports: (module as written in the file, names imported from it).
    """

    stamp: str
    language: str
    definitions: tuple[Definition, ...] = ()
    imports: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def links(self) -> tuple[Any, ...]:
        """Return what other files' entities and relations depend on.

        The file's own depend on it too, apart from locations.
        """
        return self.language, self.imports, tuple((d.name, d.type) for d in self.definitions)

    def as_state(self) -> list[Any]:
        """Return the state saved between index runs."""
        return [self.stamp, self.language, self.definitions, self.imports]

    @classmethod
    def from_state(cls, state: Sequence[Any]) -> CodeFile:
        """Load a saved state.

        Raises `TypeError` or `ValueError` for anything else.
        """
        stamp, language, definitions, imports = state
        return cls(
            stamp=str(stamp),
            language=str(language),
            definitions=tuple(Definition(*each) for each in definitions),
            imports=tuple((str(module), tuple(names)) for module, names in imports),
        )


Files = Mapping[str, CodeFile]
"""Path -> file."""


def fingerprint(code: RecordsView) -> list[Any]:
    """Return a value that changes whenever the code's records do.

    It is read in a moment.
    """
    newest = code.newest(1)
    return [newest[0].created_at.isoformat() if newest else "", code.count()]


def read_files(code: RecordsView, known: Files) -> dict[str, CodeFile]:
    """Read the code's files, using records of changed files only.

    Args:
        code: the records of the code source.
        known: the files as previously read.
    """
    outlines = {_path(record): record for record in code.scan({"kind": "outline"})}
    outlines.pop("", None)
    changed = sorted(
        path
        for path, outline in outlines.items()
        if path not in known or known[path].stamp != _stamp(outline)
    )
    definitions = _definitions(code, changed)
    return {
        path: _file(outline, definitions.get(path, {}).values())
        if path in definitions or path not in known or known[path].stamp != _stamp(outline)
        else known[path]
        for path, outline in sorted(outlines.items())
    }


def _definitions(code: RecordsView, paths: Sequence[str]) -> dict[str, dict[str, Definition]]:
    """Map path -> name -> first definition of that name."""
    found: dict[str, dict[str, Definition]] = {path: {} for path in paths}
    for start in range(0, len(paths), _BATCH):
        batch = list(paths[start : start + _BATCH])
        for unit in code.scan({"kind": "unit", "file_path": batch}):
            definition = _definition(unit)
            of_file = found.get(_path(unit))
            if definition is None or of_file is None:
                continue
            known = of_file.get(definition.name)
            if known is None or definition.line < known.line:
                of_file[definition.name] = definition
    return found


def _definition(unit: Record) -> Definition | None:
    """Return a unit's definition if it is outermost and public.

    The name tells whether it is private.
    """
    fields = unit.fields
    name, kind = str(fields.get("qualified_name") or ""), str(fields.get("unit_type") or "")
    line = fields.get("start_line")
    if not name.isidentifier() or name.startswith("_") or kind in _NO_DEFINITIONS:
        return None
    summary = one_line(str(fields.get("docstring") or "").split("\n", 1)[0])
    return Definition(name, kind, line if isinstance(line, int) else 1, summary[:_LONGEST_SUMMARY])


def _file(outline: Record, definitions: Iterable[Definition]) -> CodeFile:
    listed = outline.fields.get("imports")
    imports = (
        (each["module"], texts_in(each, "names"))
        for each in (listed if isinstance(listed, (list, tuple)) else ())
        if isinstance(each, Mapping) and isinstance(each.get("module"), str)
    )
    return CodeFile(
        stamp=_stamp(outline),
        language=str(outline.fields.get("language") or ""),
        definitions=tuple(sorted(definitions, key=lambda each: (each.line, each.name))),
        imports=tuple(imports),
    )


def _path(record: Record) -> str:
    return str(record.fields.get("file_path") or "")


def _stamp(outline: Record) -> str:
    return outline.created_at.isoformat()
