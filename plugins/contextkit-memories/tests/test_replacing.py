"""Memories that stop being true: what replaced them, and who still sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import contextkit_memories
from contextkit import ContextKit
from contextkit.testing import CommandLine, ToolCaller, open_kit
from contextkit_memories import InvalidMemoryError, MemoryBook, UnknownMemoryError

JANUARY = datetime(2026, 1, 10, tzinfo=UTC)
APRIL = datetime(2026, 4, 20, tzinfo=UTC)
JULY = datetime(2026, 7, 1, tzinfo=UTC)
POSTGRES = "We use Postgres as our main database"
MYSQL = "Our main database is MySQL"
ORACLE = "Our main database is Oracle"
QUESTION = "Which database do we use?"


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with this source and no other."""
    with open_kit(tmp_path, {"memories": contextkit_memories}) as opened:
        yield opened


@pytest.fixture
def book(kit: ContextKit) -> MemoryBook:
    """The memories of the kit's project."""
    return MemoryBook.of(kit)


@pytest.fixture
def chain(book: MemoryBook) -> list[str]:
    """The ids of three databases; each replaced the one before."""
    ids = [book.remember(POSTGRES, created_at=JANUARY).id]
    ids.append(book.remember(MYSQL, created_at=APRIL, replaces=ids[-1]).id)
    ids.append(book.remember(ORACLE, created_at=JULY, replaces=ids[-1]).id)
    return ids


async def test_contexts_show_what_is_true_now(kit: ContextKit, chain: list[str]) -> None:
    """The replaced ones are no longer there, and the trace says why."""
    context = await kit.assemble_context(QUESTION, ["memories"])
    assert [item.id for item in context.items] == chain[2:]
    assert "until" not in context.markdown


@pytest.mark.parametrize(
    "question",
    [
        "Which database did we use before?",
        "what was our previous main database?",
        "When did we change the main database?",
    ],
)
async def test_a_question_about_the_past_shows_what_was_replaced_and_when(
    kit: ContextKit, chain: list[str], question: str
) -> None:
    """The newest comes first, and each older one names it."""
    context = await kit.assemble_context(question, ["memories"], detail="compact")
    assert {item.id for item in context.items} == {*chain}
    assert context.items[0].id == chain[2]
    assert (
        f"- 2026-01-10 {POSTGRES} (until 2026-04-20, superseded by “{ORACLE}” of 2026-07-01)"
        in context.markdown
    )


async def test_as_of_shows_what_was_true_at_that_time(kit: ContextKit, chain: list[str]) -> None:
    """Neither what ended before nor what came later; before all of them there is nothing."""
    for day, expected in ((JULY, chain[2:]), (APRIL, chain[1:2]), (JANUARY, chain[:1])):
        context = await kit.assemble_context(QUESTION, ["memories"], as_of=day)
        assert [item.id for item in context.items] == expected
    early = await kit.assemble_context(QUESTION, ["memories"], as_of="2025-12-31")
    assert early.items == []


async def test_a_question_that_names_a_month_shows_what_was_true_in_it(
    kit: ContextKit, chain: list[str]
) -> None:
    """Beside what is true now; what was replaced before that month stays away."""
    context = await kit.assemble_context("Our main database in May 2026?", ["memories"])
    assert {item.id for item in context.items} == {chain[1], chain[2]}


def test_a_time_since_when_it_is_true_ends_the_old_one(book: MemoryBook) -> None:
    """A move may be written down days later; the old one ends at the move."""
    old = book.remember(POSTGRES, created_at=JANUARY)
    new = book.remember(MYSQL, created_at=JULY, valid_from=APRIL, replaces=[old.id[:-1]])
    ended = book.get(old.id)
    assert (ended.valid_until, ended.replaced_by) == (APRIL, new.id)
    assert (book.get(new.id).valid_from, book.get(new.id).replaces) == (APRIL, (old.id,))


async def test_a_context_has_the_day_since_when_a_memory_is_true(
    kit: ContextKit, book: MemoryBook
) -> None:
    """It decides which of two is the newer, too, and is what a mark names."""
    book.remember("The API timeout is 60 s", created_at=JULY, valid_from=JANUARY)
    book.remember("The API timeout is 90 s", created_at=APRIL)
    context = await kit.assemble_context("API timeout", ["memories"], detail="compact")
    assert context.markdown.splitlines()[4:6] == [
        "- 2026-04-20 The API timeout is 90 s",
        "- 2026-01-10 The API timeout is 60 s "
        "(superseded by “The API timeout is 90 s” of 2026-04-20)",
    ]


def test_nothing_is_deleted(book: MemoryBook, chain: list[str]) -> None:
    """A list shows what is true, and the ended ones on request; the chain is its history."""
    assert [memory.id for memory in book.list()] == chain[2:]
    assert (book.count(), book.count(ended=True)) == (1, 3)
    assert [memory.id for memory in book.list(ended=True)] == chain[::-1]
    for each in chain:
        assert [memory.id for memory in book.history(each)] == chain


def test_what_ended_is_not_replaced_again(book: MemoryBook, chain: list[str]) -> None:
    """The error names the one that is true; the same call twice changes nothing."""
    with pytest.raises(InvalidMemoryError, match=f"{chain[1]} replaced it on 2026-04-20: use"):
        book.remember("Our database is DB2", replaces=chain[0])
    assert book.remember(ORACLE, replaces=chain[1]).outcome == "unchanged"
    with pytest.raises(InvalidMemoryError, match="cannot replace itself"):
        book.remember(ORACLE, replaces=chain[2])
    with pytest.raises(UnknownMemoryError):
        book.remember("Our database is DB2", replaces="mem_0")
    assert book.count(ended=True) == 3


def test_what_is_true_again_is_another_memory(book: MemoryBook, chain: list[str]) -> None:
    """The old one keeps its time; the same text is stored once more."""
    again = book.remember(POSTGRES, replaces=chain[2])
    assert (again.outcome, again.id in chain) == ("stored", False)
    assert book.get(chain[0]).valid_until == APRIL


async def test_a_memory_may_end_without_a_successor(kit: ContextKit, book: MemoryBook) -> None:
    """It leaves contexts; a question about the past shows until when it was true."""
    memory = book.remember("The beta runs on the old cluster", created_at=JANUARY)
    book.end(memory.id, APRIL)
    now = await kit.assemble_context("Where does the beta run?", ["memories"])
    assert now.items == []
    then = await kit.assemble_context("Where did the beta run before?", ["memories"])
    assert "*(until 2026-04-20)*" in then.markdown
    with pytest.raises(InvalidMemoryError, match="it ended on 2026-04-20"):
        book.end(memory.id)


async def test_many_ended_ones_do_not_hide_a_true_one(kit: ContextKit, book: MemoryBook) -> None:
    """Though all of them match better than the one that is true."""
    for number in range(60):
        book.end(book.remember(f"The main database is Postgres {number}").id)
    book.remember("For a database, see the wiki")
    context = await kit.assemble_context("the main database", ["memories"], min_relevance=0.0)
    assert [item.title for item in context.items] == ["For a database, see the wiki"]


async def test_what_replaces_an_item_comes_with_it(kit: ContextKit, book: MemoryBook) -> None:
    """Even where it has no word of the question, and nobody said that it replaces anything."""
    book.remember(POSTGRES, created_at=JANUARY)
    book.remember("We moved from Postgres to MySQL", created_at=APRIL)
    for number in range(9):
        book.remember(f"Lamp {number} stands at the pier", created_at=JULY + timedelta(days=number))
    context = await kit.assemble_context(QUESTION, ["memories"], min_relevance=0.3)
    assert [item.title for item in context.items] == ["We moved from Postgres to MySQL", POSTGRES]
    assert "superseded by “We moved from Postgres to MySQL” of 2026-04-20" in context.markdown


async def test_the_former_owner_comes_behind_the_one_who_took_over(
    kit: ContextKit, book: MemoryBook
) -> None:
    """The former owner's memory says so."""
    book.remember("Maria owns billing", created_at=JANUARY)
    book.remember("Jonas took over billing from Maria", created_at=APRIL)
    context = await kit.assemble_context("Who owns billing?", ["memories"], detail="compact")
    new, old = context.markdown.splitlines()[4:6]
    assert new == "- 2026-04-20 Jonas took over billing from Maria"
    assert old == (
        "- 2026-01-10 Maria owns billing "
        "(superseded by “Jonas took over billing from Maria” of 2026-04-20)"
    )


# -- near ones ----------------------------------------------------------------------------------


def test_the_nearest_are_named_with_what_differs(book: MemoryBook) -> None:
    """The nearest first, at most three, none that is about something else or has ended."""
    first = book.remember("The API timeout is 30 s")
    book.remember("Lamps burn at the pier")
    other = book.remember("The API timeout is 60 s")
    [near] = book.near(other)
    assert (near.memory.id, near.differs) == (first.id, "30 → 60")
    book.remember("The API timeout is 90 s", replaces=first.id)
    assert [each.differs for each in book.near(other)] == ["90 → 60"]


def test_a_full_stop_more_is_another_memory_and_said(run: CommandLine) -> None:
    """`PostgreSQL 15.` is stored beside `PostgreSQL 15`, with a word on that."""
    first = json.loads(run("remember", "PostgreSQL 15", "--json").stdout)
    said = run("remember", "PostgreSQL 15.").stdout.splitlines()
    assert said[1] == (
        "Similar memories (to replace an outdated one, store this again with --replaces ID):"
    )
    assert said[2].split()[0] == first["id"]
    assert said[2].endswith("PostgreSQL 15  [the same words]")


# -- by hand ------------------------------------------------------------------------------------


def test_commands_replace_list_and_show_the_history(run: CommandLine) -> None:
    """`--replaces`, `list --all`, `show --history` and `end`."""
    old = json.loads(run("remember", POSTGRES, "--json").stdout)["id"]
    said = run("remember", MYSQL, "--replaces", old[4:]).stdout
    assert f"It replaces {old}." in said
    assert POSTGRES not in run("memories", "list").stdout
    listed = run("memories", "list", "--all").stdout.splitlines()
    assert (len(listed), "(until 20" in listed[1]) == (2, True)
    shown = run("memories", "show", old, "--history").stdout
    assert shown.index(POSTGRES) < shown.index(MYSQL)
    assert "true until" in shown
    new = listed[0].split()[0]
    assert run("memories", "end", new).stdout == f"Ended {new}: {MYSQL}\n"
    assert run("memories", "list").stdout.startswith("No memories.")


async def test_an_agent_replaces_with_the_tool(kit: ContextKit) -> None:
    """The answer names the near one; its id in `replaces` ends it."""
    call = ToolCaller(kit)
    old = (await call("remember", text="The API timeout is 30 s")).data["id"]
    second = await call("remember", text="The API timeout is 60 s")
    assert [near["id"] for near in second.data["near"]] == [old]
    third = await call("remember", text="The API timeout is 60 s", replaces=[old])
    assert (third.data["outcome"], third.data["replaces"]) == ("updated", [old])
    assert [m["id"] for m in (await call("list_memories")).data["memories"]] == [third.data["id"]]
