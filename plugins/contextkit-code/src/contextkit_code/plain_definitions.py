"""Find definitions in code without a grammar, by first words and indentation.

A statement that begins like a definition is one, with what is indented below it and the comments
directly above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from contextkit_code.definitions import Definition
from contextkit_code.doc_comments import comment_words
from contextkit_code.languages.language import METHOD_OWNERS
from contextkit_code.statements import Statement, statements

_MOST_ROWS = 30_000
"""Rows of a file above which it is only split by lines."""

_MAX_DEPTH = 5
_DEFINES_NOTHING = frozenset(
    {"css", "csv", "html", "ini", "json", "less", "scss", "toml", "xml", "yaml"}
)
_FUNCTIONS = "def|defp|fn|fun|func|function|method|proc|procedure|rpc|sub|subroutine|task|template"
_KINDS = {
    "contract": "class",
    "defclass": "class",
    "defmodule": "module",
    "defprotocol": "protocol",
    "defrecord": "record",
    "defstruct": "struct",
    "deftype": "type",
    "entity": "module",
    "input": "struct",
    "library": "class",
    "macro_rules!": "macro",
    "message": "struct",
    "mixin": "class",
    "model": "struct",
    "package": "module",
    "role": "class",
    "service": "interface",
    "typedef": "type",
    **dict.fromkeys(("defconst", "defcustom", "defonce", "defparameter", "defvar"), "variable"),
    **dict.fromkeys((*_FUNCTIONS.split("|"), "defmacro", "defmulti", "defmethod"), "function"),
}
"""Keywords whose unit type has another name."""

_IDENTIFIER = r"[A-Za-z_$][\w$]*+(?:(?:::|\.|-)[A-Za-z_$][\w$]*+)*"
# A keyword, the modifiers that may precede it, and a name. What continues like a sentence is no
# definition.
_KEYWORD = (
    r"(?>(?:(?:abstract|async|case|data|default|export|extend|extern|final|inline|internal|local|open"
    r"|override|private|protected|pub(?:\([a-z]+\))?|public|sealed|static|unsafe)[ \t]++)*)"
    r"(?P<kind>class|contract|defmodule|entity|enum|extension|impl|input|interface|library|macro"
    r"|macro_rules!|message|mixin|model|module|namespace|object|package|protocol|record|role|service"
    rf"|struct|trait|type|typedef|union|{_FUNCTIONS})[ \t]++"
    r"(?:alias[ \t]++)?(?:\([^()\n]*+\)[ \t]*+)?"
    rf"(?P<name>{_IDENTIFIER})"
    r"(?=[ \t]*+(?:[(\[{<:=;,*]|$|\w++[ \t]*+\{|(?:extends|implements|is)\b))"
)
_DEFINITION = re.compile(_KEYWORD)
_NAMED = re.compile(rf"^[ \t]*+{_KEYWORD}", re.MULTILINE)
_SQL = re.compile(
    r"create[ \t]++"
    r"(?>(?:(?:or|replace|unique|temporary|temp|materialized|external|unlogged)[ \t]++)*)"
    r"(?P<kind>table|view|function|procedure|trigger|index|type|schema|sequence)[ \t]++"
    r"(?:if[ \t]++not[ \t]++exists[ \t]++|concurrently[ \t]++)?(?P<name>[\w.\"`\[\]]++)",
    re.IGNORECASE,
)
_LISP = re.compile(
    r"\((?P<kind>(?:cl-)?def[\w*!-]*+)[ \t]++(?>(?:\^(?:\{[^{}\n]*+\}|\S++)[ \t]++)*)"
    r"\(?(?P<name>[^\s()\[\]\"'^{}]++)"
)
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z.][\w.$]*+)[ \t]*+(?:<-|=)[ \t]*+function\b")
"""A function of R is a value."""

_BOUND = re.compile(
    r"(?:let|and)[ \t]++(?>(?:(?:inline|internal|mutable|private|rec)[ \t]++)*)"
    r"(?P<name>[a-z_][\w']*+)(?=[ \t(:])"
)
"""A function of F#."""

_CLAUSE = re.compile(r"(?P<name>[a-z][\w@]*+)\([^()\n]*+\)[ \t]*+(?:when\b|->)")
"""A function of Erlang."""

_EQUATIONAL = frozenset({"elm", "purescript"})
_EQUATION = re.compile(r"(?P<name>[a-z_][\w']*+)(?:[ \t]++::?[ \t]|[^=\n:]*+=(?!=))")
"""The type of a function, or what it equals, in languages that write little else."""

_TARGET = re.compile(r"(?P<name>[A-Za-z][\w./-]*+)[ \t]*+:(?![:=])")
_QUOTES = str.maketrans("", "", '"`[]')
_BODY = re.compile(r"(?<!\^)\{")
_COMMENT = re.compile(
    r"[ \t]*+(?:#(?!\s*(?:define|if|include)\b)|//|--|/?\*|;|%|\(\*|\"\"\".*\"\"\"$)"
)
_END = re.compile(r"[ \t]*+end", re.IGNORECASE)
_DOLLARS = re.compile(r"\$\w*+\$")
_BEGINS = re.compile(r"^[ \t]*+begin\b(?!;)", re.IGNORECASE)
_HEADERS = frozenset({"module", "namespace"})
"""Unit types that, without a body, are said of the whole file."""

_LONGEST_SQL = 400
"""Rows in which the end of a statement of SQL is looked for."""


def plain_definitions(lines: Sequence[str], language: str) -> list[Definition]:
    """Return the outermost definitions with their members, in order.

    Data and very long files have none.

    Args:
        lines: the file's lines.
        language: the name of its language.
    """
    if language in _DEFINES_NOTHING or len(lines) > _MOST_ROWS:
        return []
    finder = _Finder(lines, language, statements(lines, language))
    found = list(finder.within(0, len(finder.code), None, 0))
    return _joined(found) if language in _EQUATIONAL | {"erlang"} else found


def _joined(clauses: Sequence[Definition]) -> list[Definition]:
    """Join the clauses of a function, and its type, which stand in a row."""
    found: list[Definition] = []
    for clause in clauses:
        before = found[-1] if found else None
        if before is not None and before.qualified_name == clause.qualified_name:
            before.last = clause.last
        else:
            found.append(clause)
    return found


@frozen
class _Finder:
    lines: Sequence[str]
    language: str
    code: Sequence[Statement]

    def within(
        self, start: int, end: int, owner: Definition | None, depth: int
    ) -> Iterator[Definition]:
        """Yield the definitions among these statements."""
        number = start
        while number < end:
            following = self._end_of(number, end)
            found = self._definition(number, following, owner)
            if found is not None:
                if not found.is_function and depth < _MAX_DEPTH:
                    found.members.extend(self.within(number + 1, following, found, depth + 1))
                yield found
            number = following

    def _end_of(self, number: int, end: int) -> int:
        """Return the first statement that is not in the block of this one."""
        head = self.code[number]
        for following in range(number + 1, end):
            each = self.code[following]
            if each.depth <= head.depth and number not in each.needs:
                return following
        return end

    def _definition(
        self, number: int, following: int, owner: Definition | None
    ) -> Definition | None:
        head = self.code[number]
        line = self.lines[head.first].strip()
        found = _TARGET.match(line) if self.language == "makefile" else _begins_definition(line)
        if found is None and self.language in _EQUATIONAL and not owner:
            found = _EQUATION.match(line)
        if found is None or not head.says:
            return None
        # In Clojure, `(def x)` is a value; elsewhere, `def` begins a function.
        is_value = line.startswith("(def ")
        kind = found.groupdict().get("kind") or "function"
        unit_type = "variable" if is_value else _unit_type(kind, owner)
        last = self._last_row(head, self.code[following - 1].last)
        if unit_type in _HEADERS and last == head.first:
            return None
        above = self._comments_above(head.first)
        name = found["name"].translate(_QUOTES).replace("::", ".")
        return Definition(
            unit_type=unit_type,
            qualified_name=f"{owner.qualified_name}.{name}" if owner else name,
            first=above.start,
            last=last,
            signature=self._signature(head, unit_type),
            docstring=comment_words(["\n".join(self.lines[above.start : above.stop])]),
        )

    def _comments_above(self, row: int) -> range:
        first = row
        while first and _COMMENT.match(self.lines[first - 1]):
            first -= 1
        return range(first, row)

    def _signature(self, head: Statement, unit_type: str) -> str:
        # What is joined to the head of a table are its columns.
        last = head.last if unit_type in ("function", "method") else head.first
        rows = self.lines[head.first : last + 1]
        indent = len(rows[0]) - len(rows[0].lstrip())
        text = "\n".join(row[indent:] if row[:indent].isspace() else row for row in rows)
        return _BODY.split(text, 1)[0].rstrip("; \t\n")

    def _last_row(self, head: Statement, last: int) -> int:
        """Return the last row of a block, with a line such as `end function` below it."""
        if self.language == "sql":
            return self._end_of_sql(head.first, last)
        below = self.lines[last + 1] if last + 1 < len(self.lines) else ""
        is_end = _END.match(below) and len(below) - len(below.lstrip()) == head.indent
        return last + 1 if is_end else last

    def _end_of_sql(self, first: int, last: int) -> int:
        """Return the last row of a statement of SQL, whose body need not be indented."""
        is_quoted = has_body = False
        for row in range(first, min(first + _LONGEST_SQL, len(self.lines))):
            line = self.lines[row].strip().lower()
            is_quoted ^= len(_DOLLARS.findall(line)) % 2 == 1
            has_body = has_body or _BEGINS.match(line) is not None
            if row < last or is_quoted:
                continue
            if line in ("", "go") and not has_body:
                return row - 1
            if line.endswith(";") and (not has_body or "end" in line or "$" in line):
                return row
        return last


def _begins_definition(line: str) -> re.Match[str] | None:
    return (
        _DEFINITION.match(line)
        or _SQL.match(line)
        or _LISP.match(line)
        or _ASSIGNED.match(line)
        or _BOUND.match(line)
        or _CLAUSE.match(line)
    )


def _unit_type(kind: str, owner: Definition | None) -> str:
    kind = kind.lower().removeprefix("cl-")
    unit_type = _KINDS.get(kind, "function" if kind.startswith("def") else kind)
    owned = owner is not None and owner.unit_type in METHOD_OWNERS
    return "method" if unit_type == "function" and owned else unit_type


def plain_names(text: str) -> tuple[str, ...]:
    """Return the names that a text seems to define.

    Each appears once, in order.
    """
    found = (match["name"].replace("::", ".") for match in _NAMED.finditer(text))
    return tuple(dict.fromkeys(found))
