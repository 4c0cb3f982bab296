"""What is left of a pattern that does not fit."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem
from contextkit.models.items import Style
from contextkit_patterns import contextkit_format, contextkit_truncate

STEPS = ("Run it alone", "Set the time zone", "Run it again", "Run all of them")
PATTERN = ContextItem(
    "patterns",
    "",
    1.0,
    {"name": "Fix a flaky test", "steps": STEPS, "keywords": ["flaky"], "applications": 3},
    id="fix-a-flaky-test",
    location="pattern fix-a-flaky-test",
)


def cut(max_tokens: int, style: Style = "markdown", **metadata: Any) -> str | None:
    """The pattern as it is shown and then shortened, tokens being words."""
    item = evolve(PATTERN, metadata={**PATTERN.metadata, **metadata})
    (shown,) = contextkit_format([item], style, "full")
    return contextkit_truncate(
        evolve(item, content=shown), style, max_tokens, lambda text: len(text.split())
    )


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (
            "markdown",
            "**Pattern**: Fix a flaky test\n\n1. Run it alone\n2. Set the time zone\n"
            "3. Run it again\n4. Run all of them",
        ),
        (
            "plain",
            "Fix a flaky test [pattern, worked 0 of 3 times]\n  1. Run it alone\n"
            "  2. Set the time zone\n  3. Run it again\n  4. Run all of them",
        ),
    ],
)
def test_what_is_said_of_a_pattern_goes_before_its_steps(style: Style, expected: str) -> None:
    """All steps are there, so that no note is needed."""
    assert cut(len(expected.split()), style) == expected


def test_the_last_steps_go_next() -> None:
    """As long as half of them are left; the heading names what to look up."""
    assert cut(15) == (
        "**Pattern**: Fix a flaky test\n\n1. Run it alone\n2. Set the time zone\n..."
    )


@pytest.mark.parametrize("room", [6, 14])
def test_less_than_half_of_a_procedure_is_not_shown(room: int) -> None:
    """It would mislead, and the next item can use its place."""
    assert cut(room) == ""


@pytest.mark.parametrize("style", ["markdown", "plain", "xml"])
def test_what_has_another_shape_is_left_to_the_core(style: Style) -> None:
    """An element, and a pattern without steps."""
    assert cut(1, style, steps=STEPS if style == "xml" else ()) is None
    assert contextkit_truncate(evolve(PATTERN, content="1. Run it"), style, 1, len) is None
