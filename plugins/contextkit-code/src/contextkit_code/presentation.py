"""How a code unit is shown: in each style, and in each detail."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.markup import (
    escape_markdown,
    escape_xml,
    fenced,
    line_start_safe,
    plain_line,
    plain_text,
)
from contextkit.text.truncate import ELLIPSIS
from contextkit_code.compact import compact_unit, shortened
from contextkit_code.gists import rows_of
from contextkit_code.runs import with_marks
from contextkit_code.statements import comment_sign

__all__ = ["lines_above", "location_of", "shown"]

_BACKTICKS = re.compile("`+")
_SAYS_SOMETHING = re.compile(r"\w")
_BEGINNING_LINES = 3
_LEAST_PART = 10
"""Parts of long functions have more lines."""

_BEGINNING_LINE_CHARACTERS = 160


def shown(item: ContextItem, style: Style, detail: Detail) -> str:
    """A code unit's text.

    Args:
        item: the unit.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: the code itself, docstring and all. `summary`: signature and
            docstring; of what has neither, as a window, its first lines.
            `compact`: one line with place, signature and the docstring's first sentence.
    """
    if detail == "compact":
        return _compact(item, style)
    code = _code(item) if detail == "full" and item.content else _summary(item)
    name, unit_type = _name_of(item), _unit_type_of(item)
    if style == "xml":
        opening = _opening({"name": name, "type": unit_type, **_xml_place(item)})
        return f"{opening}\n{escape_xml(code)}\n</entity>"
    if style == "plain":
        return f"{name}{_place(item, style) or f' [{unit_type}]'}\n{plain_text(code)}"
    heading = f"**{escape_markdown(unit_type.capitalize())}** {_code_span(name)}"
    heading += _place(item, style)
    # The path tells the language.
    return f"{heading}\n{fenced(code)}"


def _code(item: ContextItem) -> str:
    """The code, or the lines of it that are to be shown; of a part the signature, too."""
    code, rows = item.content.split("\n"), rows_of(item)
    if rows is not None:
        first, last = item.metadata["start_line"], item.metadata["end_line"]
        comment = comment_sign(str(item.metadata.get("language") or ""))
        code = with_marks(code, rows, range(first, last + 2), first, comment)
    above = lines_above(item)
    is_part = len(code) > _LEAST_PART and above[0] not in item.content
    return "\n".join((*above, *code) if is_part else code)


def lines_above(item: ContextItem) -> tuple[str, ...]:
    """The beginning of the signature, and a mark: what stands above a part of a function."""
    signature = str(item.metadata.get("signature") or "").split("\n", 1)[0].strip()
    comment = comment_sign(str(item.metadata.get("language") or ""))
    return (signature, f"{comment} {ELLIPSIS}".strip())


def _place(item: ContextItem, style: Style) -> str:
    """What a heading says of the place; empty where there is none."""
    where = location_of(item)
    if not where:
        return ""
    return f" [{where}]" if style == "plain" else f" in {_code_span(where)}"


def location_of(item: ContextItem) -> str:
    """The `path:line` of an item on one line; empty where it has none."""
    path = item.metadata.get("file_path")
    return _visible(f"{path}:{item.metadata.get('start_line', 1)}") if path else ""


def _compact(item: ContextItem, style: Style) -> str:
    what, says = compact_unit(item)
    if style == "xml":
        text = escape_xml(f"{what} - {says}" if says else what)
        return f"{_opening(_xml_place(item) or {'name': _name_of(item)})}{text}</entity>"
    where = location_of(item) or _name_of(item)
    if style == "plain":
        return plain_line(f"{where} {what} - {says}" if says else f"{where} {what}")
    line = f"- {_code_span(where)} {_code_span(what)}"
    return f"{line}: {line_start_safe(says)}" if says else line


def _name_of(item: ContextItem) -> str:
    return _visible(str(item.metadata.get("qualified_name") or item.title or item.id))


def _unit_type_of(item: ContextItem) -> str:
    return _visible(str(item.metadata.get("unit_type") or "code"))


def _visible(text: str) -> str:
    """A name or a path with its line ends and controls made visible."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _summary(item: ContextItem) -> str:
    parts = (item.metadata.get("signature"), item.metadata.get("docstring"))
    return "\n".join(str(part) for part in parts if part) or _beginning(item.content)


def _beginning(content: str) -> str:
    """The first lines that say something."""
    lines = [line for line in content.split("\n") if _SAYS_SOMETHING.search(line)]
    kept = [shortened(line.rstrip(), _BEGINNING_LINE_CHARACTERS) for line in lines]
    more = [ELLIPSIS] if len(lines) > _BEGINNING_LINES else []
    return "\n".join([*kept[:_BEGINNING_LINES], *more])


def _xml_place(item: ContextItem) -> dict[str, str]:
    path: Any = item.metadata.get("file_path")
    if not path:
        return {}
    return {"file": _visible(str(path)), "line": str(item.metadata.get("start_line", 1))}


def _opening(attributes: Mapping[str, str]) -> str:
    return "<entity " + " ".join(f'{k}="{escape_xml(v)}"' for k, v in attributes.items()) + ">"


def _code_span(text: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest else f"`{text}`"
