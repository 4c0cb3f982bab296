"""Records: what can be stored, and what a source sees of the store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit import USER, Hit, Range, Record, Records
from contextkit.errors import RecordError
from contextkit.models.record import Search
from contextkit.testing import open_records


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """A source's records in a real store, without dense vectors."""
    with open_records(tmp_path / "store", "tide", model="none") as records:
        yield records


def record(id: str, text: str = "high water", **fields: Any) -> Record:  # noqa: A002
    """A record."""
    return Record(id=id, text=text, **fields)


# -- what a record is -----------------------------------------------------------------------


def test_a_point_is_a_sources_records_of_one_project() -> None:
    """The same id elsewhere is another record, and a separator in a name makes no difference."""
    one = record("1", source="a", project="p")
    others = [
        evolve(one, id="2"),
        evolve(one, source="b"),
        evolve(one, project="q"),
        evolve(one, project=USER),
    ]
    assert len({one.point_id, *(other.point_id for other in others)}) == 5
    assert evolve(one, text="other").point_id == one.point_id


def test_what_is_no_text_is_no_records_id(records: Records) -> None:
    """It comes of an argument that is not UTF-8, and of half an emoji."""
    records.put([record("caf\\udce9"), record("caf?")])
    assert records.get("caf\udce9") == []
    records.delete("caf\udce9")
    assert records.count() == 2


def test_dates_are_kept_in_utc() -> None:
    """One moment, one value; without a time zone it is none."""
    there = datetime(2026, 7, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert record("1", created_at=there).created_at == datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert record("1", created_at=there).created_at.tzinfo is UTC
    assert record("1").created_at.tzinfo is UTC
    with pytest.raises(RecordError, match="created_at must carry a time zone, got 2026"):
        record("1", created_at=datetime(2026, 7, 1))  # noqa: DTZ001


GOOD_FIELDS: dict[str, Any] = {
    "none": None,
    "yes": True,
    "int": -(2**63),
    "float": 0.5,
    "text": "Ä 😀",
    "list": [1, ["x", {"y": None}]],
    "tuple": ("a", 2),
    "map": {"": {}},
}


def test_json_values_can_be_stored() -> None:
    """Every kind of them."""
    one = record("1", source="tide", fields=GOOD_FIELDS)
    assert one.checked() is one


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"id": ""}, "a record needs an id and a source"),
        ({"source": ""}, "a record needs an id and a source"),
        ({"id": "\ud800"}, "id: character 0 is half a surrogate pair"),
        ({"text": "ab\udc80"}, "text: character 2 is half a surrogate pair"),
        ({"keywords": "\ud800"}, "keywords: character 0"),
        ({"project": "\ud800"}, "project: character 0"),
        ({"fields": {"a": float("nan")}}, "fields.a: nan is not a finite number"),
        ({"fields": {"a": [1, float("-inf")]}}, "fields.a[1]: -inf is not a finite number"),
        ({"fields": {"a": 2**63}}, "fields.a: 9223372036854775808 does not fit in 64 bits"),
        ({"fields": {"a": {1: 2}}}, "fields.a: the key 1 is not a string"),
        ({"fields": {"a\ud800": 2}}, "fields: character 1 is half a surrogate pair"),
        ({"fields": {"a": {"b": b"x"}}}, "fields.a.b: a bytes is not a JSON value"),
        ({"fields": {"a": {1}}}, "fields.a: a set is not a JSON value"),
        ({"fields": {"a": Path()}}, "fields.a: a PosixPath is not a JSON value"),
        ({"text": 3}, "is not text"),
    ],
)
def test_what_cannot_be_stored_is_named(changes: dict[str, Any], where: str) -> None:
    """Record, field and what is wrong with it."""
    with pytest.raises(RecordError) as caught:
        evolve(record("1", source="tide"), **changes).checked()
    assert where in str(caught.value)


def test_fields_without_end_are_refused() -> None:
    """Nested as deep as anybody needs, and no deeper."""

    def nested(levels: int) -> Any:
        value: Any = "deep"
        for level in range(levels):
            value = [value] if level % 2 else {"in": value}
        return value

    assert record("1", source="tide", fields={"a": nested(60)}).checked()
    with pytest.raises(RecordError, match="nested deeper than 64 levels"):
        record("1", source="tide", fields={"a": nested(5000)}).checked()


# -- a source's view of the store -----------------------------------------------------------


def test_what_is_put_can_be_got(records: Records) -> None:
    """Bound to the source and the project, fields and all; a second put replaces it."""
    (stored,) = records.put([record("1", fields={"harbour": "Kiel", "depth": 3.5})])
    assert (stored.source, stored.project) == ("tide", "p")
    assert records.get("1", "none") == [stored]
    (replaced,) = records.put([record("1", "low water")])
    assert records.get("1") == [replaced]
    assert records.count() == 1
    assert records.put([]) == []


def test_nothing_is_stored_where_one_record_cannot_be(records: Records) -> None:
    """All or none."""
    with pytest.raises(RecordError):
        records.put([record("1"), record("2", fields={"a": float("nan")})])
    assert records.count() == 0


def test_a_project_sees_its_own_and_the_users(records: Records) -> None:
    """Nothing else crosses projects or sources; writes go where they were meant to."""
    records.put([record("mine")])
    records.shared.put([record("users")])
    evolve(records, project="other").put([record("others")])
    evolve(records, source="moon").put([record("moons")])
    assert sorted(r.id for r in records.scan()) == ["mine", "users"]
    assert sorted(r.id for r in records.shared.scan()) == ["users"]
    assert [r.id for r in records.get("mine", "users", "others", "moons")] == ["mine", "users"]
    assert records.count() == 2
    assert records.shared.count() == 1
    assert sorted(hit.record.id for hit in records.search_sync("high water")) == ["mine", "users"]


async def test_other_sources_records_can_be_read(records: Records) -> None:
    """Those of the same project and the user's, in every way of reading; none can be written."""
    moons = evolve(records, source="moon")
    moons.put([record("moons")])
    moons.shared.put([record("users")])
    evolve(moons, project="other").put([record("others")])
    records.put([record("mine")])
    view = records.others("moon")
    assert (view.source, view.project) == ("moon", records.project)
    assert sorted(r.id for r in view.scan()) == ["moons", "users"]
    assert [r.id for r in view.get("moons", "mine")] == ["moons"]
    assert (view.count(), len(view.newest(5))) == (2, 2)
    assert sorted(hit.record.id for hit in await view.search("high water")) == ["moons", "users"]
    assert [r.id for r in view.others("tide").get("mine")] == ["mine"]
    assert not any(hasattr(view, name) for name in ("put", "delete", "delete_where", "shared"))
    assert records.others("nobody").count() == 0


def test_deleting(records: Records) -> None:
    """By id, also the user's; by filter, the project's alone."""
    records.put([record("1", fields={"day": "mon"}), record("2"), record("3")])
    records.shared.put([record("u", fields={"day": "mon"}), record("v")])
    assert records.delete("2", "u", "none") == 2
    assert records.delete("none") == 0
    records.shared.put([record("u", fields={"day": "mon"})])
    records.delete_where({"day": "mon"})
    assert sorted(r.id for r in records.scan()) == ["3", "u", "v"]


def test_the_newest_come_first(records: Records) -> None:
    """The user's among them, no more than were asked for."""
    start = datetime(2026, 7, 1, tzinfo=UTC)
    for number in range(4):
        target = records.shared if number == 2 else records
        target.put([record(f"{number}", created_at=start + timedelta(days=number))])
    assert [r.id for r in records.newest(3)] == ["3", "2", "1"]
    after = {"created_at": Range(lt=start + timedelta(days=2))}
    assert [r.id for r in records.newest(3, after)] == ["1", "0"]


def test_filters_hold_for_every_reading(records: Records) -> None:
    """Values, lists of values and ranges."""
    records.put(
        [record(f"{n}", fields={"n": n, "day": day}) for n, day in enumerate(("a", "b", "c"))]
    )
    assert [r.id for r in records.scan({"day": "b"})] == ["1"]
    assert records.count({"day": ["a", "b"]}) == 2
    assert records.count({"n": Range(gte=1, lt=2)}) == 1
    assert [h.record.id for h in records.search_sync("high water", filters={"n": 2})] == ["2"]
    assert len(records.search_sync("high water", limit=2)) == 2


async def test_an_asynchronous_search_does_not_block_the_event_loop(records: Records) -> None:
    """Other tasks go on while the store is asked, also without an assembly around it."""
    records.put([record("1")])
    turn = threading.Event()

    class Waiting:
        """A store that answers when the event loop has gone on."""

        def search(self, searches: list[Search]) -> list[list[Hit]]:
            assert turn.wait(20)
            return records._store.search(searches)

    waiting = Records(Waiting(), "tide", "p")  # type: ignore[arg-type]
    searching = asyncio.create_task(waiting.search("high water"))
    await asyncio.sleep(0)
    turn.set()
    assert [hit.record.id for hit in await searching] == ["1"]


async def test_a_search_asks_the_searcher_it_was_given(records: Records) -> None:
    """So that the searches of one assembly can travel together."""
    asked: list[Search] = []

    async def searcher(search: Search) -> list[Hit]:
        asked.append(search)
        return []

    bound = evolve(records, searcher=searcher)
    assert await bound.search("x", limit=3, filters={"day": "a"}) == []
    assert asked == [
        Search(
            query="x",
            source="tide",
            projects=("p", USER),
            limit=3,
            filters={"day": "a"},
        )
    ]
