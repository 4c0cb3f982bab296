"""From a context and its trace to what the page shows."""

from typing import Any

import attrs
import pytest

from contextkit import ContextKit, FormattedContext, Provenance
from contextkit.models.items import ContextItem, Successor
from contextkit.models.request import ContextRequest
from contextkit.models.trace import ItemTrace, SourceTrace, Trace
from contextkit.pipeline.request import make_request
from contextkit_ui.model import ContextView
from contextkit_ui.view import HUES, Hues, hues_of, view_of

QUERY = "When does the tide turn?"


async def viewed(kit: ContextKit, **asked: Any) -> tuple[FormattedContext, ContextView]:
    """A context of the kit, and its view."""
    request = make_request(kit.config, QUERY, project=kit.project, workspace=None, **asked)
    sources = asked.pop("sources", None)
    context = await kit.assemble_context(QUERY, sources, **asked)
    return context, view_of(request, context, hues_of(kit.registry))


def row(item_id: str, section: str = "notes", **more: Any) -> ItemTrace:
    """A row of a trace."""
    values = {"verdict": "kept", "reason": "in full", "tokens": 3, **more}
    scores = {"score": 0.5, "match": 0.4}
    return ItemTrace(
        id=item_id, source="notes", section=section, title=item_id, scores=scores, **values
    )


def of_rows(
    *rows: ItemTrace, items: list[ContextItem] | None = None, text: str = ""
) -> ContextView:
    """The view of a context with such a trace."""
    trace = Trace(
        recipe="context",
        counter="estimate",
        max_tokens=100,
        stages={"gather": 5.0, "rank": 1.0},
        sources=(SourceTrace(section="notes", source="notes", state="ok", milliseconds=2.0),),
        items=rows,
    )
    context = FormattedContext(text, items or [], 10, {}, trace=trace)
    return view_of(ContextRequest(query=QUERY), context, Hues(["notes"]))


@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
@pytest.mark.parametrize("group_by", ["source", "type"])
async def test_the_parts_of_the_text_are_the_text(
    kit: ContextKit, style: str, group_by: str
) -> None:
    """Put together they are what the agent reads, and each item has one of them."""
    context, view = await viewed(kit, style=style, group_by=group_by)

    assert "".join(part.text for part in view.text) == context.markdown
    marked = [part.anchor for part in view.text if part.anchor]
    assert marked == [item.anchor for item in view.items]
    assert len(marked) == len(context.items) > 5


async def test_the_numbers_are_the_contexts_and_the_traces(kit: ContextKit) -> None:
    """Nothing is counted anew: tokens, shares and verdicts are copied."""
    context, view = await viewed(kit, max_tokens=500)

    trace = context.trace
    assert (view.token_count, view.max_tokens) == (context.token_count, 500)
    assert view.candidates == len(trace.items)
    for source, traced in zip(view.sources, trace.sources, strict=True):
        copied = ("section", "state", "share", "used", "given", "taken", "candidates", "reason")
        assert [getattr(source, n) for n in copied] == [getattr(traced, n) for n in copied]
    shown = [item.anchor for item in view.items]
    left = [item.anchor for group in view.left_out for item in group.items]
    assert sorted(shown + left) == sorted(f"item-{n + 1}" for n in range(len(trace.items)))


async def test_the_budget_adds_up(kit: ContextKit) -> None:
    """What sections, the frame and nobody took is the whole budget."""
    _, view = await viewed(kit, max_tokens=700)

    assert sum(source.used for source in view.sources) + view.frame + view.free == 700


async def test_every_reason_has_its_group(kit: ContextKit) -> None:
    """Duplicates, what the budget had no room for, and what is under the floor."""
    _, view = await viewed(kit, max_tokens=300)

    groups = {group.verdict: group.items for group in view.left_out}
    assert list(groups) == ["duplicate", "over_budget", "below_floor"]
    assert [item.id for item in groups["below_floor"]] == ["notes-9"]


async def test_a_duplicate_leads_to_its_winner_and_back(kit: ContextKit) -> None:
    """The anchors of the two rows name each other."""
    _, view = await viewed(kit)

    loser = view.left_out[0].items[0]
    winner = next(item for item in view.items if item.id == "notes-1")
    assert loser.duplicate_of is not None
    assert loser.duplicate_of.anchor == winner.anchor
    assert loser.duplicate_of.label == "notes/part1.txt:1"
    assert [link.anchor for link in winner.also_in] == [loser.anchor]


async def test_colours_stay_when_sources_are_left_out(kit: ContextKit) -> None:
    """A source has the same colour whichever others are asked, or switched off."""
    _, whole = await viewed(kit)
    _, one = await viewed(kit, sources=["tides"])

    assert one.sources[0].hue == next(s.hue for s in whole.sources if s.source == "tides")
    before = hues_of(kit.registry)["tides"]
    kit.disable("notes")
    assert hues_of(kit.registry)["tides"] == before


def test_more_sources_than_colours_begin_again() -> None:
    """The ninth source has the first one's colour, and a stranger the last."""
    hues = Hues([str(number) for number in range(HUES + 1)])

    assert hues["8"] == hues["0"] == 0
    assert hues["stranger"] == HUES - 1


def test_sources_are_on_the_timeline_where_they_are_asked() -> None:
    """They begin with the stage that asks them, and the next stage begins where it ends."""
    bars = of_rows().timeline

    assert [(bar.label, bar.kind, bar.start, bar.milliseconds) for bar in bars] == [
        ("gather", "stage", 0.0, 5.0),
        ("notes", "source", 0.0, 2.0),
        ("rank", "stage", 5.0, 1.0),
    ]


async def test_every_stage_and_every_source_is_on_the_timeline(kit: ContextKit) -> None:
    """In the order in which they ran, with the times that the trace has."""
    context, view = await viewed(kit)

    stages = {bar.label: bar.milliseconds for bar in view.timeline if bar.kind == "stage"}
    sources = {bar.label: bar.milliseconds for bar in view.timeline if bar.kind == "source"}
    assert list(stages.items()) == list(context.trace.stages.items())
    assert sources == {s.section: s.milliseconds for s in context.trace.sources}
    assert view.milliseconds == pytest.approx(sum(stages.values()), abs=0.01)


def test_an_item_of_two_sections_has_two_rows_with_its_own_text_each() -> None:
    """The first text of an item belongs to its first row, the second to the second."""
    items = [ContextItem("notes", text, 0.5, id="same") for text in ("one", "two")]

    view = of_rows(row("same"), row("same", "more"), items=items, text="one two")

    assert [(i.anchor, i.section, i.content) for i in view.items] == [
        ("item-1", "notes", "one"),
        ("item-2", "more", "two"),
    ]


def test_a_link_leads_to_the_row_that_is_in_the_text() -> None:
    """Of two rows of one item the link takes that one, even where the other is better."""
    gone = row("winner", verdict="over_budget", tokens=0)
    loser = row("loser", verdict="duplicate", tokens=0, duplicate_of=Provenance("notes", "winner"))

    item = ContextItem("notes", "text", 0.5, id="winner")
    view = of_rows(gone, loser, row("winner", "more"), items=[item], text="text")

    links = [i.duplicate_of for group in view.left_out for i in group.items if i.duplicate_of]
    assert [(link.anchor, link.in_text) for link in links] == [("item-3", True)]


def test_a_winner_that_was_left_out_itself_is_told_apart() -> None:
    """A duplicate may have lost against an item that the budget then had no room for."""
    winner = row("winner", verdict="over_budget", tokens=0)
    loser = row("loser", verdict="duplicate", tokens=0, duplicate_of=Provenance("notes", "winner"))

    groups = of_rows(winner, loser).left_out

    link = groups[0].items[0].duplicate_of
    assert link is not None
    assert (link.anchor, link.in_text) == ("item-1", False)


def test_a_link_to_what_was_not_found_leads_nowhere() -> None:
    """A newer item that the query did not find is named, without an anchor."""
    old = row("old", superseded_by=Successor("new", location="notes.txt:4"))

    (item,) = of_rows(old, items=[ContextItem("notes", "text", 0.5, id="old")], text="text").items

    assert item.superseded_by is not None
    assert (item.superseded_by.anchor, item.superseded_by.label) == (None, "notes.txt:4")


def test_a_text_that_does_not_show_an_item_is_left_whole() -> None:
    """Whatever a renderer does to an item, nothing of the text is lost."""
    items = [ContextItem("notes", content, 0.5, id="one") for content in ("elsewhere",)]

    assert [attrs.astuple(part) for part in of_rows(row("one"), items=items, text="x\ny").text] == [
        ("x\ny", None, None)
    ]


async def test_a_source_that_fails_says_why(kit: ContextKit) -> None:
    """Its state is in words, and its reason is the trace's."""
    _, view = await viewed(kit)

    words = {source.source: (source.words, source.reason or "") for source in view.sources}
    assert words["silent"] == ("found nothing", "none found")
    assert words["broken"][0] == "failed"
    assert "ValueError" in words["broken"][1]
