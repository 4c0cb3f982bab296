"""Format an experience in each style and detail.

Every field is folded onto one line: text by others follows a label, and opens no heading, list or
fence of its own. So a shown experience is a list of lines, and can be shortened line by line
without knowing what was folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextkit.models import ContextItem, Detail, Style
from contextkit.sources import clipped
from contextkit.text import (
    TextStyle,
    element,
    escape_xml,
    markdown_text,
    one_line,
    plain_line,
    style_of,
)
from contextkit_experiences.vocabulary import FAILURES

FAILED = "FAILED"
"""Mark of a failure on the strategy axis."""

_IN_A_SUMMARY = frozenset({"Goal", "Outcome", "Root cause", "What worked", "Takeaway"})
_LONGEST_IN_COMPACT = 120


def format_experience(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format one experience.

    The heading has the goal. Falsified and abandoned experiences are marked `FAILED` on the axis
    `strategy`.

    Args:
        item: the experience.
        style: `markdown`, `xml` or `plain`.
        detail: `full`: its heading, then one line for each field on the attempt, the outcome and
            the lesson; the prediction of an open one. `summary`: of those lines the outcome and the
            lesson. `compact`: one line.
    """
    own = style_of(style)
    if detail == "compact":
        return _compact(item, own)
    data = item.metadata
    lines = _labelled_lines(data)
    if detail == "summary":
        lines = [(label, text) for label, text in lines if label in _IN_A_SUMMARY]
    return own.choose(markdown=_markdown, xml=_xml, plain=_plain)(data, lines)


def _markdown(data: Mapping[str, Any], lines: Sequence[tuple[str, str]]) -> str:
    body = [f"- **{label}**: {_behind_label(text)}" for label, text in lines]
    mark = f" **{FAILED}**" if _failed(data) else ""
    return "\n".join([f"**Experience**: {_behind_label(_heading(data))}{mark}", *body])


def _xml(data: Mapping[str, Any], lines: Sequence[tuple[str, str]]) -> str:
    body = [f"{label}: {escape_xml(text)}" for label, text in lines]
    return element("entity", _attributes(_heading(data), data), body)


def _plain(data: Mapping[str, Any], lines: Sequence[tuple[str, str]]) -> str:
    mark = f" {FAILED}" if _failed(data) else ""
    body = [f"{label}: {text}" for label, text in lines]
    return "\n".join([f"{plain_line(_heading(data))}{mark} [experience]", *body])


def _heading(data: Mapping[str, Any]) -> str:
    """Return the goal, then domain and strategy.

    A premortem searches by these.
    """
    about = f"{_word(data, 'domain')}, {_word(data, 'strategy')}"
    goal = _clipped(data.get("goal"))
    return f"{goal} ({about})" if goal else about


def _behind_label(line: str) -> str:
    return markdown_text(line, behind_label=True)


def _compact(item: ContextItem, style: TextStyle) -> str:
    """Return one line: domain, strategy, goal, outcome, lesson and day.

    The day is that of its last change.
    """
    data = item.metadata
    heading = f"{_word(data, 'domain')}/{_word(data, 'strategy')}"
    marked = style.choose(markdown=f" **{FAILED}**", xml="", plain=f" {FAILED}")
    mark = marked if _failed(data) else ""
    parts = (_clipped(data.get("goal")), _word(data, "outcome_status"), _teaching(data))
    said = "; ".join(part for part in parts if part)
    # Results of a host's own searcher without a time are dated 1970-01-01T00:00Z.
    dated = item.created_at is not None and item.created_at.timestamp() != 0
    day = f" ({item.created_at:%Y-%m-%d})" if dated else ""
    line = f"{style.inline(heading)}{mark}: {style.inline(said)}{day}"
    attributes = _attributes(heading, data)
    return style.entry(line, tag="entity", attributes=attributes, text=f"{said}{day}")


def _attributes(heading: str, data: Mapping[str, Any]) -> dict[str, str]:
    failed = {"outcome": FAILED} if _failed(data) else {}
    return {"name": heading, "type": "experience", **failed}


def _teaching(data: Mapping[str, Any]) -> str:
    """Return the matching axis's text, else the takeaway.

    Where there is no takeaway, its substitute is returned.
    """
    texts = {
        "surprise": _clipped(data.get("surprise")),
        "takeaway": _clipped(_taught(data, "takeaway")),
        "lesson": _clipped(_taught(data, "what_worked")),
        "root cause": _clipped(data.get("root_cause")),
    }
    own = str(data.get("axis")).replace("_", " ")
    wanted = (own, "takeaway", "lesson", "root cause")
    return next((f"{label}: {texts[label]}" for label in wanted if texts.get(label)), "")


def _failed(data: Mapping[str, Any]) -> bool:
    """Return whether it is marked as a failure.

    This applies on the axis of strategies.
    """
    return data.get("axis") == "strategy" and data.get("outcome_status") in FAILURES


def _clipped(value: Any) -> str:
    return clipped(str(value or ""), _LONGEST_IN_COMPACT)


def _word(data: Mapping[str, Any], name: str) -> str:
    return one_line(str(data.get(name) or "unknown"))


def _taught(data: Mapping[str, Any], name: str) -> Any:
    lesson = data.get("lesson")
    return lesson.get(name) if isinstance(lesson, Mapping) else None


def _labelled_lines(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    goal, result = one_line(str(data.get("goal") or "")), data.get("outcome_result")
    texts = (
        ("Goal", goal if goal != _clipped(goal) else None),
        ("Hypothesis", data.get("hypothesis")),
        ("Tried", data.get("action")),
        # The prediction says little beside the result.
        ("Prediction", None if result else data.get("prediction")),
        ("Outcome", f"{_word(data, 'outcome_status')} - {result or 'not resolved yet'}"),
        ("Surprise", data.get("surprise")),
        ("Root cause", data.get("root_cause")),
        ("What worked", _taught(data, "what_worked")),
        ("Takeaway", _taught(data, "takeaway")),
    )
    return [(label, one_line(str(text))) for label, text in texts if text]
