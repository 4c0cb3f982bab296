"""How shown code is shortened."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import STYLES, Detail, Style
from contextkit.text.passages import Excerpt
from contextkit.text.tokens import counter_for
from contextkit_code import contextkit_format, contextkit_truncate

MakeItem = Callable[..., ContextItem]
Count = Callable[[str], int]

RESTOCK = 'def restock(\n    self,\n    items,\n):\n    """Put items on the shelf."""\n    return 1'

SEND = '''\
def send(self, request, timeout=None):
    """Send a request. Returns the response.

    :param timeout: seconds to wait for the server.
    """
    parts = split(request.url)
    headers = dict(
        self.headers,
        **request.headers,
    )
    for attempt in range(self.retries):
        if attempt:
            sleep(attempt)
        try:
            answer = self.open(parts, headers)
        except OSError as error:
            log(error)
            self.forget(parts)
            raise ConnectionBroken(
                parts.host,
                error,
            )
        else:
            self.count += 1
            break
    # Cookies of the answer go into the jar.
    self.jar.update(answer.cookies)
    self.last = answer
    self.log.append(answer)
    return answer'''

MOUNT = """\
func (m *Mux) Mount(pattern string, handler http.Handler) {
\tif handler == nil {
\t\tpanic("nil handler")
\t}
\tif m.tree.has(pattern) {
\t\tm.warn(pattern)
\t\tpanic("an existing path")
\t}
\tfor _, each := range m.routes {
\t\tswitch each.kind {
\t\tcase static:
\t\t\tm.one(each)
\t\t\tm.two(each)
\t\tcase wildcard:
\t\t\teach.prefix = strip(pattern)
\t\t\tm.three(each)
\t\t}
\t}
\tm.four(pattern)
\tm.five(pattern)
}"""


def words(text: str) -> int:
    """A counter of tokens that is not the length."""
    return len(text.split())


def lines(text: str) -> int:
    """A counter of lines."""
    return text.count("\n") + 1


def cut(
    item: ContextItem,
    max_tokens: int,
    query: str = "",
    *,
    style: Style = "markdown",
    count: Count = lines,
    detail: Detail = "full",
) -> str | None:
    """An item as it is shown and then shortened."""
    (shown,) = contextkit_format([item], style, detail)
    return contextkit_truncate(evolve(item, content=shown), style, max_tokens, count, query)


def code_of(text: str | None) -> list[str]:
    """The lines on the fence of a shortened item."""
    assert text is not None
    (fence,) = [token for token in MarkdownIt().parse(text) if token.type == "fence"]
    return fence.content.split("\n")[:-1]


@pytest.fixture
def send(make_item: MakeItem) -> ContextItem:
    """A Python method of lines 100 to 128."""
    return make_item(
        SEND,
        start_line=100,
        end_line=100 + SEND.count("\n"),
        signature="def send(self, request, timeout=None):",
        docstring=(
            "Send a request. Returns the response.\n\n"
            ":param timeout: seconds to wait for the server."
        ),
    )


@pytest.fixture
def mount(make_item: MakeItem) -> ContextItem:
    """A Go method of lines 50 to 70."""
    return make_item(
        MOUNT,
        file_path="mux.go",
        language="go",
        start_line=50,
        end_line=50 + MOUNT.count("\n"),
        signature="func (m *Mux) Mount(pattern string, handler http.Handler)",
        docstring="",
    )


def test_what_matches_is_shown_with_what_encloses_it(send: ContextItem) -> None:
    """Signature, docstring, and the statement with its whole `for`, `try` and `except`.

    Seed 14: no gap is smaller than its mark, and each mark is a comment.
    """
    text = cut(send, 22, "where is a broken connection raised?")

    assert isinstance(text, Excerpt)
    assert text == (
        "**Method** `Shelf.restock` in `lib/shelf.py:100`\n"
        "```\n"
        "def send(self, request, timeout=None):\n"
        '    """Send a request. Returns the response.\n'
        "\n"
        "    :param timeout: seconds to wait for the server.\n"
        '    """\n'
        "    # ... lines 105-109\n"
        "    for attempt in range(self.retries):\n"
        "        if attempt:\n"
        "            sleep(attempt)\n"
        "        try:\n"
        "            answer = self.open(parts, headers)\n"
        "        except OSError as error:\n"
        "            log(error)\n"
        "            self.forget(parts)\n"
        "            raise ConnectionBroken(\n"
        "                parts.host,\n"
        "                error,\n"
        "            )\n"
        "        # ... lines 122-129\n"
        "```"
    )


def test_a_comment_brings_its_statement(send: ContextItem) -> None:
    """The comment has the query's words, the statement below it is what it is about."""
    kept = code_of(cut(send, 14, "cookies of the answer into the jar"))

    assert kept[-6:] == [
        "    # ... lines 105-124",
        "    # Cookies of the answer go into the jar.",
        "    self.jar.update(answer.cookies)",
        "    self.last = answer",
        "    self.log.append(answer)",
        "    return answer",
    ]


def test_rare_words_count_more_than_common_ones(send: ContextItem) -> None:
    """`answer` is everywhere in the method, `cookies` on one statement."""
    kept = code_of(cut(send, 13, "answer cookies"))

    assert "    self.jar.update(answer.cookies)" in kept


def test_a_sentence_of_the_docstring_that_matches_is_shown(make_item: MakeItem) -> None:
    """Beside its first line, with a comment for what is left out between."""
    docs = ["Send a request.", *(f":param p{n}: unused." for n in range(5))]
    docs += [":param timeout: seconds to wait for the server."]
    code = ["def send(self):", '    """', *(f"    {line}" for line in docs), '    """']
    code += [f"    self.step({n})" for n in range(9)]
    item = make_item(
        "\n".join(code), signature=code[0], docstring="\n".join(docs), end_line=26 + len(code)
    )

    kept = code_of(cut(item, 12, "how many seconds does it wait for the server?"))

    assert kept[:6] == [
        "def send(self):",
        '    """',
        "    Send a request.",
        "    # ... lines 30-34",
        "    :param timeout: seconds to wait for the server.",
        '    """',
    ]


def test_without_a_match_the_beginning_is_shown(send: ContextItem) -> None:
    """Signature, docstring, the first statements, and what it returns."""
    kept = code_of(cut(send, 16, "zebra"))

    assert kept == [
        *SEND.split("\n")[:11],
        "        # ... lines 111-128",
        "    return answer",
    ]


def test_what_closes_a_block_is_shown(mount: ContextItem) -> None:
    """A case stands below its `switch`, and each block that is opened is closed."""
    kept = code_of(cut(mount, 19, "where is the prefix stripped for a wildcard?"))

    assert kept == [
        "func (m *Mux) Mount(pattern string, handler http.Handler) {",
        "\t// ... lines 51-57",
        *MOUNT.split("\n")[8:],
    ]


def test_a_long_comment_gives_way_to_code(make_item: MakeItem) -> None:
    """Though it has the words of the query more often."""
    comment = [f"    # how jars are moved, part {n}" for n in range(12)]
    steps = [f"    step({n})" for n in range(9)]
    code = ["def restock(self):", *steps, "    for jar in self.jars:"]
    code += ["        self.move(jar)", *comment, "    return self.jars"]
    item = make_item("\n".join(code), signature=code[0], docstring="", end_line=26 + len(code))

    kept = code_of(cut(item, 9, "how are jars moved?"))

    assert "        self.move(jar)" in kept
    assert not any("part" in row for row in kept)


@pytest.mark.parametrize(
    "frame",
    [
        'File "/home/me/project/lib/shelf.py", line 126, in send',
        "at send (lib/shelf.py:126:9)",
        "\tlib/shelf.py:126 +0x1d",
        "  --> lib/shelf.py:126:5",
        r'File "C:\project\lib\shelf.py", line 126',
    ],
)
def test_the_line_of_a_stack_trace_comes_first(send: ContextItem, frame: str) -> None:
    """With the lines around it, before what has the query's words."""
    kept = code_of(cut(send, 12, f"ConnectionBroken when I send a request\n{frame}\n"))

    assert "    self.jar.update(answer.cookies)" in kept
    assert "    self.last = answer" in kept
    assert not any("ConnectionBroken" in line for line in kept)


def test_the_line_of_another_file_is_none_of_a_unit(send: ContextItem) -> None:
    """Only files of one name and one folder are the same."""
    query = "ConnectionBroken\nat send (other/shelf.py:126:9)"

    kept = code_of(cut(send, 24, query))

    assert "            raise ConnectionBroken(" in kept


def test_xml(make_item: MakeItem) -> None:
    """The excerpt stands in the element; what is escaped is matched as it was written."""
    rows = ["bool less(a) {", *(f"  step({n});" for n in range(9)), "  return jar < lid;", "}"]
    item = make_item(
        "\n".join(rows), signature="bool less(a) {", docstring="", language="cpp", end_line=38
    )

    assert cut(item, 8, "jar", style="xml") == (
        '<entity name="Shelf.restock" type="method" file="lib/shelf.py" line="27">\n'
        "bool less(a) {\n"
        "  step(0);\n"
        "  // ... lines 29-35\n"
        "  step(8);\n"
        "  return jar &lt; lid;\n"
        "}\n"
        "</entity>"
    )
    assert cut(item, 3, "jar", style="xml") == ""


def test_plain(send: ContextItem) -> None:
    """The same below the name and the place."""
    text = cut(send, 12, "cookies jar", style="plain")

    assert text is not None
    assert text.startswith(
        "Shelf.restock [lib/shelf.py:100]\ndef send(self, request, timeout=None)"
    )
    assert "    self.jar.update(answer.cookies)" in text


def test_a_summary_has_no_line_numbers(make_item: MakeItem) -> None:
    """Its docstring is shortened at a sentence."""
    item = make_item(signature="def f():", docstring="One.\n\n" + "Two three.\n" * 40)

    assert code_of(cut(item, 8, detail="summary")) == [
        "def f():",
        "One.",
        "",
        "Two three.",
        "# ...",
    ]


def test_prose_is_shortened_to_the_sentences_that_match(make_item: MakeItem) -> None:
    """With the heading above them."""
    prose = (
        "# Shelves\n\nAre long.\n\n# Jars\n\nSome are red.\nA lid is\nscrewed on.\n\nMost are blue."
    )
    window = {"unit_type": "section", "signature": "", "docstring": "", "language": "markdown"}
    item = make_item(prose + "\nMore." * 30, start_line=1, end_line=41, **window)

    kept = code_of(cut(item, 11, "how is a lid screwed on?"))

    assert kept[:2] == ["... lines 1-4", "# Jars"]
    assert "A lid is\nscrewed on." in "\n".join(kept)


def test_one_long_line_is_cut_at_a_word(make_item: MakeItem) -> None:
    """It has no statements, and no excerpt of it can be understood by itself."""
    text = cut(make_item("word " * 500, signature="", docstring="", end_line=27), 20, count=words)

    assert not isinstance(text, Excerpt)
    assert code_of(text)[0].startswith("word word")
    assert code_of(text)[0].endswith("word...")


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
    assert contextkit_truncate(evolve(make_item(), content=text), style, 1, words, "") is None


def test_what_was_taken_out_of_the_shown_text_does_not_come_back(make_item: MakeItem) -> None:
    """Redaction changes the shown text; the record's own still has the secret."""
    item = evolve(
        make_item("key = 'secret'\n" + "x = 1\n" * 50, docstring="secret", signature=""),
        text="key = 'secret'",
    )
    (shown,) = contextkit_format([item], "markdown", "full")

    text = contextkit_truncate(
        evolve(item, content=shown.replace("secret", "***")), "markdown", 30, words, "secret key"
    )

    assert text
    assert "secret" not in text


_MARK = re.compile(r"\s*(?:(?:#|//|--) )?\.\.\.(?: lines? (\d+)(?:-(\d+))?)?")


@st.composite
def _units(draw: st.DrawFn) -> dict[str, str]:
    """A unit's text and fields: code of all kinds around a method, or in its docstring."""
    alphabet = "ab `<&\x0c\r~|-#(){}:'\""
    code = "\n".join(draw(st.lists(st.text(alphabet, max_size=40), max_size=40)))
    placed = draw(st.sampled_from(["above", "below", "in the docstring"]))
    return {
        "content": f"{code}\n{RESTOCK}" if placed == "above" else f"{RESTOCK}\n{code}\nlast",
        "docstring": code if placed == "in the docstring" else "Put items on the shelf.",
        "language": draw(st.sampled_from(["python", "go", "lua", ""])),
    }


@pytest.mark.parametrize("count", [words, len, counter_for("default")])
@given(
    unit=_units(),
    tokens=st.integers(0, 400),
    style=st.sampled_from(STYLES),
    detail=st.sampled_from(["full", "summary"]),
    query=st.sampled_from(["", "aa", "restock ab", "lib/shelf.py:30"]),
)
def test_it_always_fits_and_is_always_whole(
    make_item: MakeItem,
    count: Count,
    unit: dict[str, str],
    tokens: int,
    style: Style,
    detail: Detail,
    query: str,
) -> None:
    """Whatever the code and the budget: within it, on one closed fence or in one element."""
    item = make_item(**unit, end_line=27 + unit["content"].count("\n"))

    short = cut(item, tokens, query, style=style, count=count, detail=detail)

    assert short is not None
    if not short:
        return
    assert count(short) <= tokens
    if style == "xml":
        assert len(ET.fromstring(short)) == 0  # noqa: S314 (our own text)
    elif style == "markdown":
        kinds = [token.type for token in MarkdownIt().parse(short) if token.nesting != -1]
        assert kinds == ["paragraph_open", "inline", "fence"]
        if detail == "full":
            _assert_recoverable(short, unit["content"])


def _assert_recoverable(short: str, whole: str) -> None:
    """Each row is where the marks say, unchanged, and none vanishes without a mark."""
    rows, row = whole.split("\n"), 0
    for line in short.split("\n")[2:-1]:
        mark = _MARK.fullmatch(line)
        if mark and mark[1]:
            assert int(mark[1]) - 27 == row
            row = int(mark[2] or mark[1]) - 26
        else:
            assert rows[row] == line
            row += 1
    assert row == len(rows)
