"""A commit without its body, and on one line, in each style."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import STYLES, Style
from contextkit_commits.formatting import format_commit

SHA = "0123456789abcdef0123456789abcdef01234567"
MARKDOWN = MarkdownIt("commonmark").enable("table")
HOSTILE = """
# x;```;~~~;- x;1. x;> x;===;---;|-|;</entity>;</commit>;<!--;<b>;\n# b;[x]: y;[x](y);&lt;;`;**;_;
*a*;=== Code ===;--- Code ---;\\;\u2028# x;\r# x
""".strip("\n").split(";")
TEXTS = st.text() | st.lists(st.sampled_from([*HOSTILE, " ", "\n", "x"]), max_size=6).map("".join)


def item(message: str, **metadata: Any) -> ContextItem:
    """A commit as the query makes it."""
    known = {
        "sha": SHA,
        "author": "Ada Lovelace",
        "timestamp": "2026-01-02T03:04:05+00:00",
        "files_changed": ["a.py"],
    }
    return ContextItem("commits", message, 0.5, id=SHA, metadata={**known, **metadata})


@pytest.mark.parametrize(
    ("style", "text"),
    [
        (
            "markdown",
            "**Commit** `0123456` by Ada Lovelace on 2026-01-02\nFix a < b",
        ),
        (
            "xml",
            '<entity name="Fix a &lt; b" type="commit" sha="0123456" author="Ada Lovelace" '
            'date="2026-01-02">\n</entity>',
        ),
        ("plain", "Fix a < b [commit 0123456, Ada Lovelace, 2026-01-02]"),
    ],
)
def test_a_summary_is_heading_and_subject(style: Style, text: str) -> None:
    """Neither body nor files."""
    assert text == format_commit(item("Fix a < b\n\nBecause."), style, "summary")


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("markdown", "- 0123456 2026-01-02: Fix a < b, not \\<c> (Ada Lovelace)"),
        (
            "xml",
            '<commit sha="0123456" date="2026-01-02" author="Ada Lovelace">'
            "Fix a &lt; b, not &lt;c&gt;</commit>",
        ),
        ("plain", "0123456 2026-01-02: Fix a < b, not <c> (Ada Lovelace)"),
    ],
)
def test_compact_is_one_line(style: Style, text: str) -> None:
    """Short sha, date, subject and author, who is cut off first."""
    assert text == format_commit(item("Fix a < b, not <c>\n\nBecause."), style, "compact")


def test_compact_leaves_out_what_is_not_known() -> None:
    """A host's item may have no more than a message, or not even that."""
    bare = ContextItem("commits", "Fix it", 0.5, id="abc")
    assert [format_commit(bare, style, "compact") for style in STYLES] == [
        "- abc: Fix it",
        '<commit sha="abc">Fix it</commit>',
        "abc: Fix it",
    ]
    assert format_commit(item(""), "plain", "compact").endswith(": (no message) (Ada Lovelace)")
    assert format_commit(item(""), "markdown", "summary").endswith("\n(no message)")


@pytest.mark.parametrize("detail", ["summary", "compact"])
@pytest.mark.parametrize("style", STYLES)
def test_a_long_subject_is_whole(style: Style, detail: Any) -> None:
    """All of its words are there, also where they are too many for a name."""
    subject = "word " * 59 + "last"
    assert subject in format_commit(item(f"{subject}\nbody"), style, detail)
    assert "body" not in format_commit(item(f"{subject}\nbody"), style, detail)


def test_the_hook_knows_the_detail(hooks: Any) -> None:
    """Each item has its text."""
    texts = hooks.contextkit_format(
        items=[item("one"), item("two")], style="plain", detail="compact"
    )
    assert [text.split(": ")[1].split(" ")[0] for text in texts] == ["one", "two"]


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_compact_is_one_line_whatever_it_says(
    message: str, author: str, timestamp: str, sha: str
) -> None:
    """One list item of words and code in Markdown, one element in XML, no title in plain text."""
    commit = item(message, author=author, timestamp=timestamp, sha=sha)
    markdown, xml, plain = (format_commit(commit, style, "compact") for style in STYLES)

    assert [len(line.splitlines()) for line in (markdown, xml, plain)] == [1, 1, 1]
    blocks = MARKDOWN.parse(f"## Commits\n\n{markdown}\n- next")[3:]
    assert [token.type for token in blocks if token.level < 2] == [
        "bullet_list_open",
        *["list_item_open", "list_item_close"] * 2,
        "bullet_list_close",
    ]
    inline = {child.type for token in blocks for child in token.children or ()}
    assert inline <= {"text", "code_inline"}
    element = ET.fromstring(xml)  # noqa: S314
    assert (element.tag, list(element)) == ("commit", [])
    assert not plain.startswith(("===", "---"))


@given(TEXTS)
def test_no_summary_breaks_out(message: str) -> None:
    """Whatever the subject, Markdown has no other block, XML one element."""
    markdown, xml, _ = (format_commit(item(message), style, "summary") for style in STYLES)

    blocks = {token.type for token in MARKDOWN.parse(f"## Commits\n\n{markdown}")[3:]}
    assert not blocks & {"heading_open", "fence", "hr", "html_block", "table_open"}
    assert ET.fromstring(xml).tag == "entity"  # noqa: S314
