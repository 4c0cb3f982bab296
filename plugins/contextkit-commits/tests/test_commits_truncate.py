"""What is left of a commit that does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit.text.passages import Excerpt

SHA = "0123456789abcdef0123456789abcdef01234567"
BODY = "\n".join(f"Line {number} of the body has several words." for number in range(40))


def words(text: str) -> int:
    """Words, as a stand-in for tokens that is easy to follow."""
    return len(text.split())


def formatted(
    hooks: Any, message: str, style: Style = "markdown", detail: Detail = "full"
) -> ContextItem:
    """A formatted commit, as the hook gets it."""
    item = ContextItem(
        "commits",
        message,
        0.5,
        id=SHA,
        text=message,
        metadata={
            "sha": SHA,
            "author": "Ada",
            "timestamp": "2026-01-02T03:04:05+00:00",
            "files_changed": ["a.py", "b.py"],
        },
    )
    texts = hooks.contextkit_format(items=[item], style=style, detail=detail)
    return evolve(item, content=texts[0])


def cut(
    hooks: Any,
    item: ContextItem,
    max_tokens: int,
    style: Style = "markdown",
    count: Callable[[str], int] = words,
    query: str = "",
) -> Any:
    """What the plugin makes of it within so many tokens."""
    return hooks.contextkit_truncate(
        item=item, style=style, max_tokens=max_tokens, count=count, query=query
    )


def test_heading_subject_and_files_stay(hooks: Any) -> None:
    """The body gives way first, sentence by sentence; the sha says how to see it, no note does."""
    item = formatted(hooks, f"Fix the parser\n\n{BODY}")
    text = cut(hooks, item, 29)
    assert text == (
        "**Commit** `0123456` by Ada on 2026-01-02\n"
        "Fix the parser\n\n"
        "Line 0 of the body has several words.\nLine 1 of the body has several words. ...\n"
        "*Files: `a.py`, `b.py`*"
    )
    assert isinstance(text, Excerpt)


def test_why_is_shown_wherever_the_body_says_it(hooks: Any) -> None:
    """What matches the query comes before the body's beginning."""
    item = formatted(hooks, f"Fix the parser\n\n{BODY}\nPipelines deadlock under load.")
    text = cut(hooks, item, 29, query="why do pipelines deadlock")
    assert "Pipelines deadlock under load.\n*Files" in text
    assert "Line 0" not in text


def test_every_budget_is_kept(hooks: Any) -> None:
    """Whatever the budget the result is within it; nothing where the subject does not fit."""
    item = formatted(hooks, f"Fix <the> parser\n\n{BODY}")
    whole = words(item.content)
    for budget in range(1, whole + 1):
        text = cut(hooks, item, budget)
        if text == "":
            assert budget < 6
            continue
        assert words(text) <= budget
        assert text.startswith("**Commit** `0123456`")
        assert text.split("\n")[1] == "Fix \\<the> parser"
    assert cut(hooks, item, whole) == item.content


def test_files_give_way_before_the_subject(hooks: Any) -> None:
    """A subject without the files is better than the files without a subject."""
    item = formatted(hooks, f"Fix the parser\n\n{BODY}")
    assert cut(hooks, item, 10) == ("**Commit** `0123456` by Ada on 2026-01-02\nFix the parser")


def test_author_and_date_give_way_to_the_subject(hooks: Any) -> None:
    """What was done is worth more than who did it and when."""
    item = formatted(hooks, "Fix the parser")
    assert cut(hooks, item, 5) == "**Commit** `0123456`\nFix the parser"


def test_without_the_subject_nothing_is_shown(hooks: Any) -> None:
    """A sha, an author and a date alone tell an agent nothing, half a subject hardly more."""
    assert cut(hooks, formatted(hooks, "x" * 9000), 400, count=len) == ""


def test_files_that_do_not_fit_leave_the_message_whole(hooks: Any) -> None:
    """A line of endless paths gives way to a message that fits without it."""
    item = formatted(hooks, "Fix the parser\n\nBecause.")
    item = evolve(item, content=item.content.replace("a.py", "a" * 500))
    text = cut(hooks, item, 200, count=len)
    assert text.endswith("\nFix the parser\n\nBecause.")


def test_what_fits_is_returned_whole(hooks: Any) -> None:
    """Nothing is cut, and no note added, where there is room."""
    item = formatted(hooks, "Fix the parser")
    assert cut(hooks, item, 99) == item.content


LONG_NAME = "word " * 30 + "last"


@pytest.mark.parametrize(
    ("style", "message", "budget", "expected"),
    [
        (
            "xml",
            f"Fix <the> parser\n\n{BODY}",
            21,
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
            "Fix it [commit 0123456, Ada, 2026-01-02]\nFiles: a.py, b.py",
        ),
    ],
)
def test_other_styles_keep_heading_and_files(
    hooks: Any, style: Style, message: str, budget: int, expected: str
) -> None:
    """The subject is in the heading, the files stay, the body gives way."""
    item = formatted(hooks, message, style)
    text = cut(hooks, item, budget, style)
    assert text == expected
    assert words(text) <= budget


@pytest.mark.parametrize("detail", ["full", "summary"])
@pytest.mark.parametrize("style", ["xml", "plain"])
def test_every_budget_is_kept_in_other_styles(hooks: Any, style: Style, detail: Detail) -> None:
    """Within the budget, whole elements and the heading; or nothing."""
    item = formatted(hooks, f"{LONG_NAME}\n\n{BODY}", style, detail)
    whole = words(item.content)
    texts = [cut(hooks, item, budget, style) for budget in range(1, whole + 1)]
    assert texts[-1] == item.content
    for budget, text in enumerate(texts[:-1], start=1):
        if text == "":
            continue
        assert words(text) <= budget
        assert text.split("\n")[0] == item.content.split("\n")[0]
        if style == "xml":
            assert ET.fromstring(text).tag == "entity"  # noqa: S314


@given(
    st.lists(
        st.sampled_from(["`", "``", "<b>", "&lt;", "**", "# a", "\n", " ", "word", "|-|", "\\"]),
        min_size=3,
        max_size=25,
    ),
    st.integers(10, 60),
    st.sampled_from(["markdown", "xml"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_cut_breaks_out(hooks: Any, pieces: list[str], budget: int, style: Style) -> None:
    """Wherever the cut falls, Markdown has no block or HTML of its own, XML one element."""
    item = formatted(hooks, "Subject\n\n" + " ".join(pieces) + f"\n{BODY}", style)
    text = cut(hooks, item, budget, style)
    if text == "":
        return
    if style == "xml":
        assert ET.fromstring(text).tag == "entity"  # noqa: S314
        return
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    kinds = {part.type for token in tokens for part in [token, *(token.children or [])]}
    assert not kinds & {"heading_open", "fence", "hr", "html_block", "html_inline", "table_open"}
