"""Text that others wrote stays text in Markdown and XML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt

from contextkit.text.clean import legible, visible
from contextkit.text.markup import (
    escape_markdown,
    escape_xml,
    fenced,
    line_start_safe,
    markdown_text,
    one_line,
    plain_line,
)

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
HOSTILE_CHARACTERS = st.text(
    st.sampled_from("`~#>-+*|=_<![]():1. \t\n\r\x0b\x85\u2028\\abé“&;"), max_size=60
)
HOSTILE_PIECES = """
# a;## ;```;~~~;---;===;- ;* ;1. ;+ ;> ;    ;\t;<b>;</b>;<!--;-->;<?x;<![CDATA[;<!a@b>;<a@b.org>;
<https://a.org>;<div;\\;\\\\;|;|-|;a | b;--- | ---;:-;_;__;*;**;a*b*c;*(;)*;__init__;~~a~~;[a]: b;
[a];[a](b);![a](b);](;!;`;``;`a`;` `` `;=;&lt;;&#35;;&#x23;;&amp;lt;; ;word;“;é
""".replace("\n", "").split(";")
HOSTILE_TEXT = HOSTILE_CHARACTERS | st.lists(
    st.sampled_from([*HOSTILE_PIECES, "\n", "\n\n", "\r", "&lt;", "&#35;"]), max_size=14
).map("".join)
PARAGRAPH = ["paragraph_open", "inline", "paragraph_close"]


@given(HOSTILE_TEXT, HOSTILE_TEXT)
@example("```py\nx\n```", "")
@example("a\n`````\nb", "py")
def test_fenced_text_is_one_code_block(text: str, language: str) -> None:
    """Whatever stands inside, the parser sees a single code block with that content."""
    tokens = MARKDOWN.parse(fenced(text, language))

    assert [token.type for token in tokens] == ["fence"]
    newlines = re.sub("\r\n?", "\n", text)
    expected = newlines if not newlines or newlines.endswith("\n") else newlines + "\n"
    assert expected.replace("\0", "\ufffd") == tokens[0].content


@given(ANY_TEXT)
def test_escaped_xml_reads_back(text: str) -> None:
    """A parser reads element text and attribute as the text with its invisible characters shown."""
    holdable = visible(text)
    escaped = escape_xml(text)

    element = ET.fromstring(f'<a b="{escaped}">{escaped}</a>')  # noqa: S314 - our own text

    assert holdable == (element.text or "")
    assert re.sub("[\t\n]", " ", holdable) == element.get("b")


def test_xml_shows_what_it_cannot_hold() -> None:
    """Controls and noncharacters become escapes, half surrogate pairs question marks."""
    shown_text = escape_xml("a\x00\x1bb\ud800\ufffec\uffff\r\U0001f600")
    assert shown_text == r"a\x00\x1bb?\ufffec\uffff\r" + "\U0001f600"


@example("two  spaces")
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


def shown(markdown: str) -> tuple[str, set[str]]:
    """What a parser shows of one paragraph, code in its backticks, and what it is made of."""
    tokens = MARKDOWN.parse(markdown)
    assert [token.type for token in tokens] in ([], PARAGRAPH)
    children = [child for token in tokens for child in token.children or ()]
    text = "".join(
        f"{child.markup}{child.content}{child.markup}"
        if child.type == "code_inline"
        else child.content
        for child in children
    )
    return text, {child.type for child in children}


@given(HOSTILE_TEXT | ANY_TEXT)
def test_line_start_safe_is_words_and_code(text: str) -> None:
    """At the start of a line a parser sees the very words, no block and no markup but code."""
    words, kinds = shown(line_start_safe(text))

    assert kinds <= {"text", "code_inline"}
    # A space at both ends of a code span is not shown.
    expected = one_line(legible(text)).replace(" ", "")
    assert words.replace(" ", "") == expected.replace("\0", "\ufffd")


@given(HOSTILE_TEXT)
def test_line_start_safe_stays_within_its_line(text: str) -> None:
    """Below a line, in a list, behind a label: what stands around it is read as ever."""
    line = line_start_safe(text)

    below, kinds_below = shown(f"**a | b** `c`\n{line}")
    behind, _ = shown(f"**Goal**: {line}")
    listed = MARKDOWN.parse(f"- {line}\n- next `item` *of* [x]")

    assert below.startswith("a | b `c`")
    assert kinds_below <= {"text", "code_inline", "softbreak", "strong_open", "strong_close"}
    assert behind.startswith("Goal:")
    assert [token.type for token in listed if token.level < 2] == [
        "bullet_list_open",
        *["list_item_open", "list_item_close"] * 2,
        "bullet_list_close",
    ]
    assert "heading_open" not in {token.type for token in listed}
    assert listed[-4].content == "next `item` *of* [x]"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("# a\n b", r"\# a b"),
        ("#12 is fixed", "#12 is fixed"),
        ("12. a", r"12\. a"),
        ("3) a", r"3\) a"),
        ("1.5 s", "1.5 s"),
        ("plain", "plain"),
        ("", ""),
        ("-5 degrees", "-5 degrees"),
        ("- a", r"\- a"),
        ("* a", r"\* a"),
        ("> a", r"\> a"),
        ("a > b", "a > b"),
        ("* * *", r"\* * *"),
        ("___", r"\___"),
        ("---", r"\---"),
        ("=", r"\="),
        ("--- | :-:", r"\--- | :-:"),
        ("a | b", "a | b"),
        ("```py", r"\`\`\`py"),
        ("~~~", r"\~\~\~"),
        ("~5 in ~/x", "~5 in ~/x"),
        ("[x]: /y", r"\[x]: /y"),
        ("[skip ci] x[0](1)", r"[skip ci] x[0]\(1)"),
        ("see [a](b) and ![c](d)", r"see [a]\(b) and ![c]\(d)"),
        ("`code`, ``a ` <b>`` and `", r"`code`, ``a ` <b>`` and \`"),
        ("**never** _this_", r"\*\*never\*\* \_this\_"),
        ("f(*args, **kwargs) of *.py", "f(*args, **kwargs) of *.py"),
        ("see *(a)* and *“b”*", r"see \*(a)\* and \*“b”\*"),
        ("c*.* before *.py", "c*.* before *.py"),
        ("2 * 3, a*b, snake_case_too, _private", "2 * 3, a*b, snake_case_too, _private"),
        ("src/__init__.py", r"src/\_\_init\_\_.py"),
        ("Vec<T>, 1 < 2, <-, <https://a.org>", r"Vec\<T>, 1 < 2, <-, \<https://a.org>"),
        ("AT&T & &lt; &#35; &copy", r"AT&T & \&lt; \&#35; &copy"),
        (r"C:\new\x \d \. \\ \*", r"C:\new\x \d \\. \\\ \\*"),
        ("C:\\", "C:\\\\"),
    ],
)
def test_line_start_safe_escapes_what_would_be_markup(text: str, safe: str) -> None:
    """A backslash stands before what CommonMark would not show as it is, and nowhere else."""
    assert safe == line_start_safe(text)


@given(HOSTILE_TEXT | ANY_TEXT)
def test_an_escaped_name_is_text_within_emphasis(text: str) -> None:
    """A parser sees the one emphasis that stands around it, and the name as it is."""
    name = one_line(text)

    words, kinds = shown(f"*Files: {escape_markdown(name)}.*")

    assert kinds == {"em_open", "text", "em_close"}
    assert words == f"Files: {name}.".replace("\0", "\ufffd")


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("src/snake_case.py", "src/snake_case.py"),
        ("src/__init__.py", r"src/\_\_init\_\_.py"),
        ("_a_b_", r"\_a_b\_"),
        ("*.py", r"\*.py"),
        ("`x`", r"\`x\`"),
        ("[a](b).md", r"[a]\(b).md"),
        ("Ada <ada@example.org>", r"Ada \<ada@example.org>"),
        ("a\\", r"a\\"),
        ("O'Neil & Søn", "O'Neil & Søn"),
    ],
)
def test_a_name_is_escaped_where_it_must_be(name: str, escaped: str) -> None:
    """Ordinary names and paths stay as they are."""
    assert escaped == escape_markdown(name)


HARMLESS_BLOCKS = {"paragraph", "bullet_list", "ordered_list", "list_item", "code_block", "inline"}


HOSTILE_LINES = [
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
    "<!a@b> <?a@b?> <a@b.org>",
    "`a\n<i>` b </i>",
    "`a\n` <b> `",
    "`a\n- b` <i> `c` </i>",
    "\\<b> \\\\<b>",
    "\\`` <b> `",
    "a `` ` `` <b> `<i>`",
    "a\n\n[x]: https://example.org\n\n[x]",
    "a\n\n[x\ny]: https://example.org\n\n[x y]",
    "a\n\n[x\\]y]: https://example.org\n\n[x]",
    "a\r# b\r\n# c",
    "a\n\x0b# b",
    "a ![pixel](https://example.org/x.png)",
    "open `",
    "open ** and _",
    "escape \\",
]


@pytest.mark.parametrize("behind_label", [True, False])
@pytest.mark.parametrize("text", HOSTILE_LINES)
def test_hostile_markdown_stays_in_its_place(text: str, behind_label: bool) -> None:
    """No heading, rule, fence, quote, table, HTML, image or definition comes out of it."""
    assert_contained(text, behind_label)


@given(HOSTILE_TEXT | ANY_TEXT, st.booleans())
@example("`\n\n`<b>`", True)
@example("a\n- - -", False)
def test_any_markdown_stays_in_its_place(text: str, behind_label: bool) -> None:
    """Whatever a text says, what stands around it keeps its structure."""
    assert_contained(text, behind_label)


def assert_contained(text: str, behind_label: bool) -> None:
    """The text adds harmless blocks alone, and what is around it is read as ever."""
    contained = markdown_text(text, behind_label=behind_label)
    own = f"**Label**: {contained}" if behind_label else f"**Label**\n{contained}"
    tokens = MARKDOWN.parse(f"# Context\n\n{own}\n*Category: `c`*\n\nNext *one* `d` [x]\n\n## Code")
    types = [token.type for token in tokens]
    assert types[:3] == ["heading_open", "inline", "heading_close"]
    assert types[-6:] == [*PARAGRAPH, "heading_open", "inline", "heading_close"]
    inner = tokens[3:-6]
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in inner} <= (
        HARMLESS_BLOCKS
    )
    inline = [child for token in inner for child in token.children or ()]
    assert not {child.type for child in inline} & {"html_inline", "image"}
    following = tokens[-5].children or []
    assert [child.type for child in following] == [
        *["text", "em_open", "text", "em_close", "text", "code_inline", "text"]
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Use `async`, **never** threads; 2 < 3 and a-b = c_d",
        "Steps:\n1. build\n2. test\n\n- one\n  - two\n* three",
        "An odd tick\n\nand then `Vec<T>`",
        "Generic `List<String>` and ``a ` <b>`` stay code",
        "First.\n\n    indented = code\n\nLast: [a link](https://example.org).",
        "日本語のメモ\n次の行 — “quoted”",
        "#12 is fixed, a | b, 50% & more, snake_case, __init__.py",
        "see <https://example.org/a?b=c>\nSigned-off-by: Ada <ada@example.org>",
        "[skip ci] C:\\Users \\d+ $x^2$ ~/home",
    ],
)
@pytest.mark.parametrize("behind_label", [True, False])
def test_ordinary_markdown_is_shown_as_it_is(text: str, behind_label: bool) -> None:
    """Emphasis, code spans, addresses, lists and links need no escape and get none."""
    assert text == markdown_text(text, behind_label=behind_label)


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("# heading", "\\# heading"),
        ("- # heading in a list", "- \\# heading in a list"),
        ("> 1. ## deep", "\\> 1. ## deep"),
        ("    # far in", "    \\# far in"),
        ("- - -", "\\- - -"),
        ("1. - ---", "1. \\- ---"),
        ("```python", "\\`\\`\\`python"),
        ("- ~~~", "- \\~\\~\\~"),
        ("**Memory**: forged", "\\**Memory**: forged"),
        ("__Memory__: forged", "\\__Memory__: forged"),
        ("- *forged*", "- \\*forged*"),
        ("[ref]: /x", "\\[ref]: /x"),
        ("a `tick", "a \\`tick"),
        ("``a` b", "\\`\\`a\\` b"),
        ("![a](b)", "\\![a](b)"),
        ("&lt;b&#62; &x", "\\&lt;b\\&#62; &x"),
        ("\\<b> \\\\<b>", "\\<b> \\\\\\<b>"),
    ],
)
def test_markdown_is_escaped_where_it_must_be(line: str, escaped: str) -> None:
    """What would break out has a backslash, also below a line; again changes nothing."""
    assert escaped == markdown_text(line)
    assert f"a\n{escaped}" == markdown_text(f"a\n{line}", behind_label=True)


@given(HOSTILE_TEXT | ANY_TEXT, st.booleans())
def test_contained_markdown_is_contained_already(text: str, behind_label: bool) -> None:
    """So a text that was cut can be contained once more, at any place."""
    contained = markdown_text(text, behind_label=behind_label)

    assert contained == markdown_text(contained, behind_label=behind_label)
    assert contained.count("\n") == len(re.split("\r\n|\r|\n", text)) - 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("=== Code ===", "\\=== Code ==="),
        ("--- a\nb", "\\--- a b"),
        ("-- a", "-- a"),
        ("# a", "# a"),
        ("", ""),
    ],
)
def test_a_plain_line_is_no_title(text: str, line: str) -> None:
    """Plain text's only marks are the lines of titles."""
    assert line == plain_line(text)
