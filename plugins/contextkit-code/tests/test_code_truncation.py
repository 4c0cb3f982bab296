"""How shown code is shortened."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models import STYLES, Detail, Style
from contextkit.tokens import counter_for
from contextkit_code import contextkit_format, contextkit_truncate
from contextkit_code.unit_rows import rows_by_worth

MakeItem = Callable[..., ContextItem]
Count = Callable[[str], int]

NOTE = "(truncated, see full at lib/shelf.py:27)"


def words(text: str) -> int:
    """A counter of tokens that is not the length."""
    return len(text.split())


def lines(text: str) -> int:
    """A counter of lines."""
    return text.count("\n") + 1


def cut(
    item: ContextItem,
    max_tokens: int,
    style: Style = "markdown",
    count: Count = words,
    detail: Detail = "full",
) -> str | None:
    """An item as it is shown and then shortened."""
    (shown,) = contextkit_format([item], style, detail)
    return contextkit_truncate(evolve(item, content=shown), style, max_tokens, count)


def code_of(text: str | None) -> list[str]:
    """The lines on the fence of a shortened item."""
    assert text is not None
    (fence,) = [token for token in MarkdownIt().parse(text) if token.type == "fence"]
    return fence.content.split("\n")[:-1]


def test_lines_go_from_the_end(make_item: MakeItem) -> None:
    """The fence is closed, and a note says where the rest is."""
    assert cut(make_item(), 27) == (
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
        f"*{NOTE}*"
    )


def test_docstring_and_signature_are_kept_before_what_stands_above(
    make_item: MakeItem, restock: str
) -> None:
    """A long comment goes before the docstring below the signature does."""
    comment = "".join(f"# word {n} of a long comment\n" for n in range(20))

    kept = code_of(cut(make_item(comment + restock), 30, count=lines))
    header = restock.split("\n")[:8]

    assert kept[-9:] == [*header, "..."]
    assert kept[:2] == ["# word 0 of a long comment", "# word 1 of a long comment"]
    assert [*header, "..."] == code_of(cut(make_item(comment + restock), 14, count=lines))


def test_the_signature_is_kept_before_a_docstring_above_it(make_item: MakeItem) -> None:
    """Of a long leading comment the beginning stays, with a mark, and then the signature."""
    comment = "\n".join(f" * Line {n}." for n in range(40))
    code = f"/**\n{comment}\n */\n@inline\nint put(int n) {{\n  return n;\n}}"
    item = make_item(
        code,
        signature="int put(int n)",
        docstring="\n".join(f"Line {n}." for n in range(40)),
    )

    assert code_of(cut(item, 11, count=lines)) == [
        "/**",
        " * Line 0.",
        " * Line 1.",
        "...",
        "int put(int n) {",
        "...",
    ]
    assert code_of(cut(item, 50, count=lines))[-3:] == ["@inline", "int put(int n) {", "..."]


def test_a_part_of_the_signature_is_better_than_none(make_item: MakeItem) -> None:
    """Its first lines."""
    assert code_of(cut(make_item(), 15)) == ["def restock(", "    self,", "..."]


def test_a_summary_keeps_the_signature_longest(make_item: MakeItem) -> None:
    """Its docstring is cut at a line."""
    item = make_item(signature="def f():", docstring="One.\n\n" + "Two three.\n" * 40)

    assert code_of(cut(item, 8, count=lines, detail="summary")) == ["def f():", "One.", "..."]
    assert code_of(cut(item, 7, count=lines, detail="summary")) == ["def f():", "..."]


def test_a_long_line_is_cut_within(make_item: MakeItem) -> None:
    """Where whole lines would leave more than half of the room empty."""
    window = {"unit_type": "section", "signature": "", "docstring": "", "language": ""}
    prose = make_item("# Title\n\n" + "word " * 500 + "\nlast", **window)

    text = cut(prose, 40)

    assert text is not None
    assert 35 < words(text) <= 40
    assert code_of(text)[:2] == ["# Title", ""]
    assert code_of(text)[2].startswith("word word")
    assert code_of(text)[-1].endswith("word...")


def test_a_part_of_a_line_is_better_than_none(make_item: MakeItem) -> None:
    """Though heading and note take more than half of the room."""
    text = cut(make_item("word " * 500, signature="", docstring=""), 16)

    assert text is not None
    assert code_of(text)[0].startswith("word word")


def test_a_line_is_not_cut_within_where_whole_ones_fill_the_room(make_item: MakeItem) -> None:
    """A line of code in part says little."""
    item = make_item("a = 1\n" * 20 + "word " * 500, signature="", docstring="")

    assert code_of(cut(item, 72)) == ["a = 1"] * 20 + ["..."]


def test_the_heading_alone_with_the_note_is_the_least(make_item: MakeItem) -> None:
    """Under that nothing is given, and the default takes over."""
    least = f"**Method** `Shelf.restock`\n*{NOTE}*"

    assert least == cut(make_item(), 8)
    assert cut(make_item(), 6) is None


@pytest.mark.parametrize(("style", "room"), [("markdown", 8), ("plain", 6)])
def test_a_bare_heading_leaves_its_place_to_the_note(
    make_item: MakeItem, style: Style, room: int
) -> None:
    """It may take as many tokens as the name of another unit."""
    text = cut(make_item(), room, style) or ""
    assert text.count("Shelf.restock") == text.count("lib/shelf.py:27") == 1


def test_xml(make_item: MakeItem) -> None:
    """The note stands in the element."""
    item = make_item("a < b\n" * 50, signature="a < b")

    assert cut(item, 8, "xml", lines) == (
        '<entity name="Shelf.restock" type="method" file="lib/shelf.py" line="27">\n'
        + "a &lt; b\n" * 4
        + f"...\n{NOTE}\n</entity>"
    )
    assert cut(item, 3, "xml", lines) == (
        '<entity name="Shelf.restock" type="method" file="lib/shelf.py" line="27">\n'
        f"{NOTE}\n</entity>"
    )
    assert cut(item, 2, "xml", lines) is None


def test_the_signature_is_found_in_xml_too(make_item: MakeItem) -> None:
    """Where it is escaped, and so is the docstring."""
    code = "// none\n" * 9 + "bool less(a) { // a<b?\n  // Whether a < b.\n  return true;\n}"
    item = make_item(code, signature="bool less(a) { // a<b?", docstring="Whether a < b.")

    text = cut(item, 6, "xml", lines)

    assert text is not None
    assert text.split("\n")[1:4] == [
        "bool less(a) { // a&lt;b?",
        "  // Whether a &lt; b.",
        "...",
    ]


def test_plain(make_item: MakeItem) -> None:
    """The note comes last."""
    item = make_item("a b\n" * 9, signature="")

    assert f"Shelf.restock [lib/shelf.py:27]\na b\n...\n\n{NOTE}" == cut(item, 11, "plain")
    assert f"Shelf.restock\n{NOTE}" == cut(item, 6, "plain")


def test_an_entity_is_not_cut_within(make_item: MakeItem) -> None:
    """Where a line of XML is cut, at every length."""
    item = make_item("&<>" * 200, signature="", docstring="")

    for room in range(160, 400):
        text = cut(item, room, "xml", len)

        assert text is not None
        body = ET.fromstring(text).text or ""  # noqa: S314 (our own text)
        kept = body.partition(NOTE)[0].strip("\n").removesuffix("...")
        assert ("&<>" * 200).startswith(kept)


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("markdown", "**a**\nb\nc\nd"),
        ("markdown", "**a**\n```\nb\n````"),
        ("markdown", "**a**\n```"),
        ("markdown", "**a**"),
        ("xml", "<other>\nb\n</entity>"),
        ("xml", "<entity name='a'>\nb"),
        ("xml", "<entity name='a'>"),
    ],
)
def test_a_text_of_another_shape_is_left_to_the_default(
    make_item: MakeItem, style: Style, text: str
) -> None:
    """For instance one whose fence another plugin changed."""
    assert contextkit_truncate(evolve(make_item(), content=text), style, 1, words) is None


def test_a_text_without_code_is_its_heading_and_the_note(make_item: MakeItem) -> None:
    """As another plugin may have left it."""
    item = evolve(make_item(), content="Shelf.restock")

    assert f"Shelf.restock\n{NOTE}" == contextkit_truncate(item, "plain", 50, words)


def test_what_was_taken_out_of_the_shown_text_does_not_come_back(make_item: MakeItem) -> None:
    """Redaction changes the shown text; the record's own still has the secret."""
    item = evolve(
        make_item("key = 'secret'\n" + "x = 1\n" * 50, docstring="secret"),
        text="key = 'secret'",
    )
    (shown,) = contextkit_format([item], "markdown", "full")

    text = contextkit_truncate(
        evolve(item, content=shown.replace("secret", "***")), "markdown", 30, words
    )

    assert text is not None
    assert "secret" not in text


def test_an_item_without_a_place_is_named_by_its_id() -> None:
    """The note always says where the rest is."""
    text = cut(ContextItem("code", "a b\n" * 50, 0.5, id="note-7"), 30)

    assert text is not None
    assert text.endswith("*(truncated, see full at note-7)*")


@pytest.mark.parametrize(
    ("code", "signature", "docstring", "first"),
    [
        ("def f():\n  x", "def f():", "", [0]),
        ('def f():\n  """\n  A.\n\n  B.\n  """\n  x', "def f():", "A.\n\nB.", [0, 1, 2, 3, 4, 5]),
        ("# A.\ndef f():\n  # A.\n  x", "def f():", "A.", [1, 2]),
        ("// A.\n// B.\n#[test]\nfn f() {", "fn f()", "A.\nB.", [3, 0, 1]),
        ("/** A. */\nint f() {\n}", "int f()", "A.", [1, 0]),
        ("x\ny", "def gone():", "gone", []),
        ("A.\nx", "", "A.\nB.", []),
        ("", "", "", []),
    ],
)
def test_which_lines_say_most(code: str, signature: str, docstring: str, first: list[int]) -> None:
    """The signature's, then the docstring's with its marks, wherever it stands; all once."""
    rows = code.split("\n")

    order = rows_by_worth(rows, signature.split("\n"), docstring.split("\n"))

    rest = [row for row in range(len(rows)) if row not in first]
    assert [*first, *rest] == order


@pytest.mark.parametrize("count", [words, len, counter_for("default")])
@given(
    code=st.lists(st.text(alphabet="ab `<&\x0c\r~|-#", max_size=40), max_size=40).map("\n".join),
    tokens=st.integers(0, 400),
    style=st.sampled_from(STYLES),
    detail=st.sampled_from(["full", "summary"]),
    placed=st.sampled_from(["above", "below", "in the docstring"]),
)
def test_it_always_fits_and_is_always_whole(
    make_item: MakeItem,
    restock: str,
    count: Count,
    code: str,
    tokens: int,
    style: Style,
    detail: Detail,
    placed: str,
) -> None:
    """Whatever the code and the budget: within it, on one closed fence or in one element."""
    if placed == "in the docstring":
        item = make_item(f"{restock}\n{code}", docstring=code)
    else:
        item = make_item(f"{code}\n{restock}" if placed == "above" else f"{restock}\n{code}")

    text = cut(item, tokens, style, count, detail)

    if text is None:
        return
    assert count(text) <= tokens
    if style == "xml":
        element = ET.fromstring(text)  # noqa: S314 (our own text)
        assert len(element) == 0
        assert NOTE in (element.text or "")
    elif style == "markdown":
        kinds = [token.type for token in MarkdownIt().parse(text) if token.nesting != -1]
        assert kinds in (
            ["paragraph_open", "inline", "fence", "paragraph_open", "inline"],
            ["paragraph_open", "inline"],
        )
        assert text.endswith(f"\n*{NOTE}*")
    else:
        assert text.endswith(f"\n{NOTE}")


@given(
    code=st.lists(st.text(alphabet="ab `~.", min_size=1, max_size=20), min_size=1, max_size=20),
    left_out=st.integers(1, 20),
)
def test_the_fence_holds_a_prefix_of_the_code(
    make_item: MakeItem, code: list[str], left_out: int
) -> None:
    """Without a signature, the lines from the first on, unchanged, and a mark."""
    item = make_item("\n".join(code), signature="", docstring="")
    room = 3 + len(code) - left_out
    text = cut(item, room, count=lines)
    if text is None or lines(text) < 6:
        assert room < 7
        return

    *kept, last = code_of(text)

    assert code[: len(kept)] == kept
    assert last == "..."
