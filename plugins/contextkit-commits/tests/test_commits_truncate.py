"""What is left of a commit that does not fit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.passages import Excerpt
from contextkit_commits import contextkit_format, contextkit_truncate

MakeItem = Callable[..., ContextItem]
Cut = Callable[..., str]

BODY = "\n".join(f"Line {number} of the body has several words." for number in range(40))
FIX = f"Fix the parser\n\n{BODY}"
HEADING = "**Commit** `0123456` by Ada on 2026-01-02"


def words(text: str) -> int:
    """Words, as a stand-in for tokens that is easy to follow."""
    return len(text.split())


@pytest.fixture(scope="session")
def formatted(make_item: MakeItem) -> Callable[..., ContextItem]:
    """A formatted commit, as the hook gets it."""

    def made(message: str, style: Style = "markdown", detail: Detail = "full") -> ContextItem:
        item = make_item(message, author="Ada", files_changed=["a.py", "b.py"])
        return evolve(item, content=contextkit_format([item], style, detail)[0])

    return made


@pytest.mark.parametrize(
    ("style", "message", "budget", "query", "expected"),
    [
        (
            "markdown",
            FIX,
            29,
            "",
            f"{HEADING}\nFix the parser\n\nLine 0 of the body has several words.\n"
            "Line 1 of the body has several words. ...\n*Files: `a.py`, `b.py`*",
        ),
        (
            "markdown",
            f"{FIX}\nPipelines deadlock under load.",
            18,
            "why do pipelines deadlock",
            f"{HEADING}\nFix the parser\n\n...\n\nPipelines deadlock under load.\n"
            "*Files: `a.py`, `b.py`*",
        ),
        ("markdown", FIX, 10, "", f"{HEADING}\nFix the parser"),
        ("markdown", "Fix the parser", 5, "", "**Commit** `0123456`\nFix the parser"),
        ("markdown", FIX, 4, "", ""),
        ("markdown", "Fix it", 99, "", f"{HEADING}\nFix it\n*Files: `a.py`, `b.py`*"),
        (
            "xml",
            f"Fix <the> parser\n\n{BODY}",
            21,
            "",
            '<entity name="Fix &lt;the&gt; parser" type="commit" sha="0123456" author="Ada" '
            'date="2026-01-02">\n'
            "Line 0 of the body has several words. ...\n"
            "<files>a.py, b.py</files>\n"
            "</entity>",
        ),
        (
            "plain",
            "Fix it\n\nBecause of all of this and of some of that.",
            15,
            "",
            "Fix it [commit 0123456, Ada, 2026-01-02]\nFiles: a.py, b.py",
        ),
    ],
)
def test_what_gives_way(
    formatted: MakeItem, style: Style, message: str, budget: int, query: str, expected: str
) -> None:
    """The body first, but for what matches; then the files, then author and date.

    The sha says how to see the rest, so no note does. Without its subject nothing is shown.
    """
    text = contextkit_truncate(formatted(message, style), style, budget, words, query)
    assert text == expected
    assert isinstance(text, Excerpt) or budget in {4, 99}


def test_files_that_do_not_fit_leave_the_message_whole(formatted: MakeItem) -> None:
    """A line of endless paths gives way to a message that fits without it."""
    item = formatted("Fix the parser\n\nBecause.")
    item = evolve(item, content=item.content.replace("a.py", "a" * 500))
    text = contextkit_truncate(item, "markdown", 200, len, "")
    assert text.endswith("\nFix the parser\n\nBecause.")
