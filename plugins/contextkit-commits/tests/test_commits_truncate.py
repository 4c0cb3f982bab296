"""What is left of a commit that does not fit."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import STYLES, Detail, Style
from contextkit.text.passages import Excerpt
from contextkit_commits import contextkit_format, contextkit_truncate

MakeItem = Callable[..., ContextItem]
Cut = Callable[..., str]

BODY = "\n".join(f"Line {number} of the body has several words." for number in range(40))
FIX = f"Fix the parser\n\n{BODY}"
HEADING = "**Commit** `0123456` by Ada on 2026-01-02"
LONG_NAME = "word " * 30 + "last"


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
    assert isinstance(text, Excerpt) or not text


def test_files_that_do_not_fit_leave_the_message_whole(formatted: MakeItem) -> None:
    """A line of endless paths gives way to a message that fits without it."""
    item = formatted("Fix the parser\n\nBecause.")
    item = evolve(item, content=item.content.replace("a.py", "a" * 500))
    text = contextkit_truncate(item, "markdown", 200, len, "")
    assert text.endswith("\nFix the parser\n\nBecause.")


@pytest.mark.parametrize("detail", ["full", "summary"])
@pytest.mark.parametrize("style", STYLES)
def test_every_budget_is_kept(formatted: MakeItem, style: Style, detail: Detail) -> None:
    """The text has the heading and whole elements, or is empty; what fits is returned whole."""
    item = formatted(f"{LONG_NAME}\n\n{BODY}", style, detail)
    whole = words(item.content)
    texts = [contextkit_truncate(item, style, most, words, "") for most in range(1, whole + 1)]
    assert texts[-1] == item.content
    for budget, text in enumerate(texts[:-1], start=1):
        assert words(text) <= budget
        heading = text.split("\n")[0]
        assert not text or item.content.startswith(heading)
        assert not text or style != "xml" or ET.fromstring(text).tag == "entity"  # noqa: S314


@given(
    st.lists(
        st.sampled_from(["`", "``", "<b>", "&lt;", "**", "# a", "\n", " ", "word", "|-|", "\\"]),
        min_size=3,
        max_size=25,
    ),
    st.integers(10, 60),
    st.sampled_from(["markdown", "xml"]),
)
def test_no_cut_breaks_out(
    formatted: MakeItem, pieces: list[str], budget: int, style: Style
) -> None:
    """Wherever the cut falls, Markdown has no block or HTML of its own, XML one element."""
    item = formatted("Subject\n\n" + " ".join(pieces) + f"\n{BODY}", style)
    text = contextkit_truncate(item, style, budget, words, "")
    if style == "xml":
        assert not text or ET.fromstring(text).tag == "entity"  # noqa: S314
        return
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    kinds = {part.type for token in tokens for part in [token, *(token.children or [])]}
    assert not kinds & {"heading_open", "fence", "hr", "html_block", "html_inline", "table_open"}
