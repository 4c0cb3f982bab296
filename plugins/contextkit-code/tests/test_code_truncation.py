"""How shown code is shortened."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import STYLES, Detail, Style
from contextkit.text.passages import Excerpt
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


_MARK = re.compile(r"\s*(?:(?:#|//|--) )?\.\.\.(?: lines? (\d+)(?:-(\d+))?)?")


@pytest.fixture(scope="module")
def items(make_item: MakeItem) -> dict[str, ContextItem]:
    """Methods to shorten, by name."""
    docs = ["Send a request.", *(f":param p{n}: unused." for n in range(5))]
    docs += [":param timeout: seconds to wait for the server."]
    documented = ["def send(self):", '    """', *(f"    {line}" for line in docs), '    """']
    documented += [f"    self.step({n})" for n in range(9)]
    comment = [f"    # how jars are moved, part {n}" for n in range(12)]
    commented = ["def restock(self):", *(f"    step({n})" for n in range(9))]
    commented += ["    for jar in self.jars:", "        self.move(jar)", *comment, "    return 1"]
    options = [f"    option_{n}: int = {n}," for n in range(9)]
    options[3:5] = ["    color: Literal[", '        "auto", "none"', '    ] = "auto",']
    long = ["def open_shelf(", "    self,", *options, "):", "    self.color = color"]
    long += [f"    step({n})" for n in range(9)]
    long += ["    self.colors = colors(self)", "    step(9)", "    step(10)", "    step(11)"]
    long += ['    self.no_color = environ.get("NO_COLOR")', "    step(12)", "    step(13)"]
    prose = (
        "# Shelves\n\nAre long.\n\n# Jars\n\nSome are red.\nA lid is\nscrewed on.\n\nMost are blue."
    )
    window = {"signature": "", "docstring": "", "unit_type": "section", "language": "markdown"}

    def made(code: str, first: int = 27, **fields: str) -> ContextItem:
        head = {"signature": code.partition("\n")[0], "docstring": ""}
        end = first + code.count("\n")
        return make_item(code, start_line=first, end_line=end, **{**head, **fields})

    return {
        "send": made(SEND, 100, docstring=SEND.split('"""')[1].replace("\n    ", "\n").strip()),
        "mount": made(MOUNT, 50, file_path="mux.go", language="go"),
        "documented": made("\n".join(documented), docstring="\n".join(docs)),
        "commented": made("\n".join(commented)),
        "long": made("\n".join(long), signature="\n".join(long[:13])),
        "prose": made(prose + "\nMore." * 30, 1, **window),
    }


@pytest.fixture
def send(items: dict[str, ContextItem]) -> ContextItem:
    """A Python method of lines 100 to 128."""
    return items["send"]


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


FRAMES = [
    'File "/home/me/project/lib/shelf.py", line 126, in send',
    "at send (lib/shelf.py:126:9)",
    "\tlib/shelf.py:126 +0x1d",
    "  --> lib/shelf.py:126:5",
    r'File "C:\project\lib\shelf.py", line 126',
]


@pytest.mark.parametrize(
    ("name", "tokens", "query", "left_out"),
    [
        ("send", 14, "cookies of the answer into the jar", "105-124"),
        ("send", 13, "answer cookies", "105-125"),
        ("send", 16, "zebra", "111-128"),
        ("documented", 12, "how many seconds does it wait for the server?", "30-34 39-45"),
        ("mount", 19, "where is the prefix stripped for a wildcard?", "51-57"),
        ("commented", 9, "how are jars moved?", "28-36 39-50"),
        ("long", 13, "what does NO_COLOR do to colors?", "28-31 35-38 40-53 55-56"),
        ("prose", 11, "how is a lid screwed on?", "1-4 6-7 12-41"),
        ("send", 24, "ConnectionBroken\nat send (other/shelf.py:126:9)", "105-109 122-128"),
        *(
            ("send", 12, f"ConnectionBroken when I send a request\n{at}\n", "101-124")
            for at in FRAMES
        ),
    ],
    ids=[
        "a comment brings its statement",
        "rare words count more than common ones",
        "without a match beginning and end are shown",
        "a sentence of the docstring that matches is shown",
        "blocks are closed",
        "a long comment gives way to code",
        "of a long signature what matches is shown, and the row with the name that is given",
        "prose is shortened by sentences",
        "the line of another file is none of a unit",
        *(f"the line of a stack trace comes first {n}" for n in range(len(FRAMES))),
    ],
)
def test_what_is_left_out(
    items: dict[str, ContextItem], name: str, tokens: int, query: str, left_out: str
) -> None:
    """Other lines than those that match the query, and what those need to be understood."""
    marks = [_MARK.fullmatch(row) for row in code_of(cut(items[name], tokens, query))]

    assert " ".join(f"{mark[1]}-{mark[2] or mark[1]}" for mark in marks if mark) == left_out


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


@given(
    unit=_units(),
    tokens=st.integers(0, 400),
    style=st.sampled_from(STYLES),
    query=st.sampled_from(["", "aa", "restock ab", "lib/shelf.py:30"]),
)
def test_it_always_fits_and_can_be_put_back(
    make_item: MakeItem, unit: dict[str, str], tokens: int, style: Style, query: str
) -> None:
    """Whatever the code and the budget: within it, and marks say where each row is."""
    item = make_item(**unit, end_line=27 + unit["content"].count("\n"))

    short = cut(item, tokens, query, style=style, count=words)

    assert short is not None
    assert words(short) <= tokens
    if short and style == "markdown":
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
