"""Questions about nothing: what is not searched for, and when nothing of what was found goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import pytest

from contextkit import (
    ContextAssembler,
    ContextItem,
    FormattedContext,
    Record,
    SourceInfo,
)
from tests.making import OpenKit, from_records, make_plugin, make_source

TEXTS = {
    "ant": "The harbour is closed on Sundays.",
    "bee": "Paint dries within an hour.",
    "cat": "Nobody reads the manual twice.",
    "eel": "Ten lanterns hang above the gate.",
}
NAMES = tuple(TEXTS)
PATIENCE = 30.0


def poor(best: float = 0.29) -> Mapping[str, ModuleType]:
    """Sources of which each finds something above the floor, and none anything good."""
    return {
        name: make_source([ContextItem(name, TEXTS[name], best - n / 100, id=name)])
        for n, name in enumerate(NAMES)
    }


def shown(context: FormattedContext) -> set[str]:
    """The sources that are in a context."""
    return {item.source for item in context.items}


async def test_talk_is_not_searched_for(open_kit: OpenKit) -> None:
    """Though a record has the very word; with another word, or without a floor, it is."""
    kit = open_kit({"ant": make_plugin(contextkit_query=from_records)})
    kit.records("ant").put([Record(id="1", text="thanks to everybody who helped")])
    talk = await kit.assemble_context("thanks!")
    assert (talk.markdown, talk.items) == ("", [])
    assert shown(await kit.assemble_context("thanks everybody, who helped?")) == set()
    assert shown(await kit.assemble_context("thanks `everybody.helped`")) == {"ant"}
    assert shown(await kit.assemble_context("thanks!", min_relevance=0.0)) == {"ant"}


async def test_a_source_that_does_not_search_answers_talk(open_kit: OpenKit) -> None:
    """What was done last, or is open, is asked for by "continue"."""
    kit = open_kit({"ant": make_plugin([ContextItem("ant", "what was done last", 0.8)])})
    assert shown(await kit.assemble_context("continue")) == {"ant"}


@pytest.mark.parametrize("asked", [None, NAMES[:1]])
async def test_nothing_goes_on_where_no_item_has_half_of_the_words(
    open_kit: OpenKit, asked: Sequence[str] | None
) -> None:
    """Each item is above the floor; the trace says why none is there. One source or all."""
    kit = open_kit(poor())
    context = await kit.assemble_context("how is the weather at noon?", asked)
    assert (context.markdown, context.items) == ("", [])
    verdicts = {(each.id, each.verdict) for each in context.trace.items}
    assert verdicts == {(name, "below_floor") for name in asked or NAMES}
    assert all("has 0 of 2 key terms" in each.reason for each in context.trace.items)
    everything = await kit.assemble_context(
        "how is the weather at noon?", asked, min_relevance=0.0, fill=True
    )
    assert shown(everything) == set(asked or NAMES)


@pytest.mark.parametrize(
    ("match", "title", "goes_on"),
    [(0.5, "addresses", False), (0.5, "asdf_of", True), (0.52, "addresses", True)],
)
async def test_one_word_of_two_may_be_all_there_is(
    open_kit: OpenKit, match: float, title: str, goes_on: bool
) -> None:
    """Unless it says no more than the word that is nowhere, and names nothing."""
    info = SourceInfo(scale="calibrated", embedder="none")
    item = ContextItem("ant", "asdf://lantern", match, id="ant", title=title)
    kit = open_kit({"ant": make_plugin([item], contextkit_source=info)})
    assert (shown(await kit.assemble_context("asdf qwer")) == {"ant"}) == goes_on


async def test_a_source_that_answers_by_other_means_goes_on(open_kit: OpenKit) -> None:
    """Its items need not have the question's words: where numbers say nothing, it knows best."""
    stranger = make_plugin([ContextItem("forecast", "It rains from noon.", 0.2, id="f")])
    kit = open_kit({**poor(), "forecast": stranger})
    assert shown(await kit.assemble_context("what is the weather in Paris?")) == {"forecast"}


async def test_one_good_match_lets_all_go_on(open_kit: OpenKit) -> None:
    """The question is about something then, and what matches less may belong to it."""
    kit = open_kit(poor(0.45))
    assert shown(await kit.assemble_context("how is the weather at noon?")) == set(NAMES)


@pytest.mark.parametrize(
    "query",
    [
        "who closed the harbour gate in Kafka?",
        "which harbour gate does SAP close?",
        "are the lanterns at the gate React ones?",
        "is the harbour gate on the FooBar closed in Kafka?",
        "how do I close the harbour gate of a fooBar?",
    ],
)
async def test_nothing_goes_on_that_has_no_name_of_the_question(
    open_kit: OpenKit, query: str
) -> None:
    """Other words of it are chance; an item that has the name lets all go on."""
    plugins = {
        **poor(0.45),
        "fox": make_plugin([ContextItem("fox", "Kafka, SAP, fooBar and React", 0.4, id="fox")]),
    }
    kit = open_kit(plugins)
    context = await kit.assemble_context(query, NAMES)
    assert context.items == []
    assert all("what the question names" in each.reason for each in context.trace.items)
    assert {"ant", "fox"} <= shown(await kit.assemble_context(query))


@pytest.mark.parametrize(
    "query",
    [
        "when did the lanterns hang above the gate, in October or on Monday?",
        "Lanterns Above The Gate",
        "the lanterns hang in Paris\n\nabove the gate",
        "do Lanterns hang above the gate in Paris?",
        "where does harborGate hang the lanterns above the gate?",
    ],
)
async def test_what_is_no_name_that_is_missing(open_kit: OpenKit, query: str) -> None:
    """A date, a title, a text of several lines, a slip; one name that is there is enough."""
    named = make_plugin([ContextItem("fox", "def harbour_gate", 0.2, id="fox")])
    kit = open_kit({**poor(), "fox": named})
    assert "eel" in shown(await kit.assemble_context(query))


async def test_nothing_goes_on_that_has_common_words_alone(open_kit: OpenKit) -> None:
    """The word that says most of a short question is in none of the items."""
    texts = [f"the consumer group {n}, a timeout" for n in range(8)]
    items = [ContextItem("ant", text, 0.4, id=text) for text in texts]
    kit = open_kit({"ant": make_source(items)})
    context = await kit.assemble_context("which kafka rebalance timeout does a group have?")
    assert context.items == []
    assert shown(await kit.assemble_context("which timeout does a group have?")) == {"ant"}


async def test_words_that_all_items_have_in_their_names_are_the_subject(open_kit: OpenKit) -> None:
    """All that was found is of one file, and that is named by what is asked."""
    items = [
        ContextItem("ant", f"part {n}", 0.5, id=str(n), location="status_drafts.py:1")
        for n in range(8)
    ]
    kit = open_kit({"ant": make_source(items)})
    assert shown(await kit.assemble_context("how are drafts of a status saved?")) == {"ant"}
    assert shown(await kit.assemble_context("how is a status saved?")) == set()


@pytest.mark.parametrize(
    ("place", "goes_on"),
    [
        ({"title": "Drafts.save"}, True),
        ({"title": "Guide > Drafts"}, True),
        ({"location": "src/drafts.py:1"}, True),
        ({"title": "save_drafts", "location": "src/drafts_of_all.py:1"}, False),
    ],
)
async def test_what_is_called_by_the_first_word_is_its_subject(
    open_kit: OpenKit, place: dict[str, Any], goes_on: bool
) -> None:
    """Though each item has that word, and none the other, which says what is wrong with it."""
    items = [ContextItem("ant", f"drafts {n}", 0.5, id=str(n), **place) for n in range(8)]
    kit = open_kit({"ant": make_source(items)})
    assert bool(shown(await kit.assemble_context("why do drafts vanish?"))) is goes_on
    assert not shown(await kit.assemble_context("are there vanishing drafts?"))


async def test_a_word_of_another_language_may_stand_for_what_was_found(open_kit: OpenKit) -> None:
    """A verb that no list has is no sign that nothing answers; a noun that nothing has is one."""
    items = [ContextItem("ant", "open the file", 0.3, id="1")]
    kit = open_kit({"ant": make_source(items)})
    verbs = await kit.assemble_context("Wie wird die Datei denn schnörkelig umflattert?")
    nouns = await kit.assemble_context("Wie viele Kalorien hat eine Avocado in der Datei?")
    assert (shown(verbs), shown(nouns)) == ({"ant"}, set())


@pytest.mark.parametrize("name", ["NO_PROXY", "docs/index.rst", "`cave.io`"])
async def test_a_name_of_code_lets_all_go_on(open_kit: OpenKit, name: str) -> None:
    """It may be mistyped, and the rest of the question in another language."""
    kit = open_kit(poor())
    context = await kit.assemble_context(f"Was haben wir über {name} entschieden?")
    assert shown(context) == set(NAMES)


@pytest.mark.parametrize(
    ("query", "on_it"),
    [("thanks, now explain the harbours", "ant"), ("Fix the lantern, please", "eel")],
)
async def test_an_item_on_the_subject_goes_on(open_kit: OpenKit, query: str, on_it: str) -> None:
    """Words of politeness, and of what to do with it, are not what a question is about."""
    kit = open_kit(poor())
    assert shown(await kit.assemble_context(query)) == {on_it}


async def test_a_new_item_lets_the_others_go_on(open_kit: OpenKit) -> None:
    """An update is the assembly whose source finds the new item as well."""
    kit = open_kit(poor())
    context = await kit.assemble_context("what is the weather in Paris?", fill=True)
    assert shown(context) == set()
    updated = await kit.update_context(context, ContextItem("ant", "It rains.", 1.0, id="new"))
    assert shown(updated) == set(NAMES)


class Host:
    """A host's own searcher, whose scores are on a scale of their own."""

    def search_memories(self, query: str, **given: Any) -> list[dict[str, Any]]:
        """One memory, whatever is asked."""
        return [{"id": "m", "content": f"about {query}", "score": 0.2}]


@pytest.mark.parametrize("query", ["thanks!", "what is the weather in Paris?"])
async def test_what_a_hosts_own_searcher_finds_goes_on(query: str) -> None:
    """It knows best what its records answer."""
    context = await ContextAssembler(Host()).assemble_context(
        query, ["memories"], source_timeout=PATIENCE, deadline=PATIENCE
    )
    assert shown(context) == {"memories"}


@pytest.mark.parametrize(("order", "sources"), [("match", ["bee", "ant"]), ("priority", None)])
async def test_sections_stand_by_their_best_items_or_by_priority(
    open_kit: OpenKit, order: str, sources: list[str] | None
) -> None:
    """As `assemble.order` says; of equal priorities by name."""
    found = {
        "ant": make_source([ContextItem("ant", TEXTS["ant"], 0.4)]),
        "bee": make_source([ContextItem("bee", TEXTS["bee"], 0.9)]),
    }
    kit = open_kit(found, settings={"assemble.order": order})
    context = await kit.assemble_context("what dries?")
    assert [item.source for item in context.items] == (sources or ["ant", "bee"])
