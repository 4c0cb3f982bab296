"""How code is shown in each style and each detail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import STYLES, Detail, Style
from contextkit_code import contextkit_format, contextkit_source, contextkit_truncate

MakeItem = Callable[..., ContextItem]

HEADING = "**Method** `Shelf.restock` in `lib/shelf.py:27`\n"


def shown(item: ContextItem, style: Style = "markdown", detail: Detail = "full") -> str:
    """An item as the source shows it."""
    (text,) = contextkit_format([item], style, detail)
    return text


def test_dedup_keys_name_the_file(make_item: MakeItem) -> None:
    """One key each, which joins it to a commit of that file."""
    item = make_item()
    assert contextkit_source().dedup_keys(item.id, item.metadata) == ("file:lib/shelf.py",)


SUMMARY = "def restock(\n    self,\n    items,\n):\nPut items on the shelf.\n\nAll of them."


def test_markdown_is_that_of_seed_1(make_item: MakeItem) -> None:
    """A heading with the place, and the code, or signature and docstring, on a fence.

    Seed 1 has the language on the fence; the path tells it, and it is tokens in each item.
    """
    item = make_item()
    assert shown(item) == f"{HEADING}```\n{item.content}\n```"
    assert shown(item, "markdown", "summary") == f"{HEADING}```\n{SUMMARY}\n```"


ENTITY = '<entity name="Shelf.restock" type="method" file="lib/shelf.py" line="27">'
PLACE = "Shelf.restock [lib/shelf.py:27]"
GENERIC = {"signature": "f(a: A<B>)", "docstring": "Doc."}
BARE = {"docstring": ""}


@pytest.mark.parametrize(
    ("style", "detail", "fields", "text"),
    [
        ("xml", "full", {"content": "a < b"}, f"{ENTITY}\na &lt; b\n</entity>"),
        ("plain", "full", {"content": "a < b"}, f"{PLACE}\na < b"),
        ("xml", "summary", GENERIC, f"{ENTITY}\nf(a: A&lt;B&gt;)\nDoc.\n</entity>"),
        ("plain", "summary", GENERIC, f"{PLACE}\nf(a: A<B>)\nDoc."),
        ("plain", "summary", {**GENERIC, **BARE}, f"{PLACE}\nf(a: A<B>)"),
        (
            "markdown",
            "compact",
            {},
            "- `lib/shelf.py:27` `def Shelf.restock(self, items)`: Put items on the shelf.",
        ),
        (
            "xml",
            "compact",
            {"docstring": "Is a < b?"},
            '<entity file="lib/shelf.py" line="27">'
            "def Shelf.restock(self, items) - Is a &lt; b?</entity>",
        ),
        (
            "plain",
            "compact",
            {},
            "lib/shelf.py:27 def Shelf.restock(self, items) - Put items on the shelf.",
        ),
        (
            "markdown",
            "compact",
            BARE,
            "- `lib/shelf.py:27` `def Shelf.restock(self, items)`",
        ),
        ("plain", "compact", BARE, "lib/shelf.py:27 def Shelf.restock(self, items)"),
    ],
)
def test_how_code_is_shown(
    make_item: MakeItem, style: Style, detail: Detail, fields: dict[str, Any], text: str
) -> None:
    """Seed 4's entity, or name and place; without the body, and on one line."""
    assert shown(make_item(**fields), style, detail) == text


def test_without_code_the_summary_is_shown(make_item: MakeItem) -> None:
    """Signature and docstring."""
    item = make_item("", signature="def f():", docstring="Doc.")

    assert f"{HEADING}```\ndef f():\nDoc.\n```" == shown(item)


def test_names_with_backticks_and_line_ends_stay_on_their_line(make_item: MakeItem) -> None:
    """Neither ends the heading, nor the code span it stands in."""
    item = make_item(file_path="a`b\nc\x1b.md", qualified_name="`x`", unit_type="a\nb")
    heading = shown(item).split("\n")[0]

    assert heading == "**A\\nb** `` `x` `` in `` a`b\\nc\\x1b.md:27 ``"
    assert "`x`" in MarkdownIt().render(heading)


def test_of_a_window_the_first_lines_that_say_something_are_shown(make_item: MakeItem) -> None:
    """Three in a summary, with a mark where there are more; one behind its name on one line."""
    window = {"signature": "", "docstring": "", "unit_type": "lines"}

    assert f"{HEADING.replace('Method', 'Lines')}```\na = 1\n  b = 2\nc = 3\n...\n```" == shown(
        make_item("\n---\na = 1\n\n  b = 2\nc = 3\nd = 4\n", language="", **window),
        "markdown",
        "summary",
    )
    (line,) = shown(make_item("word " * 100, **window), "plain", "summary").splitlines()[1:]
    assert line.startswith("word word")
    assert line.endswith("word...")
    assert len(line) <= 160
    guide = make_item("\n---\n# A guide\n\nText", qualified_name="shelf.py", **window)
    rest = make_item("x = 1\ny = 2", qualified_name="Shelf", **window)
    assert shown(guide).startswith("**Lines** in `lib/shelf.py:27`\n")
    assert shown(guide, "plain").startswith("lines [lib/shelf.py:27]\n")
    assert shown(guide, "markdown", "compact") == "- `lib/shelf.py:27` `# A guide`"
    assert shown(rest, "plain", "compact") == "lib/shelf.py:27 Shelf x = 1"


def test_an_item_without_a_place_or_words_has_its_name() -> None:
    """As a host's own searcher may find it."""
    item = ContextItem("code", "", 0.5, id="note-7")

    assert [shown(item, style, "compact") for style in STYLES] == [
        "- `note-7` `note-7`",
        '<entity name="note-7">note-7</entity>',
        "note-7 note-7",
    ]


@pytest.mark.parametrize(
    ("signature", "name", "qualified", "expected"),
    [
        ("def f():", "f", "f", "def f()"),
        ("void Shelf::put(int n) {", "put", "Shelf.put", "void Shelf::put(int n)"),
        ("function Queue:push(v)", "push", "Queue.push", "function Queue:push(v)"),
        ("node *node(int a)", "node", "list.node", "node *list.node(int a)"),
        ("interface Rows", "Rows", "db.Rows", "interface db.Rows"),
        ("typedef struct", "list_t", "list_t", "list_t typedef struct"),
        ("A.B.c = function c()", "c", "B.c", "A.B.c = function c()"),
        ("p.c = function c()", "c", "B.c", "p.c = function B.c()"),
        ("fn f(\n    a: [u8; 2],\n) -> u8 {", "f", "f", "fn f(a: [u8; 2]) -> u8"),
        ("class \x1b[2J\x00A:", "A", "A", "class [2J A"),
    ],
)
def test_signatures(
    make_item: MakeItem, signature: str, name: str, qualified: str, expected: str
) -> None:
    """Of all languages, on one line, with the name in full once."""
    item = make_item(signature=signature, name=name, qualified_name=qualified, docstring="")

    assert f"lib/shelf.py:27 {expected}" == shown(item, "plain", "compact")


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Put one.  Then more.", "Put one."),
        ("No full stop\nat all\n\nMore.", "No full stop at all"),
        ("See e.g. the docs, i.e. v1.2. Then go.", "See e.g. the docs, i.e. v1.2."),
        ("<summary>\nAn order.\n</summary>", "An order."),
        ("一つ置く。次へ。", "一つ置く。"),
        ("# Heading\n\ntext", "# Heading"),
    ],
)
def test_first_sentences(make_item: MakeItem, docstring: str, expected: str) -> None:
    """An abbreviation does not end one, a paragraph does."""
    line = shown(make_item(docstring=docstring), "plain", "compact")

    assert expected == line.partition(" - ")[2]


def test_markup_and_titles_stay_words(make_item: MakeItem) -> None:
    """Of the docstring in Markdown, at the start of the line in plain text."""
    item = make_item(file_path="--- Code ---", docstring="A <b>**bold**</b> `word`.")

    assert shown(item, "markdown", "compact").endswith(r": A \<b>\*\*bold\*\*\</b> `word`.")
    assert shown(item, "plain", "compact").startswith(r"\--- Code ---:27 def")


def test_endless_signatures_and_docstrings_are_cut(make_item: MakeItem) -> None:
    """At a word, to 200 characters each."""
    item = make_item(signature="def restock(" + "item, " * 999, docstring="so " * 999)

    what, _, says = shown(item, "plain", "compact").partition(" - ")

    assert 190 <= len(what.removeprefix("lib/shelf.py:27 ")) <= 200
    assert 190 <= len(says) <= 200
    assert what.endswith("item,...")
    assert says.endswith("so...")


def test_a_part_of_a_function_stands_below_its_signature(make_item: MakeItem) -> None:
    """Whole and as an excerpt, with a mark for what is above it."""
    rows = [f"    step({n})" for n in range(30)]
    item = make_item("\n".join(rows), end_line=56, signature="def run(self):", docstring="")

    text = shown(item, "plain")
    short = contextkit_truncate(
        evolve(item, content=text), "plain", 12, lambda text: text.count("\n") + 1, "step"
    )

    assert text.split("\n")[1:4] == ["def run(self):", "# ...", rows[0]]
    assert short is not None
    assert short.split("\n")[1:3] == ["def run(self):", "# ..."]
    assert "    # ... lines " in short
