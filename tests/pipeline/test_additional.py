"""The host's own text as the last section of a context, and what a context is made of."""

from __future__ import annotations

from typing import Any

import pytest

from contextkit import ContextItem, ContextKit, FormattedContext
from contextkit.models.items import DETAILS, STYLES
from contextkit.text.tokens import counter_for
from tests.making import KEYWORDS, OpenKit, make_plugin

counted = counter_for("default")

OWN = "The host says: be brief.\n\nAnd use **bold** & few words."
ALONE = counted(f"# Context\n\n## Additional Context\n\n{OWN}")


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """A kit with two items of one source."""
    items = [
        ContextItem("tide", "High water at noon. " * 20, 0.9, id="a", kind="note"),
        ContextItem("tide", "Low water at six.", 0.8, id="b", kind="note"),
    ]
    return open_kit({"tide": make_plugin(items)}, settings=KEYWORDS)


async def asked(kit: ContextKit, own: str = OWN, **options: Any) -> FormattedContext:
    """The context of a question with a text of the host's own."""
    return await kit.assemble_context("tide", additional_context=own, **options)


async def test_the_hosts_text_is_the_last_section(kit: ContextKit) -> None:
    """Behind the sources'."""
    context = await asked(kit)
    before, _, after = context.markdown.partition("\n\n## Additional Context\n\n")
    assert before.startswith("# Context\n\n## Tide\n\n")
    assert after == OWN
    assert context.additional == OWN
    assert context.token_count == counted(context.markdown)
    assert context.sources_used == {"tide": 2}
    assert context.trace.notes == ()


async def test_alone_it_is_a_context(open_kit: OpenKit) -> None:
    """Where nothing is found, and where no source is asked."""
    context = await asked(open_kit(settings=KEYWORDS), style="plain")
    assert context.markdown.startswith("=== Context ===\n\n--- Additional Context ---\n\nThe host")
    assert context.token_count == counted(context.markdown)
    assert context.items == []


@pytest.mark.parametrize("own", ["", " \n "])
async def test_without_one_there_is_no_section(kit: ContextKit, own: str) -> None:
    """The context is what it is without."""
    context = await asked(kit, own)
    assert context.markdown == (await kit.assemble_context("tide")).markdown
    assert context.additional == ""


async def test_it_comes_first_in_its_claim_on_the_budget(kit: ContextKit) -> None:
    """Items have what it leaves."""
    context = await asked(kit, max_tokens=ALONE, include_sources=True)
    assert context.additional == OWN
    assert context.items == []
    assert context.token_count <= ALONE
    assert context.trace.notes == (f"no item fits into {ALONE} tokens",)
    more = await asked(kit, max_tokens=ALONE + 40)
    assert more.additional == OWN
    assert [item.id for item in more.items] != []


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("detail", DETAILS)
async def test_one_that_is_larger_than_the_budget_is_shortened(
    kit: ContextKit, style: Any, detail: Any
) -> None:
    """Like an item, with a mark in it and a note in the trace."""
    own = "A sentence & another. " * 200
    context = await asked(kit, own, max_tokens=90, style=style, detail=detail, guard=True)
    assert 40 < context.token_count <= 90
    assert context.token_count == counted(context.markdown)
    assert 0 < len(context.additional) < len(own)
    assert context.additional in context.markdown
    if detail != "compact":
        assert "(truncated)" in context.additional
    (note, _) = context.trace.notes[::-1]
    assert note.startswith("the additional context was shortened from ")


async def test_one_that_does_not_fit_at_all_is_left_out(kit: ContextKit) -> None:
    """And the note says so."""
    context = await asked(kit, max_tokens=3)
    assert context.markdown == context.additional == ""
    assert "the additional context does not fit into 3 tokens" in context.trace.notes


async def test_a_soft_budget_cuts_nothing(kit: ContextKit) -> None:
    """It is exceeded."""
    context = await asked(kit, OWN * 10, max_tokens=50, overflow="soft")
    assert context.additional == OWN * 10
    assert context.budget_exceeded
    assert context.items
    assert not context.truncated_items


# -- what a context is made of ------------------------------------------------------------------


async def test_components(kit: ContextKit) -> None:
    """Seed 3's: type, source, content, tokens and score of each part, in the text's order."""
    context = await asked(kit)
    rows = {row.id: row for row in context.trace.items}
    first, second, own = context.components
    assert [(c.type, c.source, c.id, c.content) for c in (first, second)] == [
        ("note", "tide", item.id, item.content) for item in context.items
    ]
    assert (first.tokens, first.score) == (rows["a"].tokens, rows["a"].scores["score"])
    assert (own.type, own.source, own.content, own.score) == ("custom", "", OWN, None)
    assert own.tokens == counted(OWN)


async def test_metadata(kit: ContextKit) -> None:
    """Seed 3's: what was asked, considered and searched, and how long that took."""
    context = await asked(kit, exclude=["b"])
    found = context.metadata
    assert found.pop("milliseconds") == round(sum(context.trace.stages.values()), 3) > 0
    assert found == {
        "query": "tide",
        "intent": "other",
        "considered": {"tide": 2},
        "searched": ["tide"],
    }


def test_a_context_that_was_made_by_hand() -> None:
    """It has the components of its items, and no metadata."""
    context = FormattedContext("x", [ContextItem("tide", "x", 0.5, id="a")], 1, {"tide": 1})
    (component,) = context.components
    assert (component.type, component.tokens, component.score) == ("tide", None, None)
    assert context.metadata == {}


async def test_a_larger_budget_drops_no_item(open_kit: OpenKit) -> None:
    """Though the counts of parts do not add up: the guard's tags are made of the whole text."""
    item = ContextItem("ant", "High water at noon. " * 8, 0.9, id="1")
    kit = open_kit({"ant": make_plugin([item])}, settings=KEYWORDS)
    shown = []
    for max_tokens in range(70, 130):
        context = await asked(kit, "00000", max_tokens=max_tokens, guard=True, tokens="claude")
        assert context.token_count <= max_tokens
        shown.append(len(context.items))
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, 1)
