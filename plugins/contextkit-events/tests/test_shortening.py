"""What is left of an event that does not fit."""

from __future__ import annotations

import pytest

from contextkit import ContextItem
from contextkit.models import Style
from contextkit_events import contextkit_truncate

AT = "[2026-01-02T03:04:05.678Z]"
SAID = f"{AT} User: the harbour gate was open " + "and nobody closed it " * 20
FAILED = f"{AT} Executed: `make` [exit 2]\n```\n" + "no rule to make harbour\n" * 20 + "```"
WROTE = f"{AT} Wrote: plugins/harbour/src/harbour/high_water_marks.py (earlier session)"


def cut(text: str, max_tokens: int, style: Style = "markdown") -> str | None:
    """The formatted event within so many characters."""
    metadata = {"path": "a.py"} if text is WROTE else {}
    item = ContextItem("events", text, 1.0, metadata, id="1")
    return contextkit_truncate(item, style, max_tokens, len)


def test_output_goes_before_what_happened() -> None:
    """The fence is closed, and the note is the short one."""
    assert cut(FAILED, 110) == (
        f"{AT} Executed: `make` [exit 2]\n```\nno rule to make harbour\n...\n```\n\n*(truncated)*"
    )


@pytest.mark.parametrize("style", ["markdown", "plain"])
@pytest.mark.parametrize(
    ("event", "least"),
    [(SAID, "User: the harbour gate was"), (FAILED, "Executed: `make` [exit"), (WROTE, WROTE)],
)
def test_a_moment_without_what_happened_is_not_shown(event: str, least: str, style: Style) -> None:
    """A note behind it would be longer than what it says."""
    texts = {cut(event, room, style) for room in range(len(event))} - {""}
    assert None not in texts
    assert all(least in str(text) for text in texts)
    assert bool(texts) is (event is not WROTE)


def test_an_element_is_left_to_the_core() -> None:
    """Which keeps its tags."""
    assert cut(SAID, 50, "xml") is None
