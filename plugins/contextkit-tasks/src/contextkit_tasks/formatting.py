"""Format tasks, whole or on one line."""

from __future__ import annotations

from typing import Any

from contextkit import ContextItem
from contextkit.models import Detail, Style
from contextkit.sources import behind_label, clipped, compact, in_style, plain_entity, xml_entity
from contextkit.text import markdown_text, one_line

_LONGEST_IN_COMPACT = 160


def formatted(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format one task.

    `full` has the goal, and the detail of an active task or the result of a popped one; `summary`
    leaves the detail out; `compact` has goal and result on one line.
    """
    data = item.metadata
    status = one_line(str(data.get("status") or "active"))
    goal = one_line(str(data.get("goal") or item.title or item.id))
    result = _words(data.get("result"))
    if detail == "compact":
        clips = [clipped(text, _LONGEST_IN_COMPACT) for text in (goal, result) if text]
        text = " -> ".join(clips)
        return compact(style, "task", {"status": status}, text, f"{status}: {text}")
    more = "" if detail == "summary" else _words(data.get("detail"))
    return in_style(
        style,
        markdown=lambda: "\n\n".join(
            [
                f"**Task** ({behind_label(status)}): {behind_label(goal)}",
                *([f"**Result**: {behind_label(result)}"] if result else []),
                *([markdown_text(more)] if more else []),
            ]
        ),
        xml=lambda: xml_entity(
            {"name": item.id, "type": "task", "status": status},
            [
                f"{label}: {text}"
                for label, text in (("Goal", goal), ("Result", result), ("Detail", more))
                if text
            ],
        ),
        plain=lambda: plain_entity(
            f"{goal} [task: {status}]", [*([f"Result: {result}"] if result else []), more]
        ),
    )


def _words(value: Any) -> str:
    return str(value).strip() if value else ""
