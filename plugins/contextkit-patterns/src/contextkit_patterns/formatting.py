"""How patterns look in a context: Markdown, XML and plain text, whole or on one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.markup import escape_xml, line_start_safe, markdown_text, one_line, plain_line
from contextkit.text.truncate import truncate

__all__ = ["formatted"]

_LONGEST_IN_COMPACT = 200


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """One pattern's text as it is shown in a context of this style.

    Args:
        item: the pattern.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: its name, how often it worked, what calls for it, and its steps;
            `summary`: without what calls for it; `compact`: all steps on one line.
    """
    data = item.metadata
    name = one_line(str(data.get("name") or item.title or item.id))
    steps = [one_line(str(step)) for step in _several(data, "steps")]
    if detail == "compact":
        return _on_one_line(name, _worked(data), steps, style)
    when = _when(data) if detail == "full" else ""
    if style == "xml":
        called = f' when="{escape_xml(when)}"' if when else ""
        opening = (
            f'<entity name="{escape_xml(name)}" type="pattern" '
            f'worked="{escape_xml(_worked(data))}"{called}>'
        )
        return "\n".join([opening, *_numbered(map(escape_xml, steps)), "</entity>"])
    if style == "plain":
        about = [f"  when: {when}"] if when else []
        lines = [f"  {line}" for line in _numbered(steps)]
        return "\n".join([f"{name} [pattern, {_worked(data)}]", *about, *lines])
    about = [f"Worked: {_behind(_worked(data).removeprefix('worked '))}"]
    about += [f"When: {_behind(when)}"] if when else []
    head = "\n".join([f"**Pattern**: {_behind(name)}", *about])
    return "\n\n".join([head, "\n".join(_numbered(map(_step, steps)))])


def _on_one_line(name: str, worked: str, steps: list[str], style: Style) -> str:
    said = one_line(truncate("; ".join(steps), _LONGEST_IN_COMPACT, len))
    if style == "xml":
        opening = f'<pattern name="{escape_xml(name)}" worked="{escape_xml(worked)}">'
        return f"{opening}{escape_xml(said)}</pattern>"
    line = f"{name} ({worked}): {said}"
    return f"- {line_start_safe(line)}" if style == "markdown" else plain_line(line)


def _worked(data: Mapping[str, Any]) -> str:
    applications = one_line(str(data.get("applications") or 0))
    if applications == "0":
        return "never applied"
    return f"worked {one_line(str(data.get('successes') or 0))} of {applications} times"


def _when(data: Mapping[str, Any]) -> str:
    parts = (
        ", ".join(one_line(str(each)) for each in _several(data, name))
        for name in ("keywords", "entity_types", "intents")
    )
    return "; ".join(part for part in parts if part)


def _several(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return list(value) if isinstance(value, (list, tuple)) else [value] if value else []


def _numbered(steps: Any) -> list[str]:
    return [f"{number}. {step}" for number, step in enumerate(steps, start=1)]


def _step(step: str) -> str:
    # At the start of a list's line a block can begin.
    return markdown_text(step)


def _behind(text: str) -> str:
    return markdown_text(text, behind_label=True)
