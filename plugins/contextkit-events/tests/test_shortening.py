"""What is left of an event that does not fit."""

from __future__ import annotations

import pytest

from contextkit import ContextItem
from contextkit.models.items import Style
from contextkit.text.passages import Excerpt
from contextkit_events import contextkit_truncate

AT = "[2026-01-02 03:04]"
SAID = f"{AT} User: the harbour gate was open " + "and nobody closed it " * 20
FAILED = f"{AT} Executed: `make` [exit 2]\n```\n" + "no rule to make harbour\n" * 20 + "```"
WROTE = f"{AT} Wrote: plugins/harbour/src/harbour/high_water_marks.py (earlier session)"
KINDS = {SAID: "turn", FAILED: "shell_exec", WROTE: "file_write"}


def cut(text: str, max_tokens: int, style: Style = "markdown", query: str = "") -> str | None:
    """The formatted event within so many characters."""
    metadata = {"path": "a.py"} if text is WROTE else {}
    item = ContextItem("events", text, 1.0, metadata, id="1", kind=KINDS.get(text, "turn"))
    return contextkit_truncate(item, style, max_tokens, len, query)


def test_output_goes_before_what_happened() -> None:
    """The fence is closed, and `...` stands for the rest."""
    assert cut(FAILED, 88) == (
        f"{AT} Executed: `make` [exit 2]\n```\nno rule to make harbour ...\n```"
    )


def test_the_line_of_an_output_that_matches_is_shown() -> None:
    """Though it is the last one."""
    output = "".join(f"compiling part {number}\n" for number in range(40))
    text = f"{AT} Executed: `make` [exit 2]\n```\n{output}undefined reference to mast\n```"
    item = ContextItem("events", text, 1.0, id="1", kind="shell_exec")
    short = contextkit_truncate(item, "markdown", 150, len, "mast reference")
    assert short is not None
    assert short.startswith(f"{AT} Executed: `make` [exit 2]\n```\n")
    assert "undefined reference to mast\n```" in short
    assert isinstance(short, Excerpt)


def test_of_an_output_without_the_querys_words_what_went_wrong_is_shown() -> None:
    """An agent asks on, and seldom in the words of the output."""
    output = "".join(f"compiling part {number}\n" for number in range(40))
    text = f"{AT} Executed: `make` [exit 2]\n```\n{output}error: undefined reference\n```"
    item = ContextItem("events", text, 1.0, id="1", kind="shell_exec")
    assert "error: undefined reference\n```" in str(
        contextkit_truncate(item, "markdown", 120, len, "what now?")
    )


def test_the_sentence_of_a_message_that_matches_is_shown() -> None:
    """Behind the moment and who said it."""
    text = f"{AT} Assistant: " + "The moon rose. " * 20 + "The mast is 12 m high. It was cold."
    assert cut(text, 70, query="how high is the mast") == (
        f"{AT} Assistant: ... The mast is 12 m high. ..."
    )


@pytest.mark.parametrize("style", ["markdown", "plain"])
@pytest.mark.parametrize(
    ("event", "least"),
    [(SAID, "User: the harbour gate was"), (FAILED, "Executed: `make` [exit"), (WROTE, WROTE)],
)
def test_a_moment_without_what_happened_is_not_shown(event: str, least: str, style: Style) -> None:
    """A moment alone takes tokens and says nothing."""
    texts = {cut(event, room, style) for room in range(len(event))} - {""}
    assert None not in texts
    assert all(least in str(text) for text in texts)
    assert bool(texts) is (event is not WROTE)


def test_an_element_is_left_to_the_core() -> None:
    """Which keeps its tags."""
    assert cut(SAID, 50, "xml") is None
