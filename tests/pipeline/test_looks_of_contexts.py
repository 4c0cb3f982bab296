"""How a whole context looks: groups, the list of sources, the guard, blocks, details."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, strategies as st

from contextkit import ContextItem, ContextKit
from contextkit.models.items import DETAILS, STYLES, Detail, Style
from contextkit.pipeline.render import GROUPS, group_of, guarded
from contextkit.text.tokens import counter_for
from tests.making import OpenKit, make_plugin, make_source

counted = counter_for("default")


def item(source: str, number: int, kind: str, relevance: float = 0.8) -> ContextItem:
    """An item that says something of its own."""
    words = {"code": "def", "notes": "chapter", "chat": "said"}[source]
    return ContextItem(
        source,
        f"{words} {source} {number} {'abcdefghij'[number] * 9}",
        relevance - number / 100,
        id=f"{source}-{number}",
        title=f"{source} {number}",
        kind=kind,
        location=f"{source}/{number}.txt:{number}" if source != "chat" else None,
    )


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """Three sources of different kinds of items."""
    return open_kit(
        {
            name: make_source(items)
            for name, items in (
                ("code", [item("code", n, "function") for n in range(5)]),
                ("notes", [item("notes", 1, "section", 0.9), item("notes", 2, "mystery", 0.9)]),
                ("chat", [item("chat", n, "message", 0.7) for n in range(6)]),
            )
        }
    )


async def assembled(kit: ContextKit, **options: Any) -> Any:
    """A context; its tokens are those of its text."""
    context = await kit.assemble_context("what was said?", **options)
    assert context.token_count == counted(context.markdown)
    return context


# -- groups ---------------------------------------------------------------------------------


async def test_items_can_be_grouped_by_type(kit: ContextKit) -> None:
    """Under seed 4's headings, in its order, whatever source they come from."""
    context = await assembled(kit, group_by="type")
    headings = re.findall("^## (.*)$", context.markdown, re.MULTILINE)
    assert headings == list(GROUPS.values())
    kinds = [group_of(shown.kind) for shown in context.items]
    assert kinds == sorted(kinds, key=list(GROUPS).index)
    places = [context.markdown.index(shown.content) for shown in context.items]
    assert places == sorted(places)
    assert len(context.items) == 13


def test_each_kind_of_the_seed_has_its_group() -> None:
    """What is not known is other."""
    assert [group_of(kind) for kind in ("method", "requirement", "session", "commit", "")] == [
        "code",
        "documentation",
        "conversation",
        "other",
        "other",
    ]


# -- the list of sources --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "first"),
    [
        ("markdown", "**Sources:**\n- notes 1 (`notes/1.txt:1`)\n"),
        ("plain", "Sources:\n  - notes 1 (notes/1.txt:1)\n"),
        (
            "xml",
            '<sources>\n  <source name="notes 1" type="section" '
            'location="notes/1.txt:1" relevance="0.89" />\n',
        ),
    ],
)
async def test_the_best_ten_sources_are_listed(kit: ContextKit, style: Style, first: str) -> None:
    """Name and place, or kind where there is no place; best first."""
    context = await assembled(kit, include_sources=True, style=style)
    assert first in context.markdown
    listed = context.markdown[context.markdown.index(first.splitlines()[0]) :]
    assert len(re.findall(r"^\s*(?:-|<source) ", listed, re.MULTILINE)) == 10
    assert ("chat 0 (message)" in listed) == (style != "xml")
    assert not context.trace.notes
    if style == "xml":
        assert len(ET.fromstring(context.markdown).findall("sources/source")) == 10  # noqa: S314


async def test_a_list_of_sources_that_takes_too_much_is_left_out(kit: ContextKit) -> None:
    """More than a quarter of the budget; the trace says so, and the room goes to items."""
    without = await assembled(kit, max_tokens=50)
    context = await assembled(kit, max_tokens=50, include_sources=True)
    assert context.markdown == without.markdown
    assert context.trace.notes == (
        "the list of sources was left out: it takes too much of the budget",
    )


async def test_every_context_names_its_sources(kit: ContextKit) -> None:
    """As data, in the order of the text."""
    context = await assembled(kit, max_tokens=300)
    assert [source.id for source in context.sources] == [shown.id for shown in context.items]
    found = json.loads(json.dumps(context.as_dict()))
    assert found["sources"][0] == {
        "source": context.items[0].source,
        "id": context.items[0].id,
        "name": context.items[0].title,
        "type": context.items[0].kind,
        "location": context.items[0].location,
        "relevance": context.items[0].relevance,
    }
    assert found["truncated"] is False
    assert found["summary"] is None


async def test_a_context_sums_up_what_its_budget_cost(kit: ContextKit) -> None:
    """How many items were shortened, how many left out."""
    context = await assembled(kit, max_tokens=60)
    assert context.summary == f"to hold the budget: {13 - len(context.items)} left out"
    assert context.as_dict()["summary"] == context.summary


# -- the guard ------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
async def test_a_guarded_context_stands_between_its_own_tags(kit: ContextKit, style: Style) -> None:
    """Within the budget, and the same text each time."""
    plain = await assembled(kit, style=style)
    context = await assembled(kit, style=style, guard=True)
    opening, *_, closing = context.markdown.splitlines()
    assert closing == opening.replace("<", "</")
    assert plain.markdown in context.markdown
    assert context.markdown == (await assembled(kit, style=style, guard=True)).markdown
    tight = await assembled(kit, style=style, guard=True, max_tokens=120)
    assert tight.items
    assert tight.token_count <= 120


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_a_text_cannot_close_its_guard(text: str) -> None:
    """Whatever it says, even a guard of its own."""
    for inner in (text, guarded(text), guarded(guarded(text))):
        closing = guarded(inner).rsplit("\n", 1)[1]
        assert guarded(inner).count(closing) == 1
        assert closing.strip("</>") not in inner


# -- details --------------------------------------------------------------------------------


async def test_a_source_is_told_the_detail(open_kit: OpenKit) -> None:
    """And formats accordingly."""

    def contextkit_format(items: list[ContextItem], style: Style, detail: Detail) -> list[str]:
        return [f"{style} {detail}" for _ in items]

    kit = open_kit(
        {"code": make_plugin([item("code", 1, "function")], contextkit_format=contextkit_format)}
    )
    for detail in DETAILS:
        assert f"markdown {detail}" in (await assembled(kit, detail=detail)).markdown


async def test_a_compact_line_that_is_too_long_is_cut_at_a_word(open_kit: OpenKit) -> None:
    """It stays one line; an element of XML is left out instead."""
    long = ContextItem("code", "water " * 400, 0.9, id="1")
    kit = open_kit({"code": make_plugin([long])})
    (shown,) = (await assembled(kit, detail="compact", max_tokens=100)).items
    assert shown.content.endswith("water...")
    assert "\n" not in shown.content
    assert (await assembled(kit, detail="compact", style="xml", max_tokens=100)).items == []


async def test_a_compact_duplicate_names_its_twin_in_its_line(open_kit: OpenKit) -> None:
    """Attribution costs no line of its own."""
    twins = {
        name: make_plugin(
            [ContextItem(name, "High water at noon", 0.9, id=name, location=f"{name}.txt:1")]
        )
        for name in "ab"
    }
    context = await assembled(open_kit(twins), detail="compact")
    assert "- High water at noon (`a.txt:1`) (also in: `b.txt:1`)" in context.markdown


# -- blocks ---------------------------------------------------------------------------------


async def test_items_are_search_result_blocks(kit: ContextKit) -> None:
    """As Claude's Messages API takes them: source, title, content, citations."""
    context = await assembled(kit, max_tokens=300)
    blocks = context.search_results()
    assert [block["content"][0]["text"] for block in blocks] == [i.content for i in context.items]
    assert blocks[0]["type"] == "search_result"
    assert blocks[0]["citations"] == {"enabled": True}
    by_title = {block["title"]: block["source"] for block in blocks}
    assert by_title["code 1"] == "code/1.txt:1"
    assert by_title["chat 1"] == "chat:chat-1"
    assert json.loads(json.dumps(blocks)) == blocks


# -- overrides of one request ---------------------------------------------------------------


async def test_a_source_has_a_floor_of_its_own(open_kit: OpenKit) -> None:
    """Its numbers may be on another scale than those of the others."""
    items = [ContextItem("code", "def water", 0.04, id="1"), item("code", 1, "function")]
    settings = {"sources.code.min_relevance": 0.01}
    assert (
        len((await assembled(open_kit({"code": make_plugin(items)}, settings=settings))).items) == 2
    )


async def test_diversity_puts_what_repeats_behind(open_kit: OpenKit) -> None:
    """In the text and in the trace, whatever its case."""
    texts = ["High water at noon by the pier", "HIGH WATER AT TWO BY THE PIER", "Fog at the lock"]
    items = [ContextItem("code", text, 0.9 - n / 10, id=str(n)) for n, text in enumerate(texts)]
    kit = open_kit({"code": make_plugin(items)})
    assert [i.id for i in (await assembled(kit)).items] == ["0", "1", "2"]
    context = await assembled(kit, diversity=0.6)
    assert [i.id for i in context.items] == ["0", "2", "1"]
    assert context.trace.items[-1].scores["redundancy"] > 0.5
