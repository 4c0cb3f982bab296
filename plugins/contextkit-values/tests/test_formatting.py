"""How a value is shown in each style and detail, and that its text stays text in all of them."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

import contextkit_values as plugin
from contextkit.models.items import STYLES, ContextItem, Detail, Style

MARKDOWN = MarkdownIt("commonmark").enable("table")
TEXT = "Name the user in keys & more"
HOSTILE = (
    """
# x;```;~~~;- x;1. x;> x;===;---;|-|;</entity>;</value>;<!--;<b>;a\n# b;[x]: y;[x](y);&lt;;`;**;_;
*a*;=== Code ===;--- Code ---;\\;\u2028# x;\r# x
""".replace(";\n", ";")
    .strip("\n")
    .split(";")
)
TEXTS = st.text() | st.lists(st.sampled_from([*HOSTILE, " ", "\n", "x"]), max_size=6).map("".join)


def shown(text: str, style: Style, detail: Detail = "full") -> str:
    """What the plugin makes of a value of this text."""
    metadata = {"axis": "root_cause", "cluster_size": 4}
    (formatted,) = plugin.contextkit_format(
        [ContextItem("values", text, 0.5, id="value_1", metadata=metadata)], style, detail
    )
    return formatted


@pytest.mark.parametrize("detail", ["full", "summary"])
def test_a_value_says_what_it_is_about(detail: Detail) -> None:
    """Seed 1's format without the size of its cluster, which says nothing to a reader."""
    assert [shown(TEXT, style, detail) for style in STYLES] == [
        "**Value** (root cause):\nName the user in keys & more",
        '<entity name="Value (root cause)" type="value">\n'
        "Name the user in keys &amp; more\n</entity>",
        "Value (root cause) [value]\nName the user in keys & more",
    ]


def test_compact_is_text_and_axis_on_one_line() -> None:
    """In each style, the text first."""
    assert [shown("Name the user\nin keys & more", style, "compact") for style in STYLES] == [
        "- Name the user in keys & more (root cause)",
        "<value>Name the user in keys &amp; more (root cause)</value>",
        "Name the user in keys & more (root cause)",
    ]


@settings(deadline=None, database=None)
@given(TEXTS)
def test_no_text_breaks_out(text: str) -> None:
    """Whatever the text, Markdown has one paragraph, XML one element, plain two lines."""
    markdown, xml, plain = (shown(text, style) for style in STYLES)

    blocks = MARKDOWN.parse(markdown)
    assert [token.type for token in blocks] == ["paragraph_open", "inline", "paragraph_close"]
    kinds = {child.type for child in blocks[1].children or ()}
    assert kinds <= {"text", "code_inline", "softbreak", "strong_open", "strong_close"}
    assert list(ET.fromstring(xml)) == []  # noqa: S314
    assert len(plain.splitlines()) <= 2
    assert not plain.splitlines()[-1].startswith(("===", "---"))


@settings(deadline=None, database=None)
@given(TEXTS)
def test_compact_is_one_line_whatever_it_says(text: str) -> None:
    """One list item of words and code in Markdown, one element in XML, no title in plain text."""
    markdown, xml, plain = (shown(text, style, "compact") for style in STYLES)

    assert [len(line.splitlines()) for line in (markdown, xml, plain)] == [1, 1, 1]
    blocks = MARKDOWN.parse(f"## Values\n\n{markdown}\n- next")[3:]
    assert [token.type for token in blocks if token.level < 2] == [
        "bullet_list_open",
        *["list_item_open", "list_item_close"] * 2,
        "bullet_list_close",
    ]
    inline = {child.type for token in blocks for child in token.children or ()}
    assert inline <= {"text", "code_inline"}
    element = ET.fromstring(xml)  # noqa: S314
    assert (element.tag, list(element)) == ("value", [])
    assert not plain.startswith(("===", "---"))
