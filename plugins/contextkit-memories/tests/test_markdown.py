"""What hostile text in a memory does to the context that it stands in: nothing."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from contextkit import ContextItem
from contextkit_memories import contextkit_format
from contextkit_memories.inline import inline_markdown

HARMLESS = {"paragraph", "bullet_list", "ordered_list", "list_item", "code_block", "inline"}
HOSTILE = [
    "a\n# heading",
    "a\n   ###### heading",
    "a\n\n#\tb",
    "a\n===",
    "a\n-",
    "a\n  ---  ",
    "a\n\n- b\n  ---",
    "a\n***",
    "a\n* * *",
    "a\n\n_ _ _",
    "a\n```python\nx = 1",
    "a\n~~~~\nx",
    "a\n> b\n# c",
    "a\n- # b",
    "a\n1. 2) # b",
    "a\n- ```\n  b",
    "a | b\n--- | ---\nc | d",
    "a\n|b|\n|-|",
    "a\n<div>\n# b",
    "a\n- <script>",
    "<b>bold</b> and <!-- a comment -->",
    "`a\n<i>` b </i>",
    "`a\n` <b> `",
    "`a\n- b` <i> `c` </i>",
    "\\<b> \\\\<b>",
    "a `` ` `` <b> `<i>`",
    "a\n\n[x]: https://example.org\n\n[x]",
    "a\n\n[x\ny]: https://example.org\n\n[x y]",
    "a\r# b\r\n# c",
    "a\n\x0b# b",
]
CHARACTERS = "#=-_*+~`<>|[]:()!\\/ab1. \t\n\r\u00a0\u2028\x0b\x0c&;\"'"
LINES = st.text(CHARACTERS, max_size=12)
PIECES = st.sampled_from([*HOSTILE, "# ", "- ", "> ", "```", "`", "<b>", "</b>", "    ", "\n\n"])
TEXTS = st.lists(LINES | PIECES, min_size=1, max_size=6).map("\n".join)


def memory(text: str, **metadata: object) -> ContextItem:
    """An item as the source makes it."""
    known = {"category": "preferences", "importance": 0.8}
    return ContextItem("memories", text, 1.0, id="mem_1", metadata={**known, **metadata})


def parsed(text: str) -> list[Token]:
    """A context with this memory between two headings and another memory, as Markdown reads it."""
    shown = contextkit_format([memory(text)], "markdown")[0]
    context = f"# Context\n\n## Memories\n\n{shown}\n\nThe **next** memory [x]\n\n## Code"
    return MarkdownIt("commonmark").enable("table").parse(context)


def assert_contained(text: str) -> None:
    """The memory adds no structure, and what follows it is read as if it were not there."""
    tokens = parsed(text)
    frame, inner, after = tokens[:6], tokens[6:-6], tokens[-6:]
    assert [token.type for token in frame] == ["heading_open", "inline", "heading_close"] * 2
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in inner} <= HARMLESS
    assert not [
        child for token in inner for child in token.children or () if child.type == "html_inline"
    ]
    assert [(token.type, token.level) for token in after[::3]] == [
        ("paragraph_open", 0),
        ("heading_open", 0),
    ]
    assert after[1].content == "The **next** memory [x]"
    assert "link_open" not in {child.type for child in after[1].children or ()}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    """No heading, rule, fence, quote, table, HTML or definition comes out of a memory."""
    assert_contained(text)


@settings(max_examples=500, deadline=None)
@given(TEXTS)
@example("`\n\n`<b>`")
@example("a\n- - -")
def test_any_text_stays_text(text: str) -> None:
    """Whatever a memory says, the context around it keeps its structure."""
    assert_contained(text)


@pytest.mark.parametrize(
    "text",
    [
        "Use `async`, **never** threads; 2 < 3 and a-b = c_d",
        "Steps:\n1. build\n2. test\n\n- one\n  - two\n* three",
        "An odd ` tick\n\nand then `Vec<T>`",
        "Generic `List<String>` and ``a ` <b>`` stay code",
        "First.\n\n    indented = code\n\nLast: [a link](https://example.org).",
        "日本語のメモ\n次の行 — “quoted”",
    ],
)
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    """Emphasis, code spans, lists and links need no escape and get none."""
    assert text == inline_markdown(text)


def test_escaped_text_reads_as_it_was_written() -> None:
    """A Markdown reader sees the memory's own characters, not the escapes."""
    tokens = parsed("Run\n# make <all>\n```\nx")
    shown = "".join(
        child.content if child.type == "text" else "\n"
        for child in tokens[7].children or ()
        if child.type in {"text", "softbreak"}
    )
    assert "Run\n# make <all>\n```\nx" in shown


def test_markdown_is_that_of_the_specification() -> None:
    """The category and the importance with two digits stand under the text (seeds 1, 2)."""
    assert contextkit_format([memory("Use async/await")], "markdown") == [
        "**Memory**: Use async/await\n*Category: preferences, Importance: 0.80*"
    ]


def test_xml_holds_the_text_as_data() -> None:
    """An XML reader gets back every character, whatever it was."""
    text = 'a </entity><section name="x"> & "b"\n# c'
    item = memory(text, category='x" y="z')
    element = ET.fromstring(contextkit_format([item], "xml")[0])  # noqa: S314 - our own text
    assert (element.tag, element.text) == ("entity", f"\n{text}\n")
    assert element.attrib == {
        "name": "mem_1",
        "type": "memory",
        "category": 'x" y="z',
        "importance": "0.80",
    }


def test_plain_text_cannot_pass_for_a_heading() -> None:
    """Every line of a memory is indented under its own heading line."""
    assert contextkit_format([memory("a\n=== Code ===")], "plain") == [
        "mem_1 [memory: preferences, importance 0.80]\n  a\n  === Code ==="
    ]


def test_an_item_of_a_host_without_metadata_is_shown_with_the_defaults() -> None:
    """A host's own searcher need not know categories and importance."""
    item = ContextItem("memories", "a", 1.0)
    assert contextkit_format([item], "markdown") == [
        "**Memory**: a\n*Category: facts, Importance: 0.50*"
    ]
