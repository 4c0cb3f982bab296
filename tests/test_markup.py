"""Text that others wrote stays text in Markdown and XML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contextkit.markup import escape_xml, fence_for, fenced, line_start_safe, one_line

MARKDOWN = MarkdownIt("commonmark").enable("table")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
HOSTILE_TEXT = st.text(
    st.sampled_from("`~#>-+*|=_<![]():1. \t\n\r\x0b\x85\u2028\\abé&;"), max_size=60
)


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("", "```"),
        ("plain", "```"),
        ("one ` tick", "```"),
        ("```py\nx\n```", "````"),
        ("a ````` b ``", "``````"),
    ],
)
def test_a_fence_is_longer_than_any_run_inside(text: str, fence: str) -> None:
    """At least three backticks, and one more than the longest run."""
    assert fence == fence_for(text)


@given(HOSTILE_TEXT, HOSTILE_TEXT)
def test_fenced_text_is_one_code_block(text: str, language: str) -> None:
    """Whatever stands inside, the parser sees a single code block with that content."""
    tokens = MARKDOWN.parse(fenced(text, language))

    assert [token.type for token in tokens] == ["fence"]
    newlines = re.sub("\r\n?", "\n", text)
    expected = newlines if not newlines or newlines.endswith("\n") else newlines + "\n"
    assert expected.replace("\0", "\ufffd") == tokens[0].content


def test_a_language_cannot_leave_its_line() -> None:
    """Line ends, spaces and backticks of a language name are left out."""
    assert fenced("x", "py\n# head`ing") == "```py#heading\nx\n```"


@given(ANY_TEXT)
def test_escaped_xml_reads_back(text: str) -> None:
    """A parser reads element text and attribute as the text without what XML cannot hold."""
    holdable = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)
    escaped = escape_xml(text)

    element = ET.fromstring(f'<a b="{escaped}">{escaped}</a>')  # noqa: S314 - our own text

    assert holdable == (element.text or "")
    assert re.sub("[\t\n]", " ", holdable) == element.get("b")


def test_xml_special_characters_become_entities() -> None:
    """The five special characters and the carriage return are written as entities."""
    assert escape_xml('<a b="\'"> &&#13;') == "&lt;a b=&quot;&apos;&quot;&gt; &amp;&amp;#13;"
    assert escape_xml("a\rb") == "a&#13;b"


def test_xml_drops_what_it_cannot_hold() -> None:
    """Controls, lone surrogates and noncharacters are left out."""
    assert escape_xml("a\x00\x1bb\ud800\ufffec\uffff\U0001f600") == "abc\U0001f600"


@given(ANY_TEXT | HOSTILE_TEXT)
def test_one_line_is_one_line(text: str) -> None:
    """No line end of any kind is left, no double space, and folding again changes nothing."""
    line = one_line(text)

    assert len(line.splitlines()) <= 1
    assert "  " not in line
    assert line == line.strip()
    assert line == one_line(line)
    assert re.sub(r"[\s\x00-\x1f\x7f-\x9f]", "", text) == line.replace(" ", "")


@given(HOSTILE_TEXT)
def test_one_line_opens_no_block_behind_a_label(text: str) -> None:
    """Behind a label the parser sees one paragraph whatever the text is."""
    tokens = MARKDOWN.parse(f"**Goal**: {one_line(text)}")

    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]


@given(HOSTILE_TEXT)
def test_line_start_safe_opens_no_block(text: str) -> None:
    """At the start of a line, alone or below another, the text is part of a paragraph."""
    line = line_start_safe(text)

    alone = [token.type for token in MARKDOWN.parse(line)]
    below = [token.type for token in MARKDOWN.parse(f"a | b\n{line}")]

    assert alone in ([], ["paragraph_open", "inline", "paragraph_close"])
    assert below == ["paragraph_open", "inline", "paragraph_close"]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("# a\n b", r"\# a b"),
        ("12. a", r"12\. a"),
        ("1.5 s", r"1\.5 s"),
        ("plain", "plain"),
        ("", ""),
        ("-5 degrees", r"\-5 degrees"),
    ],
)
def test_line_start_safe_escapes_the_opener(text: str, safe: str) -> None:
    """A backslash stands before what could open a block, and nowhere else."""
    assert safe == line_start_safe(text)
