"""How a commit is shown in each style and detail, and that whatever it says stays text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit.models.items import STYLES, Detail, Style
from contextkit_commits import contextkit_format, contextkit_source

MakeItem = Callable[..., ContextItem]

SHA = "0123456789abcdef0123456789abcdef01234567"
HEADING = "**Commit** `0123456` by Ada Lovelace on 2026-01-02"
NAMED = (
    '<entity name="Fix a &lt; b" type="commit" sha="0123456" author="Ada Lovelace" '
    'date="2026-01-02">'
)
PLACED = "Fix a < b [commit 0123456, Ada Lovelace, 2026-01-02]"
MESSAGE = "Fix a < b\n\nBecause\n\nof it."
FOUR = {"files_changed": ["a.py", "b.py", "c.py", "d.py"]}


def shown(commit: ContextItem, style: Style = "markdown", detail: Detail = "full") -> str:
    """The commit's text."""
    (text,) = contextkit_format([commit], style, detail)
    return text


@pytest.mark.parametrize(
    ("detail", "metadata", "text"),
    [
        ("full", {"files_changed": []}, f"{HEADING}\n{MESSAGE}"),
        ("full", {}, f"{HEADING}\n{MESSAGE}\n*Files: `a.py`*"),
        ("full", FOUR, f"{HEADING}\n{MESSAGE}\n*Files: `a.py`, `b.py`, `c.py` and 1 more*"),
        ("summary", {}, f"{HEADING}\nFix a < b"),
        ("compact", {}, "- 0123456 2026-01-02: Fix a < b (Ada Lovelace)"),
    ],
)
def test_markdown_is_the_seeds(
    make_item: MakeItem, detail: Detail, metadata: dict[str, Any], text: str
) -> None:
    """Heading, message and files, with paths that can be opened as they stand."""
    assert shown(make_item(MESSAGE, **metadata), "markdown", detail) == text


@pytest.mark.parametrize(
    ("style", "detail", "metadata", "text"),
    [
        ("xml", "full", {}, f"{NAMED}\nBecause\n\nof it.\n<files>a.py</files>\n</entity>"),
        ("xml", "summary", {}, f"{NAMED}\n</entity>"),
        (
            "xml",
            "compact",
            {},
            '<commit sha="0123456" date="2026-01-02" author="Ada Lovelace">Fix a &lt; b</commit>',
        ),
        ("plain", "full", {}, f"{PLACED}\n  Because\n\n  of it.\nFiles: a.py"),
        (
            "plain",
            "full",
            {**FOUR, "file_count": 500},
            f"{PLACED}\n  Because\n\n  of it.\nFiles: a.py, b.py, c.py and 497 more",
        ),
        ("plain", "summary", {}, PLACED),
        ("plain", "compact", {}, "0123456 2026-01-02: Fix a < b (Ada Lovelace)"),
    ],
)
def test_xml_is_an_entity_and_plain_a_name_with_its_place(
    make_item: MakeItem, style: Style, detail: Detail, metadata: dict[str, Any], text: str
) -> None:
    """Whole, without the body, and on one line."""
    assert shown(make_item(MESSAGE, **metadata), style, detail) == text


def test_what_is_not_known_is_left_out_or_called_unknown(make_item: MakeItem) -> None:
    """A host's item may have no more than an id and a message, or not even that."""
    bare = ContextItem("commits", "Fix it", 0.5, id="abc")
    assert [shown(bare, style, "compact") for style in STYLES] == [
        "- abc: Fix it",
        '<commit sha="abc">Fix it</commit>',
        "abc: Fix it",
    ]
    for style in STYLES:
        text = shown(ContextItem("commits", "", 0.5, id="abc"), style)
        assert all(part in text for part in ("(no message)", "abc", "unknown"))
    assert shown(make_item(""), "plain", "compact").endswith(": (no message) (Ada Lovelace)")


@pytest.mark.parametrize("detail", ["full", "summary", "compact"])
@pytest.mark.parametrize("style", STYLES)
def test_a_long_subject_is_whole(make_item: MakeItem, style: Style, detail: Detail) -> None:
    """A name is cut, the message is not."""
    subject = "word " * 59 + "last"
    text = shown(make_item(f"{subject}\nbody"), style, detail)
    assert subject in text
    assert ("body" in text) == (detail == "full")
    if style != "markdown" and detail != "compact":
        assert "word…" in text.split("\n")[0]


BOT_TEXT = """\
Keep retries apart

## 🎯 Changes

The lock was held too long.

## Summary by CodeRabbit

<!-- release notes -->
- **New Features**
  - Retries

---------

- [x] I read the guide
Co-authored-by: Ada <ada@example.org>
Signed-off-by: Ada <ada@example.org>"""


def test_what_tools_added_is_left_out(make_item: MakeItem) -> None:
    """Of a message the author's own sentences are shown; of a program's, the subject."""
    text = shown(make_item(BOT_TEXT, files_changed=[]))
    assert text.endswith("\nKeep retries apart\n\nThe lock was held too long.")
    bump = make_item("Bump x from 1 to 2\n\nBumps x.", author="dependabot[bot]", files_changed=[])
    assert shown(bump).endswith("\nBump x from 1 to 2")
    assert "see \\<!-- this" in shown(make_item("Subject\nsee <!-- this\nmore"))


def test_a_path_with_a_line_feed_is_shown_on_one_line(make_item: MakeItem) -> None:
    """Controls in a path are shown as Python writes them."""
    text = shown(make_item(files_changed=["a\nb\x1b.py", "*.py", "`x`"]))
    assert text.endswith("\n*Files: `a\\nb\\x1b.py`, `*.py`, `` `x` ``*")


def test_a_commit_of_one_file_is_not_merged_with_its_code(make_item: MakeItem) -> None:
    """The specification merges them by the file, so that a message hid the function."""
    item = make_item(files_changed=["src/a.py"], file_count=1)
    assert contextkit_source().dedup_keys(item.id, item.metadata) == (f"sha:{SHA}",)
