"""Memories by their ids: new ones, short ones, unknown ones, and those that are forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contextkit import Record, Records
from contextkit.sources import AmbiguousEntryError
from contextkit_memories import MemoryBook, UnknownMemoryError


def test_ids_sort_by_time_and_never_meet(book: MemoryBook) -> None:
    """An older memory has a smaller id; memories of one moment have different ones."""
    moment = datetime(2025, 1, 1, tzinfo=UTC)
    late = book.remember("late", created_at=moment + timedelta(milliseconds=2000))
    ids = {book.remember(f"fact {number}", created_at=moment).id for number in range(400)}
    assert len(ids) == 400
    assert max(ids) < late.id
    assert all(len(one) == 16 and one.startswith("mem_") for one in ids)


def test_a_taken_id_is_never_overwritten(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where chance repeats itself the next millisecond's id is used."""
    monkeypatch.setattr("secrets.randbits", lambda bits: 7)
    book = MemoryBook(records)
    moment = datetime(2025, 1, 1, tzinfo=UTC)
    first, second = (book.remember(text, created_at=moment) for text in ("one", "two"))
    assert first.id < second.id
    assert [book.get(memory.id).text for memory in (first, second)] == ["one", "two"]


@pytest.mark.parametrize("year", [1, 1969])
def test_a_memory_may_be_older_than_the_clock(book: MemoryBook, year: int) -> None:
    """Times before 1970 are kept, though the id counts from there."""
    memory = book.remember("long ago", created_at=datetime(year, 6, 1, tzinfo=UTC))
    assert memory.id.startswith("mem_000000000")
    assert book.get(memory.id).created_at.year == year


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param(lambda whole: whole, id="whole"),
        pytest.param(lambda whole: whole[:-3], id="beginning"),
        pytest.param(lambda whole: whole.removeprefix("mem_"), id="no prefix"),
        pytest.param(lambda whole: f" {whole.upper()} ", id="upper case"),
        pytest.param(lambda whole: whole.replace("1", "l").replace("0", "O"), id="lookalike"),
    ],
)
def test_an_id_may_be_typed_in_short(book: MemoryBook, typed: Any) -> None:
    """The beginning, other case, no prefix and lookalike letters all find it."""
    memory = book.remember("this one", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    book.remember("another", created_at=datetime(2021, 1, 1, tzinfo=UTC))
    assert book.get(typed(memory.id)) == memory


@pytest.mark.parametrize("asked", ["mem_zzz", "", " ", "m", "mem_", "MEM", "\udcff", "a\0b", "é"])
def test_an_unknown_id_is_named(book: MemoryBook, asked: str) -> None:
    """An id that is no memory's is an error, also one that would fit every memory."""
    book.remember("something")
    with pytest.raises(UnknownMemoryError) as caught:
        book.get(asked)
    assert (caught.value.id, caught.value.exit_code) == (asked, 5)
    assert repr(asked) in str(caught.value)
    str(caught.value).encode()


def test_an_ambiguous_beginning_lists_what_it_fits(book: MemoryBook) -> None:
    """The error names the memories that the beginning fits, oldest first, five of them."""
    moments = [datetime(2025, 1, 1, 0, 0, second, tzinfo=UTC) for second in range(7)]
    ids = [
        book.remember(f"fact {second}", created_at=moment).id
        for second, moment in enumerate(moments)
    ]
    with pytest.raises(AmbiguousEntryError) as caught:
        book.forget(ids[0][:9])
    assert caught.value.matches == ids
    assert f"fits 7 memories: {ids[0]} (fact 0), " in str(caught.value)
    assert "and 2 more; type more of it" in str(caught.value)
    assert book.count() == 7


def test_a_record_of_another_make_can_be_shown_and_forgotten(
    book: MemoryBook, records: Records
) -> None:
    """Imported records keep their own ids; fields that they lack have their defaults."""
    records.put([Record(id="Note-1", text="imported")])
    assert book.get("Note-1").category == "facts"
    assert [memory.id for memory in book.forget("Note")] == ["Note-1"]
    assert book.list() == []


@pytest.mark.parametrize("odd", [None, 5, "x", [5], {"a": 1}, True])
def test_imported_records_do_no_harm(book: MemoryBook, records: Records, odd: Any) -> None:
    """Fields of other types have their defaults."""
    fields = dict.fromkeys(("category", "importance", "tags", "sequence", "position"), odd)
    records.put([Record(id="odd", text="imported", fields=fields)])
    (found,) = book.list()
    assert found.category == ("x" if odd == "x" else "facts")
    assert found.importance == 0.5
    assert (found.tags, found.sequence) == ((), None)


def test_forgetting_deletes_and_tells_what(book: MemoryBook) -> None:
    """Each memory is returned once, and found no more."""
    one, two, three = (book.remember(text) for text in ("one", "two", "three"))
    assert book.forget(two.id, one.id, two.id) == [two, one]
    assert book.list() == [three]
    with pytest.raises(UnknownMemoryError):
        book.forget(one.id)


def test_forgetting_is_all_or_nothing(book: MemoryBook) -> None:
    """One wrong id among several, and nothing is forgotten."""
    kept = book.remember("kept")
    with pytest.raises(UnknownMemoryError):
        book.forget(kept.id, "mem_zzz")
    assert book.list() == [kept]


def test_a_forgotten_text_can_be_remembered_anew(book: MemoryBook) -> None:
    """Nothing of a forgotten memory comes back with its text."""
    first = book.remember("Tabs", importance=0.9)
    book.forget(first.id)
    second = book.remember("Tabs")
    assert (second.outcome, second.importance) == ("stored", 0.5)
