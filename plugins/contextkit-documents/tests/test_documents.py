"""Documents in a context: found, shown, kept apart from other sources' parts of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import contextkit_documents
from contextkit import ContextAssembler, ContextItem, ContextKit, InvalidRequestError, Record
from contextkit.config.settings import Config
from contextkit.models.items import STYLES, Detail, Style
from contextkit.plugin.manager import SourceRegistry
from contextkit.testing import ToolCaller, own_home
from contextkit_documents import contextkit_format, contextkit_source, contextkit_truncate


@pytest.fixture
def workspace(shelf: Path) -> Path:
    """A README, a configuration and metadata."""
    return shelf


async def test_the_section_that_answers_comes_first(kit: ContextKit) -> None:
    """Under its headings and its place, its lines as they are."""
    context = await kit.assemble_context("when are items restocked?")
    first = context.items[0]
    assert first.content == (
        "**Documentation**: Shelf > Restocking (`README.md:5`)\n"
        "````markdown\nItems are restocked at night, see `restock`.\n\n"
        "```sh\nshelf restock\n```\n````"
    )
    assert (first.location, first.title) == ("README.md:5", "Shelf > Restocking")


SETTINGS = """\
# Sign here after painting.
[tool.paint]
colour = "red"
layers = 2

[tool.lamp]
# In seconds; the sea is dark.
blink = 3
bulbs = { spare = 4, kind = "gas" }

[tool.rope]
knots = "many"
"""
JOBS = """\
jobs:
  paint:
    steps:
      - run: brush
  lamp:
    steps:
      - name: Light it
        env:
          BLINK: 3
  rope:
    steps:
      - run: knot
"""


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        (
            "lamp.toml",
            SETTINGS,
            "...\n[tool.lamp]\n# In seconds; the sea is dark.\nblink = 3\n...",
        ),
        (
            "lamp.yml",
            JOBS,
            "jobs:\n...\n  lamp:\n    steps:\n      - name: Light it\n        env:\n"
            "          BLINK: 3\n...",
        ),
        ("lamp.yml", JOBS.replace("BLINK", "SHINE"), None),
    ],
)
def test_long_configuration_is_cut_to_the_lines_that_match(
    name: str, text: str, shown: str | None
) -> None:
    """Each stands below its comment, and its keys or table; without a match the core cuts it."""
    item = ContextItem(
        "documents", text, 0.5, metadata={"kind": "configuration", "file_path": name}
    )
    [whole] = contextkit_format([item], "markdown", "full")
    head, tail = f"**Configuration**: {name} (`{name}:1`)\n```\n", "\n```"
    for room, made in ((len(head + (shown or "") + tail), shown), (len(head) + 8, None)):
        short = contextkit_truncate(evolve(item, content=whole), "markdown", room, len, "blink")
        assert short == (None if made is None else f"{head}{made}{tail}")


def test_a_comment_of_a_configuration_is_shown_in_whole_sentences() -> None:
    """A sentence of `redis.conf` ended after its first line, in the middle."""
    text = """\
# The lamp is turned off at dawn by a
# timer.
#
# At night, the lamp may
# blink once in
# each minute. Nothing else
# is known of it.
#
lamp = 1
"""
    text += "\n".join(f"other-{place} = {place}" for place in range(60))
    item = ContextItem("documents", text, 0.5, metadata={"kind": "configuration"})
    [whole] = contextkit_format([item], "plain", "full")
    short = contextkit_truncate(evolve(item, content=whole), "plain", 200, len, "blink")
    assert short is not None
    _, _, shown = short.partition("\n")
    assert shown.splitlines() == ["...", *text.splitlines()[3:7], "..."]


def test_a_page_is_shortened_as_any_prose() -> None:
    """The core selects sentences; lines of a page are not settings."""
    item = ContextItem("documents", SETTINGS, 0.5, metadata={"kind": "documentation"})
    assert contextkit_truncate(item, "markdown", 100, len, "blink") is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('<div style="x">\n  <p>Read it.</p>\n</div>', "  Read it."),
        ("a <!-- b\nc --> d", "a  d"),
        ("`<br>` and\n```html\n<br>\n```", "`<br>` and\n```html\n<br>\n```"),
        ('<img src="x.png">', '<img src="x.png">'),
        ("```\n<p>\n```\n\n<p>Read it.\n\n<!-- old -->", "```\n<p>\n```\n\nRead it."),
        ("<Tabs> and 1 < 2", "<Tabs> and 1 < 2"),
    ],
)
def test_html_that_says_how_a_page_looks_is_left_out(text: str, shown: str) -> None:
    """It tells an agent nothing; HTML in code is what a document is about, and stays."""
    item = ContextItem("documents", text, 0.5, id="a", metadata={"language": "markdown"})
    (formatted,) = contextkit_format([item], "plain", "full")
    assert formatted.partition("\n")[2] == shown


async def test_the_metadata_is_found_by_what_it_is(kit: ContextKit) -> None:
    """Its table is shown as it stands; those of tools are apart."""
    context = await kit.assemble_context("which dependencies has the project?")
    assert context.items[0].kind == "metadata"
    assert 'dependencies = ["attrs"]' in context.items[0].content
    assert "line-length" not in context.items[0].content


async def test_imported_records_do_no_harm(kit: ContextKit) -> None:
    """Fields that are missing or of other types have their defaults."""
    odd = {"file_path": "odd.md", "headings": 7, "position": "x", "start_line": None, "kind": [1]}
    named = {"file_path": 5, "headings": ["Tide", 1], "position": 2}
    kit.records("documents").put(
        [
            Record(id="bare", text="the tide turns"),
            Record(id="odd", text="the tide falls", fields=odd),
            Record(id="named", text="the tide rises", fields=named),
        ]
    )
    context = await kit.assemble_context("tide", ["documents"])
    titles = {item.id: (item.title, item.location, item.kind) for item in context.items}
    assert titles == {
        "bare": ("bare", None, "documentation"),
        "odd": ("odd.md", "odd.md:1", "documentation"),
        "named": ("Tide > 1", None, "documentation"),
    }
    listed = await ToolCaller(kit)("list_documents", folder="odd.md")
    assert listed.data["documents"][0]["parts"][0]["start_line"] == 1


def made(content: str = "Line one.\n\nLine two.", **metadata: Any) -> ContextItem:
    """An item as the source makes them."""
    known = {
        "file_path": "docs/a.md",
        "kind": "documentation",
        "language": "markdown",
        "headings": ["A_b_", "C <d>"],
        "start_line": 7,
    }
    return ContextItem("documents", content, 0.5, {**known, **metadata}, id="docs/a.md::A")


@pytest.mark.parametrize(
    ("style", "detail", "text"),
    [
        (
            "markdown",
            "full",
            "**Documentation**: A_b\\_ > C \\<d> (`docs/a.md:7`)\n"
            "```markdown\nLine one.\n\nLine two.\n```",
        ),
        ("markdown", "compact", "- `docs/a.md:7` A_b\\_ > C \\<d>: Line one."),
        (
            "xml",
            "full",
            '<document file="docs/a.md" line="7" kind="documentation" '
            'heading="A_b_ &gt; C &lt;d&gt;">\nLine one.\n\nLine two.\n</document>',
        ),
        (
            "xml",
            "compact",
            '<document file="docs/a.md" line="7" kind="documentation" '
            'heading="A_b_ &gt; C &lt;d&gt;">Line one.</document>',
        ),
        ("plain", "full", "A_b_ > C <d> [docs/a.md:7]\nLine one.\n\nLine two."),
        ("plain", "compact", "docs/a.md:7 A_b_ > C <d>: Line one."),
    ],
)
def test_how_a_chunk_is_shown(style: Style, detail: Detail, text: str) -> None:
    """In each style, whole and on one line."""
    assert contextkit_format([made()], style, detail) == [text]


def test_a_summary_has_the_first_three_lines_that_say_something() -> None:
    """Each cut where it is long."""
    item = made(f"---\n\none {'x ' * 200}\ntwo\n\nthree\nfour")
    (text,) = contextkit_format([item], "plain", "summary")
    lines = text.split("\n")[1:]
    assert [line[:5] for line in lines] == ["one x", "two", "three", "..."]
    assert len(lines[0]) <= 160


def test_the_compact_line_passes_over_what_opens_a_block() -> None:
    """A table's head or a fence tells less than the line behind it."""
    item = made("[tool.ruff]\nline-length = 100", kind="configuration", headings=["a", "b"])
    assert contextkit_format([item], "plain", "compact") == ["docs/a.md:7 a, b: line-length = 100"]
    (alone,) = contextkit_format([made("[a]")], "plain", "compact")
    assert alone.endswith(": [a]")


def test_an_item_without_fields_is_shown() -> None:
    """Such as one of a host's own searcher; it has no dedup key."""
    item = ContextItem("documents", "text", 0.5, id="x")
    assert contextkit_format([item], "plain", "full") == ["x [x]\ntext"]
    keys = contextkit_source().dedup_keys
    assert keys(item.id, item.metadata) == ()
    assert keys("a", made().metadata) == ("file:docs/a.md",)


def test_a_hosts_searcher_is_asked_for_no_more_than_is_shown() -> None:
    """The source ranks more hits of its own records than it returns."""
    limits = []

    class Host:
        async def search_documents(self, query: str, limit: int) -> list[dict[str, Any]]:
            limits.append(limit)
            return [{"text": "Turn the crank.", "score": 0.9}]

    registry = SourceRegistry(Config(), entry_points=False)
    registry.register(contextkit_documents, "documents")
    assembler = ContextAssembler(Host(), registry=registry)
    assembler.assemble_context_sync("crank", limit=7, source_timeout=20, deadline=20)
    assert limits == [7]


@pytest.mark.parametrize("exclude", [[], ["*.md"]])
async def test_beside_the_code_source_the_answer_is_shown_once(
    workspace: Path, exclude: list[str]
) -> None:
    """As its section, or in the window of the page; with the README's setting always the former."""
    with own_home(), ContextKit.open(workspace, environment={}) as kit:
        if not {"code", "documents"} <= set(kit.registry.sources):
            pytest.skip("the code source is not installed")
    settings = {"sources.code.exclude": exclude}
    with own_home(), ContextKit.open(workspace, environment={}, settings=settings) as kit:
        kit.index(["code", "documents"])
        context = await kit.assemble_context("when are items restocked?", ["code", "documents"])
    assert context.markdown.count("Items are restocked at night") == 1
    if exclude:
        assert context.markdown.count("**Section**") == 0
        assert context.items[0].location == "README.md:5"


async def test_an_agent_lists_the_documents(kit: ContextKit) -> None:
    """With their headings and lines; of a folder, of one file, some of them."""
    call = ToolCaller(kit)
    listed = await call("list_documents")
    assert [document["path"] for document in listed.data["documents"]] == [
        "README.md",
        "docs/other.md",
        "pyproject.toml",
    ]
    assert listed.text.startswith(
        "README.md (documentation)\n  1-3 Shelf\n  5-11 Shelf > Restocking"
    )
    folder = await call("list_documents", folder="./docs/")
    assert [document["path"] for document in folder.data["documents"]] == ["docs/other.md"]
    some = await call("list_documents", limit=1)
    assert (some.data["total"], some.text.splitlines()[-1]) == (3, "1 of 3 documents")
    assert (await call("list_documents", folder="doc")).text == "No documents are indexed there."
    with pytest.raises(InvalidRequestError, match="at least 1"):
        await call("list_documents", limit=0)


@pytest.mark.parametrize("style", STYLES)
async def test_of_a_long_section_the_passage_that_matches_is_shown(
    kit: ContextKit, workspace: Path, style: Style
) -> None:
    """Its end too, with its place once: in the heading, so that no note repeats it."""
    prose = "".join(f"Aisle {number} has boxes of every size.\n" for number in range(150))
    (workspace / "docs" / "long.md").write_text(f"# Aisles\n\n{prose}\nThe forklift is yellow.\n")
    kit.index()
    context = await kit.assemble_context("colour of the forklift", max_tokens=300, style=style)
    shown = context.items[0].content
    assert "The forklift is yellow." in shown
    assert shown.count("docs/long.md") == 1
    assert context.trace.items[0].verdict == "excerpt"
