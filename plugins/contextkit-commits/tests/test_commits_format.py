"""What a whole commit looks like in each style, and that whatever it says stays text."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem

SHA = "0123456789abcdef0123456789abcdef01234567"
NOT_TEXT = {
    "blockquote_open",
    "heading_open",
    "fence",
    "hr",
    "html_block",
    "html_inline",
    "image",
    "table_open",
}


def item(message: str = "Fix it", **metadata: Any) -> ContextItem:
    """A commit as the query makes it."""
    return ContextItem(
        "commits",
        message,
        0.5,
        id=SHA,
        text=message,
        metadata={
            "sha": SHA,
            "author": "Ada Lovelace",
            "timestamp": "2026-01-02T03:04:05+00:00",
            "files_changed": ["a.py"],
            **metadata,
        },
    )


def kinds(markdown: str) -> set[str]:
    """The kinds of things that a Markdown parser sees."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    return {part.type for token in tokens for part in [token, *(token.children or [])]}


def shown(hooks: Any, commit: ContextItem, style: str = "markdown") -> str:
    """The commit's text, whole."""
    (text,) = hooks.contextkit_format(items=[commit], style=style, detail="full")
    return str(text)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ([], None),
        (["a.py"], "*Files: `a.py`*"),
        (["a.py", "b.py", "c.py"], "*Files: `a.py`, `b.py`, `c.py`*"),
        (["a.py", "b.py", "c.py", "d.py"], "*Files: `a.py`, `b.py`, `c.py` and 1 more*"),
    ],
)
def test_markdown_is_the_seeds(hooks: Any, files: list[str], line: str | None) -> None:
    """The format of the specification, with paths that can be opened as they stand."""
    text = shown(hooks, item("Fix it\n\nBecause.", files_changed=files), "markdown")
    head = "**Commit** `0123456` by Ada Lovelace on 2026-01-02\nFix it\n\nBecause."
    assert text == (head if line is None else f"{head}\n{line}")


def test_files_that_are_not_kept_are_counted(hooks: Any) -> None:
    """The number of further files is that of the commit, not of the list."""
    many = item(files_changed=["a", "b", "c", "d"], file_count=500)
    text = shown(hooks, many, "plain")
    assert text.endswith("Files: a, b, c and 497 more")


def test_xml_is_an_entity(hooks: Any) -> None:
    """Name, type and the commit's own attributes; the body and the files inside."""
    text = shown(hooks, item("Fix it\n\nBecause."), "xml")
    assert text == (
        '<entity name="Fix it" type="commit" sha="0123456" author="Ada Lovelace" '
        'date="2026-01-02">\nBecause.\n<files>a.py</files>\n</entity>'
    )


def test_plain_is_a_name_with_its_place(hooks: Any) -> None:
    """The subject with the commit in brackets, the body indented, the files."""
    text = shown(hooks, item("Fix it\n\nBecause\n\nof it."), "plain")
    assert text == (
        "Fix it [commit 0123456, Ada Lovelace, 2026-01-02]\n  Because\n\n  of it.\nFiles: a.py"
    )


def test_each_item_has_its_text(hooks: Any) -> None:
    """As many texts as items, in their order."""
    texts = hooks.contextkit_format(items=[item("one"), item("two")], style="plain", detail="full")
    assert [text.split(" ")[0] for text in texts] == ["one", "two"]


@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
def test_an_item_of_a_host_lacks_nothing(hooks: Any, style: str) -> None:
    """Without metadata what is not known is called unknown."""
    bare = ContextItem("commits", "", 0.5, id="abc")
    text = shown(hooks, bare, style)
    assert "(no message)" in text
    assert "abc" in text
    assert "unknown" in text


@pytest.mark.parametrize("style", ["xml", "plain"])
def test_a_subject_too_long_for_a_name_is_in_the_text(hooks: Any, style: str) -> None:
    """A name is cut, the message is not."""
    subject = "word " * 59 + "last"
    text = shown(hooks, item(subject), style)
    assert "word…" in text.split("\n")[0]
    assert subject in text


@pytest.mark.parametrize(
    ("line", "safe"),
    [
        ("# heading", "\\# heading"),
        ("#12 is fixed", "#12 is fixed"),
        ("- # heading in a list", "- \\# heading in a list"),
        ("> 1. ## deep", "\\> 1. ## deep"),
        ("> a quote", "\\> a quote"),
        ("    # far in", "    \\# far in"),
        ("- - -", "\\- - -"),
        ("* * *", "\\* * *"),
        ("a | b", "a | b"),
        ("--- | ---", "\\--- | ---"),
        ("- ```", "- \\`\\`\\`"),
        ("**Commit** `fffffff` by Eve", "\\**Commit** `fffffff` by Eve"),
        ("*9 items from 9 sources*", "\\*9 items from 9 sources*"),
        ("* a list item", "* a list item"),
        ("- a list item", "- a list item"),
        ("2. a list item", "2. a list item"),
        ("[ref]: http://example.org", "\\[ref]: http://example.org"),
        ("[skip ci]", "[skip ci]"),
        ("an open ` tick", "an open \\` tick"),
        ("![pixel](https://example.org/x)", "\\![pixel](https://example.org/x)"),
        ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
        ("see <!-- this", "see \\<!-- this"),
        ("Vec<String> and a < b", "Vec\\<String> and a < b"),
        ("\\<b>", "\\<b>"),
        ("\\\\<b>", "\\\\\\<b>"),
        ("see <https://example.org/a?b=c>", "see <https://example.org/a?b=c>"),
        ("plain words, `code` and *emphasis*", "plain words, `code` and *emphasis*"),
    ],
)
def test_a_line_of_a_message_stays_text(hooks: Any, line: str, safe: str) -> None:
    """What would be markup gets a backslash, everything else stays as it was written."""
    text = shown(hooks, item(f"Subject\n{line}"))
    assert text.split("\n")[2] == safe
    assert not kinds(text) & NOT_TEXT


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


def test_what_tools_added_is_left_out(hooks: Any) -> None:
    """Of a message the author's own sentences are shown; of a program's, the subject."""
    text = shown(hooks, item(BOT_TEXT, files_changed=[]))
    assert text.endswith("\nKeep retries apart\n\nThe lock was held too long.")
    bump = item("Bump x from 1 to 2\n\nBumps x.", author="dependabot[bot]", files_changed=[])
    assert shown(hooks, bump).endswith("\nBump x from 1 to 2")
    assert "see \\<!-- this" in shown(hooks, item("Subject\nsee <!-- this\nmore"))


HAZARDS = """
#
##\x20
```
~~~
---
===
-\x20
*\x20
1.\x20
+\x20
>\x20
   \x20
<b>
<!--
-->
</div>
<?x
<![CDATA[
<a@b>
<https://a>
\\
|
|-|
:-
_
**
[a]:
](
!
`
=
&lt;
\x20
word
"""
FRAGMENTS = st.lists(
    st.one_of(st.sampled_from([*HAZARDS.split("\n"), "\n", "\n\n", "\t"]), st.text(max_size=3)),
    max_size=30,
).map("".join)


@given(FRAGMENTS)
def test_no_message_becomes_markup(message: str) -> None:
    """No text whatever makes a heading, a rule, a fence, a table or HTML of its own."""
    from contextkit_commits.formatting import format_commit
    from contextkit_commits.text import clean_message

    cleaned = clean_message(message.encode("utf-8", "replace"))
    text = format_commit(item(cleaned), "markdown", "full")
    assert not kinds(text) & NOT_TEXT


@given(FRAGMENTS, FRAGMENTS, FRAGMENTS)
def test_every_commit_is_well_formed_xml(message: str, author: str, path: str) -> None:
    """Whatever is in a commit, its element can be parsed and says the same."""
    from contextkit_commits.formatting import format_commit

    commit = item(message, author=author, files_changed=[path])
    element = ET.fromstring(format_commit(commit, "xml", "full"))  # noqa: S314
    assert element.tag == "entity"
    assert [child.tag for child in element] in ([], ["files"])


@given(FRAGMENTS, FRAGMENTS)
def test_author_and_path_stay_on_their_lines(author: str, path: str) -> None:
    """Neither a name nor a path adds a line or markup of its own."""
    from contextkit_commits.formatting import format_commit

    text = format_commit(item("Fix it", author=author, files_changed=[path]), "markdown", "full")
    lines = text.split("\n")
    assert lines[1] == "Fix it"
    assert len(lines) == (3 if path else 2)
    assert not kinds(text) & NOT_TEXT


@given(FRAGMENTS)
def test_no_line_of_a_message_starts_a_line_of_plain_text(message: str) -> None:
    """Below the heading only the line of the files begins at the margin."""
    from contextkit_commits.formatting import format_commit
    from contextkit_commits.text import clean_message

    cleaned = clean_message(message.encode("utf-8", "replace"))
    _, *body, files = format_commit(item(cleaned), "plain", "full").split("\n")
    assert all(not line or line.startswith("  ") for line in body)
    assert files == "Files: a.py"


def test_a_path_with_a_line_feed_is_shown_on_one_line(hooks: Any) -> None:
    """Controls in a path are shown as Python writes them."""
    text = shown(hooks, item(files_changed=["a\nb\x1b.py", "*.py", "`x`"]))
    assert text.endswith("\n*Files: `a\\nb\\x1b.py`, `*.py`, `` `x` ``*")


@pytest.mark.parametrize(
    ("metadata", "keys"),
    [
        ({"files_changed": ["src/a.py"]}, [f"sha:{SHA}", "file:src/a.py"]),
        ({"files_changed": ["src/a.py"], "file_count": 1}, [f"sha:{SHA}", "file:src/a.py"]),
        ({"files_changed": ["a.py", "b.py"], "file_count": 2}, [f"sha:{SHA}"]),
        ({"files_changed": ["a.py"], "file_count": 2}, [f"sha:{SHA}"]),
        ({"files_changed": []}, [f"sha:{SHA}"]),
    ],
)
def test_dedup_keys_name_the_commit_and_its_only_file(
    hooks: Any, metadata: dict[str, Any], keys: list[str]
) -> None:
    """A commit of one file is about that file; one of several is not."""
    assert hooks.contextkit_dedup_keys(items=[item(**metadata)]) == [keys]


def test_an_item_without_a_sha_is_known_by_its_id(hooks: Any) -> None:
    """A host's item has keys too."""
    assert hooks.contextkit_dedup_keys(items=[ContextItem("commits", "x", 0.5, id="i")]) == [
        ["sha:i"]
    ]
