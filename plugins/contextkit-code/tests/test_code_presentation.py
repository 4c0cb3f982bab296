"""How code is shown in each style, and how it is shortened."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models import STYLES, Style
from contextkit_code import contextkit_dedup_keys, contextkit_format, contextkit_truncate

_CODE = '''def restock(
    self,
    items,
):
    """Put items on the shelf.

    All of them.
    """
    for item in items:
        self.put(item)
    return len(items)'''


def _item(content: str = _CODE, **metadata: Any) -> ContextItem:
    known = {
        "file_path": "lib/shelf.py",
        "start_line": 27,
        "end_line": 37,
        "language": "python",
        "qualified_name": "Shelf.restock",
        "name": "restock",
        "unit_type": "method",
        "signature": "def restock(\n    self,\n    items,\n):",
        "docstring": "Put items on the shelf.\n\nAll of them.",
    }
    return ContextItem(
        "code", content, 0.5, id="x", title="Shelf.restock", metadata={**known, **metadata}
    )


def _words(text: str) -> int:
    return len(text.split())


def _shown(item: ContextItem, style: Style = "markdown") -> str:
    return contextkit_format([item], style)[0]


def _cut(item: ContextItem, tokens: int, style: Style = "markdown") -> str | None:
    return contextkit_truncate(evolve(item, content=_shown(item, style)), tokens, _words)


class TestFormat:
    """The three styles."""

    def test_markdown_is_that_of_seed_1(self) -> None:
        """A heading with the place, and the code on a fence with its language."""
        assert (
            f"**Method** `Shelf.restock` in `lib/shelf.py:27`\n```python\n{_CODE}\n```"
            == _shown(_item())
        )

    def test_xml_is_that_of_seed_4(self) -> None:
        """An entity with its name, type, file and line."""
        expected = (
            '<entity name="Shelf.restock" type="method" file="lib/shelf.py" line="27">\n'
            "a &lt; b\n</entity>"
        )

        assert expected == _shown(_item("a < b"), "xml")

    def test_plain_is_that_of_seed_4(self) -> None:
        """The name and the place, then the code."""
        assert _shown(_item("a < b"), "plain") == "Shelf.restock [lib/shelf.py:27]\na < b"

    def test_without_code_the_summary_is_shown(self) -> None:
        """Signature and docstring."""
        item = _item("", signature="def f():", docstring="Doc.")

        assert (
            _shown(item)
            == "**Method** `Shelf.restock` in `lib/shelf.py:27`\n```python\ndef f():\nDoc.\n```"
        )

    def test_as_many_texts_as_items(self) -> None:
        """In their order; none for none."""
        texts = contextkit_format([_item("a"), _item("b")], "plain")

        assert [text.splitlines()[1] for text in texts] == ["a", "b"]
        assert contextkit_format([], "xml") == []

    def test_names_with_backticks_and_line_ends_stay_on_their_line(self) -> None:
        """Neither ends the heading, nor the code span it stands in."""
        item = _item(file_path="a`b\nc\x1b.md", qualified_name="`x`")
        heading = _shown(item).split("\n")[0]

        assert heading == "**Method** `` `x` `` in `` a`b\\nc\\x1b.md:27 ``"
        assert "`x`" in MarkdownIt().render(heading)

    @given(st.text(alphabet="`~\n ax<>&*_#\"'|\x0c\x00"), st.sampled_from(STYLES))
    def test_code_cannot_break_out(self, code: str, style: Style) -> None:
        """Markdown keeps it in one code block, XML in one element."""
        text = _shown(_item(f"x{code}", file_path=f"{code}.py", qualified_name=f"n{code}"), style)

        if style == "xml":
            element = ET.fromstring(text)  # noqa: S314 (our own text)
            assert (element.tag, len(element)) == ("entity", 0)
        elif style == "markdown":
            fences = [t for t in MarkdownIt().parse(text) if t.type == "fence"]
            assert len(fences) == 1
            assert text.endswith("\n" + fences[0].markup)

    def test_dedup_keys_name_the_file(self) -> None:
        """One key each, which joins it to a commit of that file."""
        assert contextkit_dedup_keys([_item()]) == [["file:lib/shelf.py"]]


class TestTruncate:
    """Shortened items."""

    def test_lines_go_from_the_end(self) -> None:
        """The fence is closed, and a note says where the rest is."""
        assert _cut(_item(), 27) == (
            "**Method** `Shelf.restock` in `lib/shelf.py:27`\n"
            "```python\n"
            "def restock(\n    self,\n    items,\n):\n"
            '    """Put items on the shelf.\n'
            "\n"
            "    All of them.\n"
            '    """\n'
            "...\n"
            "```\n"
            "\n"
            "*(truncated, see full at lib/shelf.py:27)*"
        )

    def test_the_signature_is_kept_before_what_stands_above_it(self) -> None:
        """Where comment and signature do not fit together, the comment goes."""
        comment = "".join(f"# word {n} of a long comment\n" for n in range(20))
        item = _item(comment + _CODE)

        text = _cut(item, 20)

        assert text is not None
        assert "# word" not in text
        assert text.split("\n")[2:6] == ["def restock(", "    self,", "    items,", "):"]

    def test_a_part_of_the_signature_is_better_than_none(self) -> None:
        """Its first lines."""
        text = _cut(_item(), 15)

        assert text is not None
        assert "```python\ndef restock(\n    self,\n...\n```" in text

    def test_a_long_line_is_cut_within(self) -> None:
        """Where not even one line fits."""
        item = _item("word " * 500, unit_type="section", signature="", docstring="")

        text = _cut(item, 30)

        assert text is not None
        assert 25 < _words(text) <= 30
        assert "```python\nword word" in text

    def test_the_heading_alone_with_the_note_is_the_least(self) -> None:
        """Under that nothing is given, and the default takes over."""
        least = (
            "**Method** `Shelf.restock` in `lib/shelf.py:27`\n"
            "*(truncated, see full at lib/shelf.py:27)*"
        )

        assert least == _cut(_item(), 10)
        assert _cut(_item(), 8) is None

    def test_xml_stays_well_formed(self) -> None:
        """The note stands in the element."""
        text = _cut(_item("a < b\n" * 50, signature="a < b"), 40, "xml")

        assert text is not None
        element = ET.fromstring(text)  # noqa: S314 (our own text)
        assert element.text is not None
        assert element.text.startswith("\na < b\n")
        assert element.text.endswith("...\n(truncated, see full at lib/shelf.py:27)\n")

    def test_plain(self) -> None:
        """The note comes last."""
        text = _cut(_item("a b\n" * 9, signature=""), 11, "plain")

        assert text is not None
        assert text.split("\n") == [
            "Shelf.restock [lib/shelf.py:27]",
            "a b",
            "...",
            "",
            "(truncated, see full at lib/shelf.py:27)",
        ]

    def test_a_text_of_another_shape_is_left_to_the_default(self) -> None:
        """For instance one whose fence another plugin changed."""
        item = _item()

        assert contextkit_truncate(evolve(item, content="**a**\nb\nc\nd"), 5, _words) is None
        assert contextkit_truncate(evolve(item, content="**a**\n```\nb\n````"), 2, _words) is None

    def test_what_was_taken_out_of_the_shown_text_does_not_come_back(self) -> None:
        """Redaction changes the shown text; the record's own still has the secret."""
        item = evolve(_item("key = 'secret'\n" + "x = 1\n" * 50), text="key = 'secret'")
        shown = _shown(item).replace("secret", "***")

        text = contextkit_truncate(evolve(item, content=shown), 30, _words)

        assert text is not None
        assert "secret" not in text

    def test_an_item_without_a_place_is_named_by_its_id(self) -> None:
        """The note always says where the rest is."""
        item = ContextItem("code", "a b\n" * 50, 0.5, id="note-7")

        text = _cut(item, 30)

        assert text is not None
        assert text.endswith("*(truncated, see full at note-7)*")

    @given(
        st.lists(st.text(alphabet="ab `<&\x0c", max_size=30), max_size=40).map("\n".join),
        st.integers(0, 300),
        st.sampled_from(STYLES),
    )
    @pytest.mark.parametrize("count", [_words, len])
    def test_it_always_fits_and_is_always_whole(
        self, count: Any, code: str, tokens: int, style: Style
    ) -> None:
        """Whatever the code and the budget: within it, one fence or element, closed."""
        item = _item(f"{_CODE}\n{code}")
        shown = _shown(item, style)

        text = contextkit_truncate(evolve(item, content=shown), tokens, count)

        if text is None:
            return
        assert count(text) <= tokens
        assert "(truncated, see full at lib/shelf.py:27)" in text
        if style == "xml":
            ET.fromstring(text)  # noqa: S314 (our own text)
        elif style == "markdown":
            kinds = [t.type for t in MarkdownIt().parse(text)]
            assert kinds.count("fence") <= 1
            assert kinds[-1] == "paragraph_close"
