"""Remembering, looking up, listing and forgetting, on a real store."""

from __future__ import annotations

import math
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from structlog.testing import capture_logs

import contextkit_memories
from contextkit import USER, InvalidRequestError, Record, Records
from contextkit.sources.entry import shortened_line as headline
from contextkit.testing import open_kit, run_together
from contextkit_memories import (
    InvalidMemoryError,
    Memory,
    MemoryBook,
    SecretInMemoryError,
    UnknownMemoryError,
)
from contextkit_memories.memory import MAX_TEXT

PASSWORD = "tidal" + "99"

# Between the look and the write others get many chances to take the store.
REMEMBERS = """
import sys

import contextkit_memories
from contextkit import ContextKit, Records
from contextkit_memories import MemoryBook


class Slow(Records):
    def put(self, records):
        counted = [self.count() for _ in range(400)]
        return super().put(records)


with ContextKit.open(sys.argv[1], settings={"embedding.model": "none"}, entry_points=False) as kit:
    kit.register(contextkit_memories, "memories")
    records = kit.records("memories")
    book = MemoryBook(Slow(kit.store, "memories", records.project), kit.store.hold)
    book.count()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(15):
        book.remember(f"Shelf {number} is for paint")
"""
BERLIN = timezone(timedelta(hours=1))


def test_a_memory_has_the_defaults_of_the_specification(book: MemoryBook) -> None:
    """Only the text is needed: a fact of importance 0.5, the project's, made now."""
    before = datetime.now(UTC)
    memory = book.remember("  Deploys run on Fridays\r\nat noon \n")
    assert memory.text == "Deploys run on Fridays\nat noon"
    assert (memory.category, memory.importance, memory.tags) == ("facts", 0.5, ())
    assert (memory.project, memory.scope, memory.outcome) == ("demo", "project", "stored")
    assert before <= memory.created_at <= datetime.now(UTC)
    assert book.get(memory.id) == memory


def test_everything_given_is_stored(book: MemoryBook) -> None:
    """Category, importance, tags and time of creation come back as they were given."""
    made = datetime(2024, 3, 1, 12, tzinfo=BERLIN)
    given = book.remember(
        "Tabs", category="Preference", importance=1, tags=["Style", "c++", "style"], created_at=made
    )
    memory = book.get(given.id)
    assert (memory.category, memory.importance) == ("preferences", 1.0)
    assert (memory.tags, memory.created_at) == (("style", "c++"), made)
    assert memory.as_dict() == {
        "id": given.id,
        "text": "Tabs",
        "category": "preferences",
        "importance": 1.0,
        "tags": ["style", "c++"],
        "scope": "project",
        "project": "demo",
        "created_at": "2024-03-01T11:00:00+00:00",
        "sequence": None,
        "position": None,
        "valid_from": None,
        "valid_until": None,
        "replaces": [],
        "replaced_by": None,
    }


def test_a_shared_memory_is_seen_in_every_project(book: MemoryBook, records: Records) -> None:
    """What is remembered for the user is the user's; a project's memory stays in it."""
    own = book.remember("only here")
    shared = book.remember("everywhere", shared=True)
    elsewhere = MemoryBook(evolve(records, project="other"))
    assert (shared.project, shared.scope, shared.as_dict()["project"]) == (USER, "user", None)
    assert [memory.id for memory in elsewhere.list()] == [shared.id]
    with pytest.raises(UnknownMemoryError):
        elsewhere.get(own.id)


def test_the_same_text_is_stored_once_and_updated(book: MemoryBook) -> None:
    """Remembering a text again changes what is given and keeps what is not, and the id."""
    first = book.remember("Tabs", category="preferences", importance=0.2, tags=["style"])
    again = book.remember(" Tabs\n", importance=0.9)
    assert (again.id, again.outcome, again.created_at) == (first.id, "updated", first.created_at)
    assert (again.category, again.importance, again.tags) == ("preferences", 0.9, ("style",))
    assert book.list() == [again]


def test_the_same_text_without_news_changes_nothing(book: MemoryBook) -> None:
    """Where nothing differs the memory is returned as unchanged."""
    first = book.remember("Tabs", tags=["style"])
    assert book.remember("Tabs", tags=["Style"]).outcome == "unchanged"
    assert book.list() == [first]


def test_the_same_text_in_another_scope_is_another_memory(book: MemoryBook) -> None:
    """The project's and the user's memories are kept apart, also when they are updated."""
    shared = book.remember("Tabs", shared=True)
    own = book.remember("Tabs")
    assert (own.outcome, own.id != shared.id) == ("stored", True)
    assert book.remember("Tabs", importance=0.9, shared=True).id == shared.id
    assert {memory.importance for memory in book.list()} == {0.5, 0.9}


def test_memories_of_a_sequence_stand_one_behind_the_other(book: MemoryBook) -> None:
    """Each goes to the end unless it says where; the place comes back as it was given."""
    texts = ("one", "two", "three")
    places = [book.remember(text, sequence=" talk ").position for text in texts]
    far = book.remember("later", sequence="talk", position=40)
    behind = book.remember("last", sequence="talk")
    other = book.remember("elsewhere", sequence="walk")
    assert (*places, far.position, behind.position, other.position) == (0, 1, 2, 40, 41, 0)
    assert book.get(far.id) == far
    assert (far.sequence, far.as_dict()["sequence"], far.as_dict()["position"]) == (
        "talk",
        "talk",
        40,
    )


def test_a_record_without_a_position_takes_no_place(book: MemoryBook) -> None:
    """An import may name a sequence alone; the next memory still finds its place."""
    for odd in ({}, {"position": "3"}, {"position": True}):
        book.records.put([Record(id=f"mem_{odd}", text="odd", fields={"sequence": "talk", **odd})])
    places = [book.remember(text, sequence="talk").position for text in ("one", "two")]
    assert places == [0, 1]


def test_the_user_has_sequences_of_their_own(book: MemoryBook) -> None:
    """A project's sequence and the user's of the same name are counted apart."""
    book.remember("here", sequence="talk")
    assert book.remember("everywhere", sequence="talk", shared=True).position == 0


def test_the_same_text_at_two_places_is_two_memories(book: MemoryBook) -> None:
    """A session may say it twice; at its own place, or without one, it is the same memory."""
    first = book.remember("Yes!", sequence="talk", position=3)
    second = book.remember("Yes!", sequence="talk", position=7)
    third = book.remember("Yes!", sequence="walk", position=3)
    assert len({first.id, second.id, third.id}) == 3
    again = book.remember("Yes!", sequence="talk", position=7)
    assert (again.id, again.outcome) == (second.id, "unchanged")
    assert book.remember("Yes!", sequence="walk").outcome == "unchanged"
    assert book.remember("Yes!", importance=0.9).id == first.id
    assert book.count() == 3


def test_a_memory_can_get_a_place_later(book: MemoryBook) -> None:
    """One that stood alone goes to the sequence that it is remembered for."""
    alone = book.remember("Yes!")
    placed = book.remember("Yes!", sequence="talk")
    assert (placed.id, placed.outcome) == (alone.id, "updated")
    assert (placed.sequence, placed.position) == ("talk", 0)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"position": 1}, "position 1 needs the name of a sequence"),
        ({"sequence": ""}, "a sequence's name has 1 to 200 printable characters, got ''"),
        ({"sequence": "a\nb"}, "a sequence's name has 1 to 200 printable characters"),
        ({"sequence": "a" * 201}, "a sequence's name has 1 to 200 printable characters"),
        ({"sequence": 7}, "a sequence's name has 1 to 200 printable characters, got '7'"),
        ({"sequence": "s", "position": -1}, "position must be a whole number of at least 0"),
        ({"sequence": "s", "position": True}, "position must be a whole number of at least 0"),
        ({"sequence": "s", "position": 1.0}, "position must be a whole number of at least 0"),
        ({"sequence": "s", "position": 2**60}, "position must be a whole number of at least 0"),
    ],
)
def test_a_place_that_is_none_is_refused(
    book: MemoryBook, place: dict[str, Any], message: str
) -> None:
    """With what was wrong; nothing is stored."""
    with pytest.raises(InvalidMemoryError, match=message):
        book.remember("Tabs", **place)
    assert book.count() == 0


def test_threads_that_remember_the_same_text_store_it_once(records: Records) -> None:
    """Books of several threads over one store do not store a text twice."""
    start = threading.Barrier(8)
    found: list[Memory] = []

    def remember() -> None:
        start.wait()
        found.append(MemoryBook(records).remember("at the same time"))

    threads = [threading.Thread(target=remember) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({memory.id for memory in found}) == 1
    assert sorted(memory.outcome for memory in found) == ["stored"] + ["unchanged"] * 7
    assert MemoryBook(records).count() == 1


def test_two_processes_that_remember_the_same_texts_store_each_once(tmp_path: Path) -> None:
    """Whoever comes second finds the other's."""
    settings = {"embedding.model": "none"}
    with open_kit(tmp_path, {"memories": contextkit_memories}, settings=settings) as kit:
        run_together(REMEMBERS, *[[str(tmp_path)]] * 2)
        assert MemoryBook.of(kit).count() == 15


def test_a_list_is_newest_first_and_filtered(book: MemoryBook) -> None:
    """By category in either number, by tag in any case, and no longer than the limit."""
    start = datetime(2025, 1, 1, tzinfo=UTC)
    for day, (text, category, tags) in enumerate(
        [("a", "bug", "x"), ("b", "Bugs", "y"), ("c", "decision", "xy"), ("d", "error", "")]
    ):
        book.remember(text, category=category, tags=[*tags], created_at=start + timedelta(days=day))

    def texts(**filters: Any) -> list[str]:
        return [memory.text for memory in book.list(**filters)]

    assert texts() == ["d", "c", "b", "a"]
    assert texts(limit=2) == ["d", "c"]
    assert texts(category="bugs") == texts(category="BUG") == ["b", "a"]
    assert texts(category="decisions") == texts(category="decision") == ["c"]
    assert texts(tag="X") == ["c", "a"]
    assert texts(category="bug", tag="y") == ["b"]
    assert texts(category="nothing") == []
    assert (book.count(), book.count(category="bug"), book.count(tag="y")) == (4, 2, 2)


def test_a_limit_below_one_is_an_error(book: MemoryBook) -> None:
    """A list of no memories was not meant."""
    with pytest.raises(InvalidRequestError, match="limit must be at least 1, got 0"):
        book.list(limit=0)


NAIVE = datetime(2025, 1, 1)  # noqa: DTZ001 - what the test is about


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"text": ""}, "memory must not be empty"),
        ({"text": " \n\t\x00\x1b[0m"}, "memory must not be empty"),
        ({"text": "a" * (MAX_TEXT + 1)}, "at most 20,000 characters, this one has 20,001"),
        ({"text": "half \ud83d of it"}, "character 5 is half a surrogate pair"),
        ({"text": b"bytes"}, "must be a text, got b'bytes'"),
        ({"importance": 1.0001}, "within 0..1, got 1.0001"),
        ({"importance": -0.1}, "within 0..1, got -0.1"),
        ({"importance": math.nan}, "within 0..1, got nan"),
        ({"importance": math.inf}, "within 0..1, got inf"),
        ({"importance": "high"}, "must be a number within 0..1, got 'high'"),
        ({"importance": True}, "must be a number"),
        ({"category": ""}, "a category is one word"),
        ({"category": "two words"}, "got 'two words'"),
        ({"category": "*bold*"}, "a category is one word"),
        ({"category": "-x"}, "begins with a letter or a digit"),
        ({"category": "c\udcff"}, "a category is one word"),
        ({"category": "c" * 41}, "at most 40 characters"),
        ({"category": 3}, "a category is a word, got 3"),
        ({"tags": ["fine", "not fine"]}, "a tag is one word"),
        ({"tags": "style"}, "tags must be a list of words, got 'style'"),
        ({"tags": float("nan")}, "tags must be a list of words, got nan"),
        ({"tags": [f"t{number}" for number in range(21)]}, "at most 20 tags, got 21"),
        ({"created_at": NAIVE}, "must be a time with a time zone"),
        ({"created_at": "2025-01-01"}, "must be a time with a time zone"),
        ({"created_at": datetime(9999, 1, 1, tzinfo=UTC)}, "lies in the future"),
        ({"created_at": datetime.min.replace(tzinfo=BERLIN)}, "before the year 1"),
    ],
)
def test_a_bad_part_is_named_and_nothing_is_stored(
    book: MemoryBook, bad: dict[str, Any], message: str
) -> None:
    """Each limit has a clear error, before anything is stored."""
    with pytest.raises(InvalidMemoryError, match=message) as caught:
        book.remember(**{"text": "a memory", **bad})
    assert caught.value.exit_code == 2
    str(caught.value).encode()
    assert book.count() == 0


def test_the_longest_text_is_stored_whole(book: MemoryBook) -> None:
    """Twenty thousand characters, of any script, are a memory."""
    text = "漢字🙂é" * (MAX_TEXT // 4)
    assert book.get(book.remember(text).id).text == text


def test_terminal_codes_are_left_out(book: MemoryBook) -> None:
    """Colours and controls of pasted output are no part of a memory; tabs and lines are."""
    assert book.remember("\x1b[31merror\x1b[0m:\tbad\x07\nline\x00 two").text == (
        "error:\tbad\nline two"
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("short\nand two lines", "short and two lines"),
        ("word " * 30, "word word word word word word…"),
        ("漢" * 40, "漢" * 29 + "…"),
        ("a " + "漢" * 40, "a " + "漢" * 27 + "…"),
    ],
)
def test_a_title_is_the_first_words(text: str, title: str) -> None:
    """Whole words where they fill half of the line, characters where they do not."""
    assert headline(text, 30) == title


def test_the_readme_example_runs(tmp_path: Path) -> None:
    """The Python example of the README works as it stands."""
    readme = Path(__file__).parents[1] / "README.md"
    example = readme.read_text("utf-8").split("```python\n")[1].split("```")[0]
    with open_kit(tmp_path, {"memories": contextkit_memories}) as kit:
        names: dict[str, Any] = {"kit": kit}
        exec(example, names)  # noqa: S102 - our own README
        assert names["memory"].category == "preferences"
        assert MemoryBook.of(kit).count() == 0


def test_what_looks_like_a_secret_is_stored_with_a_warning_or_refused(book: MemoryBook) -> None:
    """A program that does not say what it wants has it logged; the log has no secret."""
    with capture_logs() as logs:
        made = book.remember(f"password: {PASSWORD}")
        book.remember("Passwords are in the vault")
    assert logs == [
        {
            "event": "memory_looks_secret",
            "log_level": "warning",
            "id": made.id,
            "found": ["a password (line 1, from character 11)"],
        }
    ]
    with pytest.raises(SecretInMemoryError, match="seems to contain a password"):
        book.remember(f"the password is {PASSWORD}", keep_secret=False)
    assert book.remember("No secret", keep_secret=False).outcome == "stored"
    assert {memory.text for memory in book.list()} == {
        "No secret",
        "Passwords are in the vault",
        f"password: {PASSWORD}",
    }


def test_a_kept_secret_stays_and_an_imported_one_goes(tmp_path: Path) -> None:
    """The user's word counts for one memory, wherever it is rewritten; nothing else keeps any."""
    text = f"password: {PASSWORD}"
    with open_kit(tmp_path, {"memories": contextkit_memories}) as kit:
        book = MemoryBook.of(kit)
        made = book.remember(text)
        assert book.remember(text, tags=["vault"]).id == made.id
        [stored] = kit.records("memories").get(made.id)
        assert (stored.text, stored.fields["keep_secret"]) == (text, True)
        assert kit.redactor.records([stored]) == [stored]
        [other] = kit.records("memories").put([Record(id="mem_1", text=text)])
        assert other.text == "password: [secret: password]"
        plain = book.remember("Passwords are in the vault")
        assert "keep_secret" not in kit.records("memories").get(plain.id)[0].fields
