"""Format patterns, whole and shortened."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.sources import behind_label, clipped, compact, in_style, plain_entity, xml_entity
from contextkit.text import ELLIPSIS, Excerpt, markdown_text, one_line, style_of

_STEP = re.compile(r"\s*\d+\. ")


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format a pattern: name, success rate, triggers (in `full`), steps."""
    data = item.metadata
    name = one_line(str(data.get("name") or item.title or item.id))
    steps, worked = [one_line(str(step)) for step in _several(data, "steps")], _worked(data)
    if detail == "compact":
        text = clipped("; ".join(steps), 200)
        attributes = {"name": name, "worked": worked}
        return compact(style, "pattern", attributes, text, f"{name} ({worked}): {text}")
    when = _when(data) if detail == "full" else ""

    def markdown() -> str:
        head = {"**Pattern**": name, "Worked": worked.removeprefix("worked "), "When": when}
        lines = [f"{label}: {behind_label(value)}" for label, value in head.items() if value]
        return "\n".join([*lines, "", *_numbered(map(markdown_text, steps))])

    return in_style(
        style,
        markdown=markdown,
        xml=lambda: xml_entity(
            {"name": name, "type": "pattern", "worked": worked, "when": when}, _numbered(steps)
        ),
        plain=lambda: plain_entity(
            f"{name} [pattern, {worked}]",
            [*([f"when: {when}"] if when else []), *_numbered(steps)],
        ),
    )


def shortened(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """Shorten a formatted pattern to `max_tokens`.

    Returns:
        Its name and all steps, where they fit; else its first steps, at least half of them;
        "" where these do not fit, as fewer would mislead; None for an XML element, and for a
        text of another shape.
    """
    lines = item.content.split("\n")
    first = next((row for row, line in enumerate(lines) if _STEP.match(line)), 0)
    heads = style_of(style).choose(markdown=[lines[0], ""], xml=None, plain=lines[:1])
    if heads is None or not first:
        return None
    head, steps = heads, lines[first:]
    fewer = range(len(steps) - 1, (len(steps) - 1) // 2, -1)
    forms = [[*head, *steps], *([*head, *steps[:kept], ELLIPSIS] for kept in fewer)]
    fitting = (text for text in map("\n".join, forms) if count(text) <= max_tokens)
    found = next(fitting, None)
    return "" if found is None else Excerpt(found)


def _worked(data: Mapping[str, Any]) -> str:
    applications = one_line(str(data.get("applications") or 0))
    if applications == "0":
        return "never applied"
    return f"worked {one_line(str(data.get('successes') or 0))} of {applications} times"


def _when(data: Mapping[str, Any]) -> str:
    names = ("keywords", "entity_types", "intents")
    parts = (", ".join(one_line(str(each)) for each in _several(data, name)) for name in names)
    return "; ".join(filter(None, parts))


def _several(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return list(value) if isinstance(value, (list, tuple)) else [value] if value else []


def _numbered(steps: Iterable[str]) -> list[str]:
    return [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
