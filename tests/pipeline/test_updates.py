"""Of items that contradict each other the newest comes first, and the others say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem, ContextKit, SourceInfo
from contextkit.models.candidate import Candidate
from contextkit.models.items import Detail, Style, Successor
from contextkit.pipeline.supersede import find_updates, mark_superseded
from tests.making import make_candidate, make_plugin

DAY_ONE = datetime(2026, 1, 1, tzinfo=UTC)
TIMEOUT = "The API timeout is {} s"


def candidate(
    content: str, day: int | None, match: float, source: str = "notes", section: str = "notes"
) -> Candidate:
    """A candidate of a day; its id is the last number of its text, or its text."""
    numbers = [word for word in content.split() if word.isdigit()]
    created = None if day is None else DAY_ONE + timedelta(days=day)
    item = ContextItem(
        source, content, match, id=numbers[-1] if numbers else content, created_at=created
    )
    return make_candidate(item, section)


def superseded(*candidates: Candidate) -> list[Candidate]:
    """The candidates in their new order, marked."""
    return mark_superseded(candidates, find_updates(candidates, ["notes"], {}))


def marked(*candidates: Candidate) -> list[tuple[str, Any]]:
    """Ids in their new order, each with the id of what supersedes it."""
    found = superseded(*candidates)
    return [(c.item.id, c.item.superseded_by and c.item.superseded_by.id) for c in found]


def test_the_newer_one_comes_first_and_the_older_one_right_behind() -> None:
    """However much better the older one matches; what is between them goes behind."""
    found = superseded(
        candidate(TIMEOUT.format(30), 1, 0.9),
        candidate("Gates close at dusk", 2, 0.7),
        candidate(TIMEOUT.format(60), 3, 0.2),
    )
    assert [c.item.id for c in found] == ["60", "30", "Gates close at dusk"]
    new, old, _ = found
    assert old.item.superseded_by == Successor(
        "60", DAY_ONE + timedelta(days=3), None, TIMEOUT.format(60)
    )
    assert old.item.metadata["superseded_by"] == "60"
    assert new.item.superseded_by is None
    assert "superseded_by" not in new.item.metadata
    assert new.scores.as_dict()["rank_by"] == old.scores.as_dict()["score"]
    assert new.scores.score < old.scores.score


def test_one_that_is_first_anyhow_keeps_its_rank() -> None:
    """It is not lifted, and the older one keeps its own place."""
    found = superseded(
        candidate(TIMEOUT.format(60), 3, 0.9),
        candidate("Gates close at dusk", 2, 0.7),
        candidate(TIMEOUT.format(30), 1, 0.2),
    )
    assert [c.item.id for c in found] == ["60", "Gates close at dusk", "30"]
    assert "rank_by" not in found[0].scores.as_dict()


def test_a_chain_of_updates_stands_newest_first() -> None:
    """And each older one names the newest of all."""
    assert marked(
        candidate(TIMEOUT.format(10), 1, 0.9),
        candidate(TIMEOUT.format(20), 2, 0.5),
        candidate(TIMEOUT.format(40), 4, 0.4),
        candidate(TIMEOUT.format(30), 3, 0.3),
    ) == [("40", None), ("30", "40"), ("20", "40"), ("10", "40")]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (candidate(TIMEOUT.format(30), None, 0.9), candidate(TIMEOUT.format(60), 3, 0.2)),
        (candidate(TIMEOUT.format(30), 3, 0.9), candidate(TIMEOUT.format(60), 3, 0.2)),
        (
            candidate(TIMEOUT.format(30), 1, 0.9, source="history"),
            candidate(TIMEOUT.format(60), 3, 0.2, source="history"),
        ),
        (
            candidate(TIMEOUT.format(30), 1, 0.9, section="a"),
            candidate(TIMEOUT.format(60), 3, 0.2, section="b"),
        ),
        (candidate("Gates close at dusk", 1, 0.9), candidate("Lamps burn all night", 3, 0.2)),
    ],
)
def test_what_is_no_update_is_left_alone(older: Candidate, newer: Candidate) -> None:
    """No date, the same date, a source of history, another section, another subject."""
    assert superseded(older, newer) == [older, newer]


def test_an_update_comes_with_what_it_supersedes() -> None:
    """Though it is below the floor; an irrelevant pair stays irrelevant."""
    old, new = candidate(TIMEOUT.format(30), 1, 0.9), candidate(TIMEOUT.format(60), 3, 0.05)
    floors = {"notes": 0.1}
    assert find_updates([old, new], ["notes"], floors).linked == {("notes", "30"), ("notes", "60")}
    weak = candidate(TIMEOUT.format(30), 1, 0.05)
    assert find_updates([weak, new], ["notes"], floors).linked == set()


def test_turns_of_one_conversation_are_no_updates() -> None:
    """Items of a sequence of which others were found, too."""
    turns = [
        evolve(each, item=evolve(each.item, sequence="monday", position=place))
        for place, each in enumerate(
            [candidate(TIMEOUT.format(30), 1, 0.9), candidate(TIMEOUT.format(60), 3, 0.8)]
        )
    ]
    assert [by for _, by in marked(*turns)] == [None, None]


# -- in a context -----------------------------------------------------------------------------


@pytest.fixture
def kit(open_kit: Callable[..., ContextKit]) -> ContextKit:
    """A source of notes, two of which contradict each other, and one of history."""
    texts = ((TIMEOUT.format(30), 0.9), (TIMEOUT.format(60), 0.5), ("Gates close at dusk", 0.6))
    found = {
        name: [
            ContextItem(
                name,
                text,
                relevance,
                id=f"{name}{n}",
                location=f"{name} <{n}>",
                created_at=DAY_ONE + timedelta(days=n),
            )
            for n, (text, relevance) in enumerate(texts)
        ]
        for name in ("notes", "history")
    }
    plugins = {
        name: make_plugin(
            items, contextkit_source=SourceInfo(scale="calibrated", updates=name == "notes")
        )
        for name, items in found.items()
    }
    patient = {"assemble.source_timeout": 20.0, "assemble.deadline": 20.0}
    return open_kit(plugins, settings={**patient, "embedding.model": "none"})


@pytest.mark.parametrize(
    ("style", "detail", "expected"),
    [
        (
            "markdown",
            "full",
            f"{TIMEOUT.format(30)}\n\n*(superseded by “The API timeout is 60 s” of 2026-01-02)*",
        ),
        ("markdown", "compact", " (superseded by “The API timeout is 60 s” of 2026-01-02)\n"),
        ("plain", "full", "\n(superseded by “The API timeout is 60 s” of 2026-01-02)"),
        ("plain", "compact", " (superseded by “The API timeout is 60 s” of 2026-01-02)\n"),
        (
            "xml",
            "full",
            "\n<superseded-by>“The API timeout is 60 s” of 2026-01-02</superseded-by>\n",
        ),
        (
            "xml",
            "compact",
            "><superseded-by>“The API timeout is 60 s” of 2026-01-02</superseded-by>\n",
        ),
    ],
)
async def test_the_text_says_what_supersedes_an_item(
    kit: ContextKit, style: Style, detail: Detail, expected: str
) -> None:
    """In every style, once, behind the update; both are there."""
    context = await kit.assemble_context("timeout", ["notes"], style=style, detail=detail)
    assert context.markdown.count("superseded by") + context.markdown.count("<superseded-by") == 1
    assert expected in context.markdown
    assert context.markdown.index("60 s") < context.markdown.index("30 s")
    assert [item.id for item in context.items] == ["notes1", "notes0", "notes2"]


async def test_metadata_and_trace_say_so_too(kit: ContextKit) -> None:
    """For programs and for people who ask why."""
    context = await kit.assemble_context("timeout", ["notes"])
    old = context.items[1]
    assert old.metadata["superseded_by"] == "notes1"
    assert old.superseded_by == Successor(
        "notes1", DAY_ONE + timedelta(days=1), "notes <1>", TIMEOUT.format(60)
    )
    rows = {row.id: row for row in context.trace.items}
    assert rows["notes0"].superseded_by == old.superseded_by
    assert rows["notes1"].superseded_by is None
    shown = json.loads(json.dumps(context.as_dict()))
    assert shown["items"][1]["superseded_by"]["id"] == "notes1"


async def test_history_is_not_superseded(kit: ContextKit) -> None:
    """A source takes part only where it says that its newer items replace older ones."""
    context = await kit.assemble_context("timeout", ["history"])
    assert "superseded" not in context.markdown
    assert [item.id for item in context.items] == ["history0", "history2", "history1"]


async def test_diversity_does_not_put_the_older_one_first(kit: ContextKit) -> None:
    """Though the two resemble each other and one of them has to wait for that."""
    context = await kit.assemble_context("timeout", ["notes"], diversity=0.9)
    order = [item.id for item in context.items]
    assert order.index("notes1") < order.index("notes0")


async def test_a_source_may_know_by_itself(open_kit: Callable[..., ContextKit]) -> None:
    """An item that says what supersedes it is shown so; a date is not needed."""
    item = ContextItem("notes", "Old news", 0.9, id="old", superseded_by=Successor("new"))
    kit = open_kit({"notes": make_plugin([item])}, settings={"embedding.model": "none"})
    context = await kit.assemble_context("news", max_tokens=200)
    assert "*(superseded by `new`)*" in context.markdown
