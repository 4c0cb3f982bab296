"""Memories in a whole context: updates, sessions, through `ContextKit`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import contextkit_memories
from contextkit import ContextKit
from contextkit.testing import open_kit
from contextkit_memories import MemoryBook

DAY_ONE = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def neighbours() -> float:
    """What an item lends of its match: the default."""
    return 0.7


@pytest.fixture
def kit(tmp_path: Path, neighbours: float) -> Iterator[ContextKit]:
    """A kit with this plugin alone, on a store of its own."""
    settings = {"project": "demo", "ranking.neighbours": neighbours}
    with open_kit(tmp_path, {"memories": contextkit_memories}, settings=settings) as opened:
        yield opened


@pytest.fixture
def book(kit: ContextKit) -> MemoryBook:
    """The memories of the kit's project."""
    return MemoryBook(kit.records("memories"))


@pytest.mark.parametrize(
    ("older", "newer", "query"),
    [
        ("The API timeout is 30 s", "The API timeout is 60 s", "API timeout of 30 s"),
        ("We use Postgres 14 for billing", "We use Postgres 15 for billing", "Postgres 14"),
        ("Deploy on Fridays at noon", "Deploy on Mondays at noon", "deploy on Fridays?"),
        ("Use tabs for indentation", "Never use tabs for indentation", "tabs for indentation"),
        ("Service logs go to /var/log/app", "Service logs go to /srv/log/app", "/var/log/app?"),
    ],
)
@pytest.mark.parametrize("newer_first", [False, True])
async def test_an_update_comes_first_and_the_older_memory_says_so(
    kit: ContextKit, book: MemoryBook, older: str, newer: str, query: str, newer_first: bool
) -> None:
    """Both stay, whatever matches better and whichever was stored first; neither is merged."""
    new_day = DAY_ONE + timedelta(days=90)
    pairs = [(older, DAY_ONE), (newer, new_day)]
    ids = {
        text: book.remember(text, created_at=day).id
        for text, day in (reversed(pairs) if newer_first else pairs)
    }
    book.remember("The office cat is called Ada")
    context = await kit.assemble_context(query, ["memories"], detail="compact")
    new_line, old_line = context.markdown.splitlines()[4:6]
    assert new_line == f"- 2025-04-01 {newer}"
    assert old_line == f"- 2025-01-01 {older} (superseded by “{newer}” of 2025-04-01)"
    assert context.items[1].metadata["superseded_by"] == ids[newer]
    rows = {row.id: row for row in context.trace.items}
    assert rows[ids[older]].superseded_by is not None
    assert {rows[one].verdict for one in ids.values()} == {"kept"}


async def test_statements_on_two_things_are_no_update(kit: ContextKit, book: MemoryBook) -> None:
    """However alike they are."""
    for day, text in enumerate(("Ada lives in Berlin", "Bob lives in Berlin")):
        book.remember(text, created_at=DAY_ONE + timedelta(days=day))
    context = await kit.assemble_context("who lives in Berlin?", ["memories"])
    assert len(context.items) == 2
    assert "superseded" not in context.markdown


async def test_an_answer_is_in_the_context_for_its_question(
    kit: ContextKit, book: MemoryBook
) -> None:
    """A session's turn that has no word of the query, by what was said before it."""
    turns = ("Did you take up an instrument?", "Yes, the cello, on Thursdays.", "How lovely!")
    for turn in turns:
        book.remember(turn, sequence="Monday")
    for number in range(12):
        book.remember(f"Platform {number} has a bench and a lamp.", sequence=f"tour {number}")
    context = await kit.assemble_context("which instrument is she learning?", ["memories"])
    said = [item.content.partition("): ")[2] for item in context.items[:2]]
    assert said == list(turns[:2])
    rows = {row.title: row for row in context.trace.items}
    assert rows[turns[1]].scores["support"] > 0.1


@pytest.mark.parametrize("neighbours", [0.0])
async def test_the_configuration_turns_neighbours_off(kit: ContextKit, book: MemoryBook) -> None:
    """Then a session's turn is in for its own words alone."""
    for turn in ("Did you take up an instrument?", "Yes, the theremin, on Thursdays."):
        book.remember(turn, sequence="Monday")
    context = await kit.assemble_context("which instrument is she learning?", ["memories"])
    assert [item.title for item in context.items] == ["Did you take up an instrument?"]
