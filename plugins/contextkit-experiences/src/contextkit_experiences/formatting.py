"""How an experience is shown in each style.

Every field is folded onto one line: what others wrote stands behind a label, and opens no
heading, list or fence of its own. So a shown experience is a list of lines, and can be
shortened line by line without knowing what was folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextkit.markup import escape_xml, one_line
from contextkit.models import ContextItem, Style
from contextkit_experiences.vocabulary import FAILURES

__all__ = ["CLOSING_TAG", "FAILED", "format_experience"]

FAILED = "FAILED"
"""What marks a failure on the strategy axis."""

CLOSING_TAG = "</entity>"
"""The last line of an experience in the style `xml`."""


def format_experience(item: ContextItem, style: Style) -> str:
    """One experience in a style: its heading, then one line for each field it has.

    The heading is marked `FAILED` for what was falsified or abandoned on the axis
    `strategy`. The root cause is shown, last, where `show_root_cause` is set in the
    item's metadata (seed 1's format of the full axis has none).
    """
    data = item.metadata
    heading = f"{_word(data, 'domain')} | {_word(data, 'strategy')}"
    failed = data.get("axis") == "strategy" and data.get("outcome_status") in FAILURES
    lines = _labelled_lines(data)
    if style == "xml":
        mark = f' outcome="{FAILED}"' if failed else ""
        opening = f'<entity name="{escape_xml(heading)}" type="experience"{mark}>'
        body = [f"{label}: {escape_xml(text)}" for label, text in lines]
        return "\n".join([opening, *body, CLOSING_TAG])
    if style == "plain":
        mark = f" {FAILED}" if failed else ""
        body = [f"{label}: {text}" for label, text in lines]
        return "\n".join([f"{heading}{mark} [experience]", *body])
    mark = f" **{FAILED}**" if failed else ""
    body = [f"- **{label}**: {text}" for label, text in lines]
    return "\n".join([f"**Experience**: {heading}{mark}", *body])


def _word(data: Mapping[str, Any], name: str) -> str:
    return one_line(str(data.get(name) or "unknown"))


def _labelled_lines(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    result = data.get("outcome_result") or "not resolved yet"
    lesson = data.get("lesson")
    taught = lesson if isinstance(lesson, Mapping) else {}
    texts = (
        ("Goal", data.get("goal")),
        ("Hypothesis", data.get("hypothesis")),
        ("Action", data.get("action")),
        ("Prediction", data.get("prediction")),
        ("Outcome", f"{_word(data, 'outcome_status')} - {result}"),
        ("Surprise", data.get("surprise")),
        ("Lesson", taught.get("what_worked")),
        ("Root cause", data.get("root_cause") if data.get("show_root_cause") else None),
    )
    return [(label, one_line(str(text))) for label, text in texts if text]
