"""How documents become chunks."""

from __future__ import annotations

import pytest

from contextkit_documents.chunks import MAX_CHARACTERS, Chunk, chunks_of
from contextkit_documents.document_records import NotTextError, decoded
from contextkit_documents.file_kinds import FileKind, kind_of, skipped_by_name


def cut(text: str, path: str) -> list[Chunk]:
    """The chunks of a text in a file of that name."""
    what = kind_of(path)
    assert what is not None
    return chunks_of(text.split("\n"), what)


def rows(chunks: list[Chunk]) -> list[tuple[tuple[str, ...], int, int]]:
    """Headings and lines, counted from 1."""
    return [(chunk.headings, chunk.first + 1, chunk.last + 1) for chunk in chunks]


MARKDOWN = """\
Before all headings.

# The `shelf` *guide*

It holds.

## Items

### Deep

- one
  # no heading

> # nor this

```sh
# nor this
```

Set
---
A line under it.
"""


def test_markdown_is_cut_at_its_headings() -> None:
    """ATX and underlined ones, by CommonMark's rules, each chunk under all that it stands in."""
    chunks = cut(MARKDOWN, "a.md")
    guide = "The shelf guide"
    assert rows(chunks) == [
        ((), 1, 1),
        ((guide,), 3, 5),
        ((guide, "Items", "Deep"), 9, 18),
        ((guide, "Set"), 20, 22),
    ]
    assert chunks[1].text == "It holds."
    assert chunks[2].text.startswith("- one\n  # no heading")


def test_a_heading_in_html_is_one() -> None:
    """A FAQ has them for their anchors; a picture and a heading beside a text are none."""
    question = '<h3 name="shelf">\nWhat <code>holds</code> &amp; how?\n</h3>\n'
    others = '<h2><img src="a.png"></h2>\n\n<h2>Badge</h2><p>By us</p>\n\n> <h2>Quote</h2>'
    chunks = cut(f"# FAQ\n\n{question}\nIt holds.\n\n{others}", "FAQ.md")
    assert rows(chunks) == [(("FAQ", "What holds & how?"), 3, 13)]
    assert chunks[0].text.startswith("It holds.")


def test_a_long_section_is_cut_between_blocks() -> None:
    """No piece is much too long, all lines are there once, a list or fence is not cut."""
    block = "```\n" + "word " * 60 + "\n\n" + "word " * 60 + "\n```"
    text = "# Long\n\n" + "\n\n".join([block] * 9)
    chunks = cut(text, "a.md")
    assert len(chunks) == 3
    assert all(chunk.headings == ("Long",) for chunk in chunks)
    assert all(chunk.text.count("```") % 2 == 0 for chunk in chunks)
    assert all(len(chunk.text) <= MAX_CHARACTERS for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks).count("word") == text.count("word")
    assert chunks[0].first == 0


def test_no_piece_of_a_long_section_is_a_stump() -> None:
    """A version's date stays with its entries, an entry is whole, an announcement too."""
    entries = "".join(f"- Entry {n} says what it is\n  about in two lines.\n" for n in range(99))
    first, *others = cut(f"# 1.2\n\nReleased today\n\n{entries}", "CHANGES.md")
    assert first.text.startswith("Released today\n\n- Entry 0 says")
    assert len(others) > 1
    assert all(chunk.text.startswith("- Entry") for chunk in others)
    assert min(len(chunk.text) for chunk in others) > 300

    code = "```\n" + "word\n" * 380 + "```"
    example = f"{'It was so. ' * 60}\n\nBetween.\n\nFor example:\n\n{code}"
    _, second = cut(f"# A\n\n{example}", "a.md")
    assert second.text.startswith("For example:\n\n```")


def test_a_block_that_is_too_long_is_cut_at_a_line_and_a_line_within() -> None:
    """Nothing is left out, and no chunk is over twice the length; paragraphs are whole."""
    chunks = cut("# A\n" + "\n".join(["word " * 20] * 60), "a.md")
    assert [len(chunk.text) < 1.2 * MAX_CHARACTERS for chunk in chunks] == [True] * len(chunks)
    paragraph = "\n".join(["word " * 15] * 8)
    assert [chunk.first for chunk in cut("\n\n".join([paragraph] * 5), "a.txt")] == [0, 27]
    (one, two) = cut("x" * (3 * MAX_CHARACTERS), "data.json")
    assert (len(one.text), len(two.text)) == (2 * MAX_CHARACTERS, MAX_CHARACTERS)
    assert one.first == two.first == 0


LABELLED = """\
.. _shelf:

Shelf
=====

It holds.

.. _lamp: https://example.org/lamp

.. _shelf-items:

:class:`~shop.Shelf` and ``restock`` of `the lamp`_
---------------------------------------------------

At night.

.. _`the end`:
"""


def test_an_rst_label_is_no_part_of_the_section_above_it() -> None:
    """Nor a chunk by itself; a link's target is. A title has no marks of roles and links."""
    chunks = cut(LABELLED, "a.rst")
    assert chunks[1].headings[-1] == "shop.Shelf and restock of the lamp"
    assert [chunk.text for chunk in chunks] == [
        "It holds.\n\n.. _lamp: https://example.org/lamp",
        "At night.",
    ]
    assert [chunk.first + 1 for chunk in chunks] == [3, 12]


RST = """\
=====
Guide
=====

Text.

Install
=======

How.

From source
-----------

So.

Usage
=====

Thus.

- - -
"""

BADGES = f"[![Build](https://ci.test/{'a' * 200}.svg)](https://ci.test/{'b' * 300}) " * 3
BORDERS = "====  ====\na     b\n====  ====\n\nlonger title\n---\n\ntext\n  quoted\n--------\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.md", "# A\n\n## B\n\n## C\n\ntext\n", [(("A", "C"), 5, 7)]),
        ("a.md", "# A\n\n## B\n", []),
        ("a.md", "---\nlayout: docs\n---\n# Guide\ntext\n", [((), 1, 3), (("Guide",), 4, 5)]),
        (
            "a.md",
            "---\nlayout: docs\ntitle: 'The lamp'\n---\ntext\n\n# Oil\n\nmore\n",
            [(("The lamp",), 1, 5), (("The lamp", "Oil"), 7, 9)],
        ),
        (
            "a.md",
            '+++\ntitle = "The lamp"\n+++\ntext\n\n## Oil\n\nmore\n',
            [(("The lamp",), 1, 4), (("The lamp", "Oil"), 6, 8)],
        ),
        ("a.md", "---\ntitle: Guide\n---\n# Guide\ntext\n", [(("Guide",), 1, 5)]),
        ("a.md", "---\nno end\n", [((), 1, 2)]),
        ("a.md", f"# Lamp {BADGES}\n\ntext\n", [(("Lamp",), 1, 3)]),
        ("a.md", "# Oil {#oil}\n## [`A={x}`](#a) {: #a .b}\nso\n", [(("Oil", "A={x}"), 2, 3)]),
        ("a.md", "# {#if lit}\ntext\n", [(("{#if lit}",), 1, 2)]),
        (
            "a.rst",
            RST,
            [
                (("Guide",), 1, 5),
                (("Guide", "Install"), 7, 10),
                (("Guide", "Install", "From source"), 12, 15),
                (("Guide", "Usage"), 17, 22),
            ],
        ),
        ("a.rst", BORDERS, [((), 1, 10)]),
        ("a.rst", "S3\n--\n\ntext\n\nab\n::\n\ncd\n..\n\nef\n", [(("S3",), 1, 12)]),
        ("a.adoc", "= Guide\n\n== Install\n\nHow.\n", [(("Guide", "Install"), 3, 5)]),
        ("a.org", "* Guide\n\n** Install\n\nHow.\n", [(("Guide", "Install"), 3, 5)]),
    ],
    ids=[
        "a heading with nothing under it is no chunk",
        "headings alone have none",
        "front matter is no heading",
        "but its title is above all headings",
        "also in TOML",
        "unless the first heading says the same",
        "nor is its mark alone",
        "images beside a title are none of its words",
        "nor are its anchor and its class",
        "but a title may begin so",
        "levels of reStructuredText are in order of first use",
        "a border and a line shorter than the title make none",
        "a title of two letters is one, and other markup is none",
        "AsciiDoc",
        "Org",
    ],
)
def test_text_is_cut_at_its_headings(path: str, text: str, expected: object) -> None:
    """By the rules of each markup."""
    assert rows(cut(text, path)) == expected


TOML = """\
# The project.
[project]
name = "shelf"
classifiers = [
  "A",
]

[project.scripts]
shelf = "shelf:main"

[tool.ruff]
line-length = 100
per-file = [
  ["a", "b"],
]
[[tool.mypy.overrides]]  # more
module = "x"
"""


def test_what_tells_of_the_project_is_metadata() -> None:
    """In pyproject.toml its own tables; those of tools are configuration."""
    chunks = cut(TOML, "pyproject.toml")
    assert [(chunk.kind, chunk.headings) for chunk in chunks] == [
        ("metadata", ("project", "project.scripts")),
        ("configuration", ("tool.ruff", "tool.mypy.overrides")),
    ]
    assert chunks[0].text.startswith("# The project.\n[project]")
    assert "".join(f"{chunk.text}\n" for chunk in chunks) == TOML.replace(
        '"shelf:main"\n\n', '"shelf:main"\n'
    )


PACKAGE = """\
{
  "name": "shelf",
  "scripts": {
    "name": "echo"
  },
  "eslintConfig": {
    "root": true
  },
  "dependencies": {}
}
"""


def test_package_json_is_cut_at_its_keys() -> None:
    """The nested ones do not count; metadata and configuration are told apart."""
    assert [(chunk.kind, chunk.headings) for chunk in cut(PACKAGE, "package.json")] == [
        ("metadata", ("name", "scripts")),
        ("configuration", ("eslintConfig",)),
        ("metadata", ("dependencies",)),
    ]


@pytest.mark.parametrize(
    ("path", "text", "keys"),
    [
        (
            "ci.yml",
            "# CI\non: push\njobs:\n  test:\n    steps: []\n'a b': 1\n",
            ("on", "jobs", "a b"),
        ),
        ("tox.ini", "[tox]\nenvlist = py\n[testenv:docs]\ndeps = x\n", ("tox", "testenv:docs")),
        ("setup.cfg", "[metadata]\nname = a\n", ("metadata",)),
        ("CITATION.cff", "title: Shelves\n", ("title",)),
        (".editorconfig", "root = true\n[*.py]\nindent_size = 4\n", ("*.py",)),
        ("a.json", '{"a": 1}', ()),
        ("a.toml", "a = 1\n", ()),
    ],
)
def test_configuration_is_named_by_its_tables_or_keys(
    path: str, text: str, keys: tuple[str, ...]
) -> None:
    """Of the highest level, in their order; a small file is one chunk."""
    (chunk,) = cut(text, path)
    assert chunk.headings == keys
    assert chunk.text == text.strip()
    assert chunk.first == 0


def test_a_long_configuration_is_cut_at_tables() -> None:
    """Each piece has its own names; what one table alone is too long for is cut within."""
    table = "\n".join(f"key{n} = '{'v' * 40}'" for n in range(20))
    text = "\n".join(f"[t{n}]\n{table}" for n in range(4))
    assert [chunk.headings for chunk in cut(text, "a.toml")] == [("t0",), ("t1",), ("t2",), ("t3",)]
    long = cut("[t]\n" + "\n".join([table] * 4), "a.toml")
    assert len(long) > 1
    assert {chunk.headings for chunk in long} == {("t",)}


@pytest.mark.parametrize("path", ["a.md", "a.rst", "a.txt", "a.toml", "a.json", "a.yaml"])
@pytest.mark.parametrize("text", ["", "\n\n", "---\n", "{}\n", "# \n", "***", "[\n"])
def test_a_document_without_words_has_no_chunks(path: str, text: str) -> None:
    """Whatever its language."""
    assert cut(text, path) == []


@pytest.mark.parametrize(
    ("path", "kind", "skipped"),
    [
        ("docs/a.MD", FileKind("documentation", "markdown"), None),
        ("a.yml", FileKind("configuration", "yaml"), None),
        ("vignettes/a.Rmd", FileKind("documentation", "markdown"), None),
        (
            "tests/testthat/_snaps/a.md",
            FileKind("documentation", "markdown"),
            "fetched or made by a tool",
        ),
        ("a.py", None, None),
        ("Makefile", None, None),
        (".md", None, None),
        ("man/git-add.1", FileKind("documentation", "man"), None),
        ("v1.2", None, None),
        ("package-lock.json", FileKind("configuration", "json"), "a lock file"),
        (
            "node_modules/README.md",
            FileKind("documentation", "markdown"),
            "fetched or made by a tool",
        ),
        ("LICENSE.txt", FileKind("documentation", "text"), "a licence's text"),
        ("etc/shelf.api.md", FileKind("documentation", "markdown"), "generated"),
        ("MIT-LICENSE.txt", FileKind("documentation", "text"), "a licence's text"),
        ("LICENSES/CC-BY-SA-3.0.txt", FileKind("documentation", "text"), "a licence's text"),
        ("LICENSE-MIT.md", FileKind("documentation", "markdown"), "a licence's text"),
        ("COPYING.rst", FileKind("documentation", "rst"), "a licence's text"),
        ("docs/add-license.md", FileKind("documentation", "markdown"), None),
        ("docs/license-keys.md", FileKind("documentation", "markdown"), None),
        ("docs/licensed.md", FileKind("documentation", "markdown"), None),
        ("web/locales/da.yml", FileKind("configuration", "yaml"), "translations of a program"),
        ("l10n/de.json", FileKind("configuration", "json"), "translations of a program"),
        ("docs/locales/da.md", FileKind("documentation", "markdown"), None),
        ("test/Api/api.approved.txt", FileKind("documentation", "text"), "a test's data"),
        ("tests/README.txt", FileKind("documentation", "text"), None),
        ("tests/requirements.txt", FileKind("metadata", "text"), None),
    ],
)
def test_what_a_file_is_by_its_name(path: str, kind: FileKind | None, skipped: str | None) -> None:
    """Documentation, configuration, metadata, or none; and why it is passed over."""
    assert (kind_of(path), skipped_by_name(path)) == (kind, skipped)


def test_text_is_read_in_utf_8_and_marked_utf_16() -> None:
    """Any other encoding is no text, and says where it stops being any."""
    assert decoded("é\r\nb\rc".encode()) == ["é", "b", "c"]
    assert decoded("é".encode("utf-8-sig")) == ["é"]
    assert decoded("é".encode("utf-16")) == ["é"]
    with pytest.raises(NotTextError, match="not UTF-8: byte 3 "):
        decoded(b"abc\xe9")
    with pytest.raises(NotTextError, match="binary"):
        decoded(b"a\0b")


@pytest.mark.parametrize("path", ["a.md", "a.rst", "a.org", "a.1", "a.toml", "a.yaml", "a.json"])
@pytest.mark.parametrize(
    "opener", ["# ", '.B "a""', "* ", "[", "a", '"a', ">" * 50, "[a](" * 50, "`*_" * 50]
)
def test_a_very_long_line_is_cut_quickly(path: str, opener: str) -> None:
    """No pattern goes over it again and again, and no heading is thousands of words."""
    chunks = cut(f"{opener}{' ' * 60_000}x{opener * 100}\n---\n", path)
    assert all(len("".join(chunk.headings)) <= 500 for chunk in chunks)
