"""Extract the imports of a source file.

They are kept as the language writes them, for code that looks at dependencies between files. They
are not resolved here: that needs all files, and this module sees one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from tree_sitter import Node


IMPORT = "import"
"""The capture of an import."""

_MAX_IMPORTS = 1_000
_MAX_NAME = 200
_MAX_BYTES = 50_000
"""Most bytes of an import; longer ones are not hand-written."""

_MAX_LEVELS = 20
_NAMES = re.compile(r"\{([^{}]*)\}")
_QUOTED = re.compile(r"""["'<]([^"'<>\n]+)["'>]""")
_PYTHON_FROM = re.compile(r"from\s")
_PYTHON_IMPORT = re.compile(r"\simport\s")
_PYTHON_COMMENT = re.compile(r"#[^\n]*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
# Match what stands before the path: the keyword and its modifiers.
_KEYWORDS = re.compile(
    r"^(?:pub(?:\([^)]*\))?\s+)?(?:global\s+)?(?:import|use|using)\s+"
    r"(?:(?:static|function|const|qualified|struct|class|enum|protocol|func|typealias)\s+)?"
    r"(?:\w+\s*=\s*)?"
)
_ALIAS = re.compile(r"(?<!\s)\s++(?:as|=>)\s++\S++$")


@frozen
class Import:
    """One import.

    Attributes:
        module: the module imported, or imported from, as written in the file.
        names: the names imported from it; empty for the whole module, or where they are not told
            apart.
    """

    module: str
    names: tuple[str, ...] = field(default=())

    def as_field(self) -> dict[str, object]:
        """Return the stored form."""
        return {"module": self.module, "names": list(self.names)}


def import_query(language: str) -> str:
    """Return the part of a language's query that captures imports.

    Empty where there is none.
    """
    return _LANGUAGES[language][0] if language in _LANGUAGES else ""


def find_imports(
    matches: Iterable[tuple[int, Mapping[str, Sequence[Node]]]], source: bytes, language: str
) -> list[Import]:
    """Return a file's imports in order.

    Each module appears once, and there are a thousand at most.

    Args:
        matches: the matches of the language's query in the file.
        source: the file, in UTF-8.
        language: the language's name.
    """
    names: dict[str, dict[str, None]] = {}
    nodes = [node for _, captures in matches for node in captures.get(IMPORT, ())]
    for node in sorted(nodes, key=lambda node: node.start_byte):
        if node.end_byte - node.start_byte > _MAX_BYTES:
            continue
        text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        for found in _LANGUAGES[language][1](text):
            if found.module and len(found.module) <= _MAX_NAME:
                names.setdefault(found.module, {}).update(dict.fromkeys(found.names))
    return [Import(module, tuple(taken)) for module, taken in names.items()][:_MAX_IMPORTS]


def _python(text: str) -> Iterator[Import]:
    said = _PYTHON_COMMENT.sub("", text)
    found = _PYTHON_IMPORT.search(said) if _PYTHON_FROM.match(said) else None
    if found is None:
        for module in said.removeprefix("import").split(","):
            yield Import(module.split(" as ")[0].strip())
        return
    taken = said[found.end() :].strip("() \n").split(",")
    names = (name.split(" as ")[0].strip() for name in taken)
    module = said[: found.start()].removeprefix("from")
    yield Import("".join(module.split()), _short(name for name in names if name != "*"))


def _quoted(text: str) -> Iterator[Import]:
    """Parse an import: names in braces, then a quoted module."""
    before = text
    if quoted := _QUOTED.search(text, text.rfind("}") + 1):
        before = text[: quoted.start()]
        names = (
            name.removeprefix("type ").split(" as ")[0].strip()
            for braced in _NAMES.findall(before)
            for name in braced.split(",")
        )
        yield Import(quoted[1].strip(), _short(names))


def _path(text: str) -> Iterator[Import]:
    """Parse an import whose module is a path of names.

    Braces hold several ends of the path; in Haskell, brackets hold names.
    """
    path = _KEYWORDS.sub("", _COMMENT.sub(" ", text)).strip().rstrip(";").partition("(")[0]
    if _levels(path) > _MAX_LEVELS:
        return
    for each in _unfolded(" ".join(path.split())):
        yield Import(_ALIAS.sub("", each).strip().removesuffix("::self").rstrip(".:*_"))


def _quoted_or_path(text: str) -> Iterator[Import]:
    """Parse an import of a file, in quotes, or of a module."""
    return _quoted(text) if _QUOTED.search(text) else _path(text)


def _levels(path: str) -> int:
    """Return the depth of nested braces."""
    depths = accumulate({"{": 1, "}": -1}.get(character, 0) for character in path)
    return max(depths, default=0)


def _unfolded(path: str) -> Iterator[str]:
    start, end = path.find("{"), path.rfind("}")
    if start < 0 or end < start:
        # A single brace means that the import is broken.
        yield from [path] if start == end else []
        return
    depth, part = 0, start + 1
    for place in range(start + 1, end + 1):
        depth += {"{": 1, "}": -1}.get(path[place], 0)
        if place == end or (path[place] == "," and depth == 0):
            if last := path[part:place].strip():
                yield from _unfolded(path[:start] + last)
            part = place + 1


def _short(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name and len(name) <= _MAX_NAME)


_JAVASCRIPT = """
    (import_statement source: (string)) @import
    (export_statement source: (string)) @import
    (call_expression function: (identifier) @_require
        arguments: (arguments . (string) @import) (#in? @_require "require"))
"""
_TYPESCRIPT = f"{_JAVASCRIPT} (import_require_clause source: (string) @import)"
_INCLUDE = "(preproc_include path: (_) @import)"
_DECLARATION = "(import_declaration) @import"

_LANGUAGES: Mapping[str, tuple[str, Callable[[str], Iterator[Import]]]] = {
    "python": ("(import_statement) @import (import_from_statement) @import", _python),
    "javascript": (_JAVASCRIPT, _quoted),
    "typescript": (_TYPESCRIPT, _quoted),
    "tsx": (_TYPESCRIPT, _quoted),
    "go": ("(import_spec path: (_) @import)", _quoted),
    "java": (_DECLARATION, _path),
    "rust": ("(use_declaration) @import", _path),
    "c": (_INCLUDE, _quoted),
    "cpp": (_INCLUDE, _quoted),
    "csharp": ("(using_directive) @import", _path),
    "dart": ("[(library_import) (library_export) (part_directive)] @import", _quoted),
    "julia": (
        """
        (using_statement [(identifier) (import_path) (scoped_identifier)] @import)
        (import_statement [(identifier) (import_path) (scoped_identifier)] @import)
        [(selected_import . (_) @import) (import_alias . (_) @import)]
        (call_expression . (identifier) @_include
            (argument_list . (string_literal) @import) (#in? @_include "include"))
        """,
        _quoted_or_path,
    ),
    "objectivec": (f"{_INCLUDE} (module_import path: (_) @import)", _quoted_or_path),
    "perl": (
        '(use_statement "use" module: (_) @import) (require_expression (bareword) @import)',
        _path,
    ),
    "solidity": ("(import_directive) @import", _quoted),
    "ruby": (
        """
        (call method: (identifier) @_require
            arguments: (argument_list . (string) @import)
            (#in? @_require "require" "require_relative"))
        """,
        _quoted,
    ),
    "php": ("(namespace_use_declaration) @import", _path),
    "kotlin": ("(import) @import", _path),
    "swift": (_DECLARATION, _path),
    "scala": (_DECLARATION, _path),
    "haskell": ("(import) @import", _path),
}
