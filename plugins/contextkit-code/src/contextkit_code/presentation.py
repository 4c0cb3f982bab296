"""How a code unit is shown, in each style."""

from __future__ import annotations

import re

from contextkit import ContextItem
from contextkit.markup import escape_xml, fenced

__all__ = ["location_of", "shown"]

_BACKTICKS = re.compile("`+")


def shown(item: ContextItem, style: str) -> str:
    """A code unit's text in a style: `markdown`, `xml` or `plain`.

    The code itself is shown, docstring and all; signature and docstring alone where there
    is none.
    """
    code = item.content or _summary(item)
    name = one_line(str(item.metadata.get("qualified_name") or item.title or item.id))
    unit_type = str(item.metadata.get("unit_type") or "code")
    if style == "xml":
        return f"{_xml_start(item, name, unit_type)}\n{escape_xml(code)}\n</entity>"
    where = location_of(item)
    if style == "plain":
        return f"{name} [{where or unit_type}]\n{code}"
    heading = f"**{unit_type.capitalize()}** {_code_span(name)}"
    if where:
        heading += f" in {_code_span(where)}"
    return f"{heading}\n{fenced(code, str(item.metadata.get('language', '')))}"


def location_of(item: ContextItem) -> str:
    """The `path:line` of an item on one line; empty where it has none."""
    path = item.metadata.get("file_path")
    return one_line(f"{path}:{item.metadata.get('start_line', 1)}") if path else ""


def one_line(text: str) -> str:
    """A name or a path with its line ends and controls made visible."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _summary(item: ContextItem) -> str:
    parts = (item.metadata.get("signature"), item.metadata.get("docstring"))
    return "\n".join(str(part) for part in parts if part)


def _xml_start(item: ContextItem, name: str, unit_type: str) -> str:
    attributes = {"name": name, "type": unit_type}
    if item.metadata.get("file_path"):
        attributes["file"] = one_line(str(item.metadata["file_path"]))
        attributes["line"] = str(item.metadata.get("start_line", 1))
    return "<entity " + " ".join(f'{k}="{escape_xml(v)}"' for k, v in attributes.items()) + ">"


def _code_span(text: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest else f"`{text}`"
