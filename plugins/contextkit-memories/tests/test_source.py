"""The source's hooks, called through pluggy on a real store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pluggy
import pytest

import contextkit_memories
from contextkit import ContextItem, ContextRequest, Range, Record, Records
from contextkit.plugin import spec as hookspecs
from contextkit.testing import open_records
from contextkit_memories import MemoryBook

TEXTS = {
    "preferences": "Use tabs for indentation, never spaces",
    "decisions": "We chose Postgres because we need transactions",
    "errors": "The login test fails when the clock is not UTC",
}
DAY_ONE = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def hooks() -> Any:
    """The hooks of a fresh manager that has this plugin alone."""
    manager = pluggy.PluginManager("contextkit")
    manager.add_hookspecs(hookspecs)
    manager.register(contextkit_memories, name="memories")
    manager.check_pending()
    return manager.hook


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """Three memories of three days, the first one the user's."""
    with open_records(tmp_path / "store", "memories", project="demo") as opened:
        book = MemoryBook(opened)
        for day, (category, text) in enumerate(TEXTS.items()):
            book.remember(
                text,
                category=category,
                importance=0.8,
                tags=[f"day{day}"],
                created_at=DAY_ONE + timedelta(days=day),
                shared=day == 0,
            )
        yield opened


async def ask(hooks: Any, records: Records, query: str, **filters: Any) -> list[ContextItem]:
    """What the source finds for a query under these filters."""
    request = ContextRequest(query=query, filters=filters, records=records, limit=3)
    found: list[ContextItem] = await hooks.contextkit_query(request=request)
    return found


async def test_the_best_match_comes_first_with_its_metadata(hooks: Any, records: Records) -> None:
    """An item carries what seed 1 names, its tags and whose it is."""
    item = (await ask(hooks, records, "indent with tabs or with spaces?"))[0]
    assert (item.source, item.kind, item.content) == ("memories", "memory", TEXTS["preferences"])
    assert item.relevance > 0.5
    assert (item.salience, item.created_at) == (0.8, DAY_ONE)
    assert (item.title, item.location) == (TEXTS["preferences"], f"memory {item.id}")
    assert item.metadata == {
        "id": item.id,
        "category": "preferences",
        "importance": 0.8,
        "created_at": "2025-01-01T00:00:00+00:00",
        "tags": ["day0"],
        "scope": "user",
    }


async def test_a_memory_is_found_by_its_tag(hooks: Any, records: Records) -> None:
    """Tags are searched beside the text, and not shown as part of it."""
    item = (await ask(hooks, records, "day1"))[0]
    assert item.content == TEXTS["decisions"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"category": "Error"}, ["errors"]),
        ({"category": ["decision", "preferences"]}, ["decisions", "preferences"]),
        ({"category": "no such word"}, []),
        ({"tags": "DAY2"}, ["errors"]),
        ({"tags": ["day0", "day1"]}, ["decisions", "preferences"]),
        ({"created_at": Range(gte=DAY_ONE + timedelta(days=1))}, ["decisions", "errors"]),
        ({"importance": Range(gt=0.8)}, []),
        ({"category": "errors", "tags": "day0"}, []),
    ],
)
async def test_filters_reach_the_search(
    hooks: Any, records: Records, filters: dict[str, Any], expected: list[str]
) -> None:
    """Categories in either number, tags in any case, ranges: all within the engine."""
    found = await ask(hooks, records, "tabs Postgres login", **filters)
    assert sorted(item.metadata["category"] for item in found) == expected


async def test_the_limit_is_kept(hooks: Any, records: Records) -> None:
    """No more items than were asked for."""
    request = ContextRequest(query="tabs Postgres login", records=records, limit=1)
    assert len(await hooks.contextkit_query(request=request)) == 1


async def test_an_empty_store_has_no_items(hooks: Any, tmp_path: Path) -> None:
    """Nothing remembered, nothing found, no error."""
    with open_records(tmp_path / "empty", "memories") as records:
        assert await ask(hooks, records, "anything") == []


TALK = (
    "Fog all day, and the ferry was late.",
    "Which instrument are you learning?",
    "The theremin, every Thursday evening.",
    "With a teacher from the old town.",
    "I should go to bed now.",
)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Records]:
    """A session of five turns, one behind the other, and two memories that stand alone."""
    with open_records(tmp_path / "talk", "memories", project="demo", model="none") as opened:
        book = MemoryBook(opened)
        for place, text in enumerate(TALK):
            category = "errors" if place == 2 else "facts"
            book.remember(text, sequence="talk", position=place, category=category)
        book.remember("The ferry stands in the harbour.")
        book.remember("A learning curve.")
        yield opened


async def asked(hooks: Any, records: Records, **options: Any) -> list[ContextItem]:
    """What the source finds for a question about the instrument."""
    query = "which instrument is learning?"
    request = ContextRequest(query=query, records=records, **options)
    found: list[ContextItem] = await hooks.contextkit_query(request=request)
    return found


async def test_what_stands_beside_a_hit_comes_with_it(hooks: Any, talk: Records) -> None:
    """Without a word of the query, and at no relevance of its own; best supported first."""
    found = await asked(hooks, talk)
    by_text = {item.content: item for item in found}
    assert [text for text in by_text if text in TALK] == [TALK[n] for n in (1, 2, 0, 3)]
    assert "A learning curve." in by_text
    assert len(by_text) == len(found)
    assert by_text[TALK[2]].relevance == 0
    assert (by_text[TALK[2]].sequence, by_text[TALK[2]].position) == ("talk", 2)


async def test_neighbours_count_for_the_limit(hooks: Any, talk: Records) -> None:
    """No more than were asked for in all, the best of them."""
    found = await asked(hooks, talk, limit=2)
    assert [item.content for item in found] == [TALK[1], TALK[2]]


async def test_filters_hold_for_neighbours_too(hooks: Any, talk: Records) -> None:
    """What a request does not want does not come in beside what it wants."""
    found = await asked(hooks, talk, filters={"category": "facts"})
    assert TALK[1] in {item.content for item in found}
    assert {item.metadata["category"] for item in found} == {"facts"}


async def test_equal_matches_are_told_apart_by_who_said_them_and_when(
    hooks: Any, tmp_path: Path
) -> None:
    """The date and the speaker that a question names, and the session that is about it."""
    with open_records(tmp_path / "said", "memories", project="demo", model="none") as opened:
        book = MemoryBook(opened)
        for month, speaker in ((3, "Ada"), (3, "Bela"), (9, "Ada"), (9, "Bela")):
            said_at = datetime(2023, month, 4, tzinfo=UTC)
            text, session = f"{speaker}: I was at the regatta.", f"{month}{speaker}"
            book.remember(text, created_at=said_at, sequence=session, position=0)
        book.remember("The boats at the regatta!", sequence="9Bela", position=9)

        async def first(query: str) -> ContextItem:
            return (await ask(hooks, opened, query))[0]

        march = await first("who was at the regatta in March?")
        assert march.created_at == datetime(2023, 3, 4, tzinfo=UTC)
        assert (await first("was Ada at the regatta?")).content.startswith("Ada")
        assert (await first("which regatta was rowed?")).sequence == "9Bela"


async def test_turns_remembered_one_behind_the_other_are_neighbours(
    hooks: Any, tmp_path: Path
) -> None:
    """A host that gives no session: the answer that shares no word with the question is found.

    Notes without a speaker are no turns: what a script writes at once has little in common.
    """
    with open_records(tmp_path / "run", "memories", project="demo", model="none") as opened:
        book = MemoryBook(opened)
        long_ago = datetime(2023, 3, 4, tzinfo=UTC)
        book.remember("I learnt to knit.", created_at=long_ago)
        book.remember("And to fold boats.", created_at=long_ago + timedelta(hours=1))
        turns = [f"{'Ada' if n % 2 else 'Bela'}: {text}" for n, text in enumerate(TALK)]
        for turn in turns:
            book.remember(turn)
        found = [item.content for item in await asked(hooks, opened)]
        assert found[:2] == [turns[1], turns[2]]
        assert "And to fold boats." not in found
    with open_records(tmp_path / "notes", "memories", project="demo", model="none") as opened:
        book = MemoryBook(opened)
        for text in TALK:
            book.remember(text)
        found = [item.content for item in await asked(hooks, opened)]
        assert (TALK[1] in found, TALK[2] in found) == (True, False)


async def test_neighbours_can_be_turned_off(hooks: Any, talk: Records) -> None:
    """`[ranking] neighbours = 0`: only what the search finds."""
    found = [item.content for item in await asked(hooks, talk, neighbours=0.0)]
    assert TALK[1] in found
    assert TALK[2] not in found


@pytest.mark.parametrize(
    "fields",
    [
        {"sequence": "talk", "position": "2"},
        {"sequence": "talk", "position": True},
        {"sequence": 5, "position": 2},
        {"sequence": "talk"},
        {"position": 2},
    ],
)
async def test_a_place_that_is_none_is_passed_over(
    hooks: Any, records: Records, fields: dict[str, Any]
) -> None:
    """Imported records may have any fields; such a memory stands alone."""
    records.put([Record(id="odd", text="Use the force", fields=fields)])
    found = {item.id: item for item in await ask(hooks, records, "use the force")}
    assert (found["odd"].sequence, found["odd"].position) == (None, None)


def test_each_memory_has_its_own_key(hooks: Any) -> None:
    """The key names the memory wherever it turns up."""
    info = hooks.contextkit_source()
    assert [info.dedup_keys(f"mem_{it}", {}) for it in "ab"] == [
        ("memory:mem_a",),
        ("memory:mem_b",),
    ]


def test_what_the_source_says_of_itself(hooks: Any) -> None:
    """Title, priority, vectors, filters and weight are those of the design."""
    info = hooks.contextkit_source()
    assert (info.title, info.priority, info.embedder) == ("Memories", 90, "default")
    assert info.scale == "calibrated"
    assert {"category", "tags"} <= set(info.indexed_fields)
    assert info.weight == 1.0


def test_a_setting_it_does_not_have_is_named(hooks: Any) -> None:
    """A misspelt setting is not passed over in silence."""
    assert list(hooks.contextkit_source().setting_problems("memories", {"catgory": 1})) == [
        "catgory: the source memories has no such setting"
    ]


def test_it_adds_its_commands(hooks: Any) -> None:
    """`remember` and `memories` are on the command line."""
    assert sorted(hooks.contextkit_source().commands) == ["memories", "remember"]


def test_importing_it_loads_nothing_heavy() -> None:
    """The plugin is imported by every process: no engine, no model, no command line."""
    heavy = "{'click', 'numpy', 'qdrant_edge', 'qdrant_client', 'tokenizers', 'rich'}"
    code = f"import sys, contextkit_memories; print(sorted({heavy} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
