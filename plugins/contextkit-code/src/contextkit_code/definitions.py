"""Find the definitions of a source file.

These are functions, methods, classes and the like, with their positions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from contextkit_code.doc_comments import comment_words, string_words
from contextkit_code.imports import IMPORT
from contextkit_code.languages.language import METHOD_OWNERS, Language

if TYPE_CHECKING:
    from tree_sitter import Node

    from contextkit_code.grammars import Matches


_MAX_DEPTH = 20
_MAX_NAME = 200
_CLAUSE_ROWS = 2
_OVERLOAD_ROWS = 3
"""Most rows between two overloads, two of them blank."""

_ROLES = frozenset(
    {"name", "scope", "body", "onward", "docstring", "comment", "above", "signature"}
)
_BELONGS_BELOW = ("comment", "above", "signature")
_FUNCTIONS = frozenset({"function", "method"})
_DECORATIONS = frozenset({"annotation", "decorator", "attribute_list"})
_GENERICS = re.compile(r"<[^<>]*>")
_SEPARATORS = re.compile(r"::|\?\.|->|[\\:]")
_CODE_FOLLOWS = re.compile(rb"[ \t]*\w")
_HOLDERS = re.compile(r"^(?:module\.exports|exports|this)\.|\.prototype(?=\.)")


@define(kw_only=True)
class Definition:
    """A definition and its members.

    Rows count from 0, both ends included.

    Attributes:
        unit_type: `function`, `method`, `class`, …
        qualified_name: its name, prefixed with the names of its enclosing definitions, joined by
            dots.
        first: its first row, including the comments and attributes that belong to it.
        last: its last row.
        signature: its header, up to its body.
        docstring: its docstring or leading doc comment; empty where there is none.
        is_stub: whether it has no body, or an empty one.
        members: the definitions directly within it, in order.
    """

    unit_type: str
    qualified_name: str
    first: int
    last: int
    signature: str
    docstring: str
    is_stub: bool = False
    members: list[Definition] = field(factory=list)

    @property
    def name(self) -> str:
        """Return the last part of the qualified name."""
        return self.qualified_name.rpartition(".")[2] or self.qualified_name

    @property
    def is_function(self) -> bool:
        """Return whether it is a function or a method.

        These are never split by their members.
        """
        return self.unit_type in _FUNCTIONS


@define
class _Found:
    """A match of the query, not yet nested."""

    unit_type: str
    node: Node
    captures: dict[str, list[Node]]
    whole: Node
    end_byte: int
    last: int

    @classmethod
    def of(cls, unit_type: str, captures: dict[str, list[Node]], language: Language) -> _Found:
        """Make one of a match; its body may stand behind its node."""
        node = captures[unit_type][0]
        whole = _whole(node, language)
        body = captures.get("body", [whole])[0]
        end = body if body.end_byte > whole.end_byte else whole
        return cls(unit_type, node, captures, whole, end.end_byte, _last_row(end))


@define
class _Above:
    """A candidate that may belong to the definition below it."""

    role: str
    first: int
    last: int
    text: str


def find_definitions(matches: Matches, source: bytes, language: Language) -> list[Definition]:
    """Return a file's outermost definitions with their members, in order.

    A file with a syntax error yields what could be parsed.

    Args:
        matches: the matches of the language's query in the file.
        source: the file, in UTF-8.
        language: its language.
    """
    found, above = _sorted_matches(matches, source, language)
    below = _below(found, above) if language.docs_below else {}
    outermost: list[Definition] = []
    open_ones: list[tuple[int, Definition]] = []
    for match in found:
        while open_ones and open_ones[-1][0] < match.end_byte:
            open_ones.pop()
        if len(open_ones) == _MAX_DEPTH:
            continue
        owner = open_ones[-1][1] if open_ones else None
        siblings = owner.members if owner else outermost
        definition = _definition(match, owner, above, source, language)
        if (under := below.get(definition.last + 1)) is not None:
            definition.last = under.last
            definition.docstring = definition.docstring or comment_words([under.text])
        last = siblings[-1] if siblings else None
        if last and last.is_stub and _continues(last, definition, _OVERLOAD_ROWS):
            definition.first = last.first
            definition.docstring = definition.docstring or last.docstring
            siblings[-1] = definition
        elif language.clauses and last and _continues(last, definition, _CLAUSE_ROWS):
            last.last = definition.last
        else:
            siblings.append(definition)
        open_ones.append((match.end_byte, definition))
    return outermost


def _sorted_matches(
    matches: Matches, source: bytes, language: Language
) -> tuple[list[_Found], dict[int, _Above]]:
    """Sort the definitions, outer before inner.

    Also map each row to the comments and attributes that end on it.
    """
    found: dict[tuple[int, int], _Found] = {}
    patterns: dict[tuple[int, int], int] = {}
    above: dict[int, _Above] = {}
    for pattern, captures in matches:
        if IMPORT in captures:
            continue
        unit_type = next((c for c in captures if c not in _ROLES and c[0] != "_"), None)
        if unit_type is None:
            role = next(c for c in _BELONGS_BELOW if c in captures)
            _note_above(above, role, captures[role][0], source)
            continue
        node = captures[unit_type][0]
        key = (node.start_byte, node.end_byte)
        if pattern < patterns.get(key, pattern + 1):
            patterns[key] = pattern
            found[key] = _Found.of(unit_type, captures, language)
    _stretch(found.values(), above)
    ordered = sorted(found.values(), key=lambda m: (m.whole.start_byte, -m.end_byte))
    return ordered, above


def _stretch(found: Collection[_Found], above: dict[int, _Above]) -> None:
    """Let each definition that is for what follows last until the next of its type beside it."""
    onward = {match.unit_type for match in found if "onward" in match.captures}
    following: dict[tuple[str, int], _Found] = {}
    for match in sorted(found, key=lambda m: m.whole.start_byte, reverse=True):
        if match.unit_type not in onward or (parent := match.whole.parent) is None:
            continue
        beside = following.get((match.unit_type, parent.id))
        following[match.unit_type, parent.id] = match
        if "onward" not in match.captures:
            continue
        if beside is None:
            match.end_byte, match.last = parent.end_byte, _last_row(parent)
        else:
            match.end_byte = beside.whole.start_byte
            match.last = _with_above(beside.whole.start_point.row, above)[0] - 1


def _below(found: Iterable[_Found], above: dict[int, _Above]) -> dict[int, _Above]:
    """Return the comments that may belong to the definition above them, by their first rows."""
    beginnings = {match.whole.start_point.row for match in found}
    return {each.first: each for each in above.values() if each.last + 1 not in beginnings}


def _note_above(above: dict[int, _Above], role: str, node: Node, source: bytes) -> None:
    start = node.start_point
    line_start = source.rfind(b"\n", 0, node.start_byte) + 1
    if source[line_start : node.start_byte].strip():
        return
    if role == "above" and _CODE_FOLLOWS.match(source, node.end_byte):
        return
    last = _last_row(node)
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    known = above.get(last)
    if known is None or _BELONGS_BELOW.index(role) < _BELONGS_BELOW.index(known.role):
        above[last] = _Above(role, start.row, last, text)


def _last_row(node: Node) -> int:
    """Return a node's last row; some grammars include the line feed behind it."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row


def _whole(node: Node, language: Language) -> Node:
    """Return the node with the wrappers that hold only it."""
    while (
        language.wrappers
        and (parent := node.parent) is not None
        and parent.type in language.wrappers
        and not _is_group(parent)
        and sum(child.type == node.type for child in parent.named_children) == 1
    ):
        node = parent
    return node


def _is_group(node: Node) -> bool:
    """Return whether this is a group: `type ( … )`.

    A group may hold several definitions.
    """
    return node.child_count > 1 and node.child(1).type == "("


def _definition(
    match: _Found,
    owner: Definition | None,
    above: dict[int, _Above],
    source: bytes,
    language: Language,
) -> Definition:
    whole = match.whole
    first, belonging = _with_above(whole.start_point.row, above)
    names = [_text(node, source) for node in match.captures.get("name", ())]
    parts = [owner.qualified_name] if owner else []
    parts += [_text(node, source) for node in match.captures.get("scope", ())[:1]]
    name = language.joint.join(filter(None, map(_clean_name, names)))
    parts += [*filter(None, (language.prefixes.get(match.unit_type), name))] or [language.nameless]
    return Definition(
        unit_type=_unit_type(match.unit_type, "".join(names), owner),
        qualified_name=".".join(parts),
        first=first,
        last=match.last,
        signature=_signature(match, belonging, source, language),
        docstring=_docstring(match, belonging, source, language),
        is_stub=_is_stub(match, source, language),
    )


def _with_above(row: int, above: dict[int, _Above]) -> tuple[int, list[_Above]]:
    """Return a definition's first row and what belongs above it.

    The comments and attributes are in order.
    """
    belonging = []
    while (block := above.get(row - 1)) is not None:
        belonging.append(block)
        row = block.first
    return row, belonging[::-1]


def _unit_type(captured: str, raw_name: str, owner: Definition | None) -> str:
    if captured != "function":
        return captured
    owned = owner is not None and owner.unit_type in METHOD_OWNERS
    return "method" if owned or "::" in raw_name or ".prototype." in raw_name else "function"


def _clean_name(raw: str) -> str:
    name = raw if "operator" in raw else _GENERICS.sub("", raw)
    name = _SEPARATORS.sub(".", "".join(name.strip("\"'`").split()))
    return _HOLDERS.sub("", name)[:_MAX_NAME]


def _signature(
    match: _Found, belonging: Sequence[_Above], source: bytes, language: Language
) -> str:
    declared = next((block.text for block in belonging if block.role == "signature"), None)
    if declared is not None:
        return declared
    node = _header(match)
    start, body = node.start_byte, _body(match, language)
    if body is None or body.start_byte <= start:
        end = source.find(b"\n", start, node.end_byte)
        header = source[start : end if end >= 0 else node.end_byte].partition(b"{")[0]
    else:
        header = source[start : body.start_byte]
    return _dedented(header.decode("utf-8", "replace").rstrip("{; \t\n"), node.start_point.column)


def _header(match: _Found) -> Node:
    """Return the signature's first node, after decorators and attributes."""
    node = match.node if match.whole.type == "decorated_definition" else match.whole
    first = node.child(0) if node.child_count else None
    while first is not None and first.type in _DECORATIONS and first.next_sibling is not None:
        first = first.next_sibling
    return first if first is not None and first.prev_sibling is not None else node


def _body(match: _Found, language: Language) -> Node | None:
    if "body" in match.captures:
        return match.captures["body"][0]
    body = match.node.child_by_field_name("body")
    if body is None and language.bodies:
        body = next((c for c in match.node.children if c.type in language.bodies), None)
    # A comment between header and body belongs to neither, but precedes the body.
    while body is not None and (before := body.prev_sibling) and "comment" in before.type:
        body = before
    return body


def _is_stub(match: _Found, source: bytes, language: Language) -> bool:
    body = _body(match, language)
    if body is None:
        return match.node.type.endswith("_signature")
    return _text(body, source).strip("{} \t\r\n;") in ("", "...", "pass")


def _dedented(text: str, column: int) -> str:
    if "\n" not in text:
        return text
    return "\n".join(
        line[column:] if line[:column].isspace() else line for line in text.split("\n")
    )


def _docstring(
    match: _Found, belonging: Sequence[_Above], source: bytes, language: Language
) -> str:
    for node in match.captures.get("docstring", ()):
        text = _text(node, source)
        return comment_words([text]) if "comment" in node.type else string_words(text)
    if not language.comment_docs:
        return ""
    return comment_words([block.text for block in belonging if block.role == "comment"])


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _continues(previous: Definition, following: Definition, most_rows: int) -> bool:
    """Return whether two adjacent definitions form one function."""
    return (
        previous.is_function
        and following.is_function
        and previous.qualified_name == following.qualified_name
        and following.first - previous.last <= most_rows
    )
