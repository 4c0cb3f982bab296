"""Present a code unit in each style and detail."""

from __future__ import annotations

import re
from typing import Any

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.text import (
    ELLIPSIS,
    TextStyle,
    code_span,
    element,
    escape_markdown,
    line_start_safe,
    one_line,
    style_of,
    truncate,
)
from contextkit_code.compact import compact_unit
from contextkit_code.gists import rows_of
from contextkit_code.runs import with_marks
from contextkit_code.statements import comment_sign

_SAYS_SOMETHING = re.compile(r"\w")
_WORD = re.compile(r"\w+")
_BEGINNING_LINES = 3
_LEAST_PART = 10
"""Line count that every part of a long function exceeds."""

_BEGINNING_LINE_CHARACTERS = 160


def shown(item: ContextItem, style: Style, detail: Detail) -> str:
    """Return a code unit's text.

    Args:
        item: the unit.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: the code itself, docstring and all. `summary`: signature and
            docstring; of what has neither, as a window, its first lines.
            `compact`: one line with place, signature and the docstring's first sentence.
    """
    own = style_of(style)
    if detail == "compact":
        return _compact(item, own)
    code = _code(item) if detail == "full" and item.content else _summary(item)
    # The path determines the language.
    return own.choose(markdown=_markdown, xml=_xml, plain=_plain)(item, own.code_block(code))


def _markdown(item: ContextItem, block: str) -> str:
    label, where = escape_markdown(_unit_type_of(item).capitalize()), location_of(item)
    name = "" if _is_named_by_place(item) else f" {code_span(_name_of(item))}"
    place = f" in {code_span(where)}" if where else ""
    return f"**{label}**{name}{place}\n{block}"


def _xml(item: ContextItem, block: str) -> str:
    attributes = {"name": _name_of(item), "type": _unit_type_of(item), **_xml_place(item)}
    return element("entity", attributes, [block])


def _plain(item: ContextItem, block: str) -> str:
    name = _unit_type_of(item) if _is_named_by_place(item) else _name_of(item)
    return f"{name} [{location_of(item) or _unit_type_of(item)}]\n{block}"


def _is_named_by_place(item: ContextItem) -> bool:
    """Whether a unit has no name but its file's, as lines between definitions."""
    path = _visible(str(item.metadata.get("file_path") or ""))
    return _name_of(item) == path.rpartition("/")[2]


def _code(item: ContextItem) -> str:
    """Return the code, or only the selected lines.

    A part of a function also gets its signature.
    """
    code, rows = item.content.split("\n"), rows_of(item)
    if rows is not None:
        first, last = item.metadata["start_line"], item.metadata["end_line"]
        comment = comment_sign(str(item.metadata.get("language") or ""))
        code = with_marks(code, rows, range(first, last + 2), first, comment)
    above = lines_above(item)
    if len(code) > _LEAST_PART and above[0] not in item.content:
        return "\n".join((*above, *code))
    return "\n".join((*_docstring_beside(item), *code))


def _docstring_beside(item: ContextItem) -> tuple[str, ...]:
    """Return a host result's docstring if its code lacks it."""
    docstring = str(item.metadata.get("docstring") or "").strip()
    first, signature = docstring.partition("\n")[0], str(item.metadata.get("signature") or "")
    if not docstring or first in item.content:
        return ()
    # In a comment, marks separate the words of its lines.
    words = set(_WORD.findall(first))
    inside = words <= set(_WORD.findall(item.content)) or signature not in item.content
    return () if inside else (docstring,)


def lines_above(item: ContextItem) -> tuple[str, ...]:
    """Return the start of the signature and a gap mark.

    They precede a part of a function.
    """
    signature = str(item.metadata.get("signature") or "").split("\n", 1)[0].strip()
    comment = comment_sign(str(item.metadata.get("language") or ""))
    return (signature, f"{comment} {ELLIPSIS}".strip())


def location_of(item: ContextItem) -> str:
    """Return an item's `path:line` on one line.

    Parts that are not known are left out.
    """
    path = item.metadata.get("file_path")
    line = item.metadata.get("start_line")
    return _visible(str(path) if line is None else f"{path}:{line}") if path else ""


def _compact(item: ContextItem, style: TextStyle) -> str:
    what, says = compact_unit(item)
    where = location_of(item) or _name_of(item)
    words = f"{what} - {says}" if says else what
    marked = f"{code_span(where)} {code_span(what)}"
    marked += f": {line_start_safe(says)}" if says else ""
    return style.entry(
        style.choose(markdown=marked, xml="", plain=one_line(f"{where} {words}")),
        tag="entity",
        attributes=_xml_place(item) or {"name": _name_of(item)},
        text=words,
    )


def _name_of(item: ContextItem) -> str:
    return _visible(str(item.metadata.get("qualified_name") or item.title or item.id))


def _unit_type_of(item: ContextItem) -> str:
    return _visible(str(item.metadata.get("unit_type") or "code"))


def _visible(text: str) -> str:
    """Make line ends and controls visible in a name."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _summary(item: ContextItem) -> str:
    parts = (item.metadata.get("signature"), item.metadata.get("docstring"))
    return "\n".join(str(part) for part in parts if part) or _beginning(item.content)


def _beginning(content: str) -> str:
    """Return the first lines that carry information."""
    lines = [line for line in content.split("\n") if _SAYS_SOMETHING.search(line)]
    kept = [truncate(line.rstrip(), _BEGINNING_LINE_CHARACTERS, len) for line in lines]
    more = [ELLIPSIS] if len(lines) > _BEGINNING_LINES else []
    return "\n".join([*kept[:_BEGINNING_LINES], *more])


def _xml_place(item: ContextItem) -> dict[str, str]:
    path: Any = item.metadata.get("file_path")
    if not path:
        return {}
    line = item.metadata.get("start_line")
    return {"file": _visible(str(path)), **({} if line is None else {"line": str(line)})}
