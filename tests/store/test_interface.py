"""What every store does alike: records in, out, counted, deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from contextkit.concurrency import in_thread
from contextkit.errors import RecordError, StoreError
from contextkit.models.record import USER, Range, Record, Search
from contextkit.models.records import Records
from contextkit.store.base import RecordStore

pytestmark = pytest.mark.disk

Note = Callable[..., Record]
START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def _ids(records: list[Record]) -> list[str]:
    return [record.id for record in records]


def _matching(store: RecordStore, filters: dict[str, object]) -> list[str]:
    return sorted(_ids(list(store.scan("notes", ["p"], filters))))


def test_a_record_comes_back_as_it_was(store: RecordStore, note: Note) -> None:
    """Text, keywords, time and every kind of field survive."""
    record = note(
        "weird \u2028 id/äß\U0001f600",
        "line\r\n\ttext \x00 中文 \U0001f9d1\u200d\U0001f680",
        keywords="a b",
        created_at=START,
        fields={
            "int": 2**63 - 1,
            "low": -(2**63),
            "float": 0.1 + 0.2,
            "whole": 1.0,
            "tiny": 5e-324,
            "large": 1.7976931348623157e308,
            "none": None,
            "yes": True,
            "list": [1, "a", None, [], {}],
            "nested": {"": {"käy": [1.5]}},
            "empty": "",
        },
    )
    store.put([record])
    [back] = store.get([record.point_id])
    assert back == record
    assert repr(dict(back.fields)) == repr(dict(record.fields))


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_deep_fields_are_kept_or_refused(store: RecordStore) -> None:
    """What an engine could not read back would cost all the other records."""
    records = Records(store, "notes", "p")
    records.put([Record(id="a", text="", fields={"deep": _nested(63)})])
    assert records.get("a")[0].fields["deep"] == _nested(63)
    for levels in (64, 900):
        with pytest.raises(RecordError, match="nested deeper than 64 levels"):
            records.put([Record(id="b", text="", fields={"deep": _nested(levels)})])
    assert len(list(records.scan())) == 1


def test_get_keeps_the_order_and_leaves_out_what_is_missing(store: RecordStore, note: Note) -> None:
    """Points come in the order they were asked for."""
    store.put([note(name, name) for name in "abc"])
    points = [note(name).point_id for name in ("c", "nothing", "a")]
    assert _ids(store.get(points)) == ["c", "a"]
    assert store.get([]) == []


def test_put_replaces_a_record_of_the_same_id(store: RecordStore, note: Note) -> None:
    """The newer record is the only one of its id, in its fields and in its words."""
    for text, fields in (("alpha", {"n": 1, "old": True}), ("beta", {"n": 2})):
        store.put([Record(id="a", text=text, fields=fields, source="plain", project="p")])
    [back] = store.scan(None, None, {})
    assert (back.text, dict(back.fields)) == ("beta", {"n": 2})
    records = Records(store, "plain", "p")
    assert records.search_sync("alpha") == []
    assert len(records.search_sync("beta")) == 1


def test_put_of_nothing_and_delete_of_nothing_do_nothing(store: RecordStore) -> None:
    """Empty sequences are harmless."""
    store.put([])
    store.delete([])
    assert store.count(None, None, {}) == 0


def test_delete_passes_over_what_is_not_there(store: RecordStore, note: Note) -> None:
    """Only the named points go."""
    store.put([note("a"), note("b")])
    store.delete([note("a").point_id, note("x").point_id])
    assert _matching(store, {}) == ["b"]


def test_delete_where_takes_only_what_matches(store: RecordStore, note: Note) -> None:
    """Other projects, sources and values stay."""
    store.put(
        [
            note("a", fields={"kind": "x"}),
            note("b", fields={"kind": "y"}),
            note("c", project="q", fields={"kind": "x"}),
            Record(id="d", text="", source="others", project="p", fields={"kind": "x"}),
        ]
    )
    store.delete_where("notes", ["p"], {"kind": "x"})
    assert sorted(_ids(list(store.scan(None, None, {})))) == ["b", "c", "d"]


def test_scan_goes_through_many_pages(store: RecordStore, note: Note) -> None:
    """More records than any page has come out once each."""
    store.put([note(str(n), f"note {n}") for n in range(1300)])
    found = _ids(list(store.scan("notes", ["p"], {})))
    assert len(found) == 1300
    assert set(found) == {str(n) for n in range(1300)}
    assert store.count("notes", None, {}) == 1300


def test_filters_follow_every_write(store: RecordStore, note: Note) -> None:
    """A field's values are kept for the next question, but never beyond a write."""
    wanted: dict[str, object] = {"kind": ["x", "z"], "tags": "new", "done": True}

    def matching() -> list[str]:
        search = Search(query="note", source="notes", projects=("p",), filters=wanted)
        ways = [
            _matching(store, wanted),
            _ids(store.newest("notes", ["p"], wanted, 9)),
            _ids([hit.record for hit in store.search([search])[0]]),
        ]
        [found] = {tuple(sorted(way)) for way in ways}
        assert store.count("notes", ["p"], wanted) == len(found)
        return list(found)

    def put(name: str, **fields: object) -> None:
        store.put([note(name, f"note {name}", fields=fields)])

    put("a", kind="x", tags=["new", "old"], done=True)
    assert matching() == ["a"]
    put("b", kind="z", tags=["new"], done=True)
    put("c", kind="z", tags=["new"], done=1)
    assert matching() == ["a", "b"]
    put("a", kind="y", tags=["new"], done=True)
    assert matching() == ["b"]
    put("c", kind="x", tags="new", done=True)
    store.delete([note("b").point_id])
    assert matching() == ["c"]
    store.delete_where("notes", ["p"], {"kind": "x"})
    assert matching() == []


def test_an_unfinished_scan_leaves_the_store_free(store: RecordStore, note: Note) -> None:
    """Who stops reading in the middle holds nobody up, and may write meanwhile."""
    store.put([note(str(n)) for n in range(1300)])
    scan = store.scan(None, None, {})
    next(scan)
    store.put([note("new")])
    store.close()
    assert store.count(None, None, {}) == 1301
    assert len(list(scan)) >= 1299


def test_scan_sees_every_source_and_project_when_asked_for_any(
    store: RecordStore, note: Note
) -> None:
    """None means any; the store's own notes on itself are no records."""
    store.put([note("a"), note("b", project=USER), note("c", project="q")])
    store.put([Record(id="a", text="", source="others", project="p")])
    assert len(list(store.scan(None, None, {}))) == 4
    assert store.count(None, ["p"], {}) == 2
    assert store.count("notes", None, {}) == 3
    assert store.count("notes", [], {}) == 0


def test_newest_comes_first(store: RecordStore, note: Note) -> None:
    """By the time of creation, not of storing; ties in a stable order."""
    order = [3, 0, 4, 1, 2]
    store.put([note(str(n), created_at=START + timedelta(microseconds=n)) for n in order])
    assert _ids(store.newest("notes", ["p"], {}, 3)) == ["4", "3", "2"]
    assert store.newest("notes", ["p"], {}, 0) == []
    assert len(store.newest("notes", ["p"], {}, 10**12)) == 5


def test_newest_of_one_moment_has_a_stable_order(store: RecordStore, note: Note) -> None:
    """Records of one commit or one import do not change places."""
    store.put([note(str(n), created_at=START) for n in range(30)])
    first = _ids(store.newest("notes", ["p"], {}, 30))
    assert first == _ids(store.newest("notes", ["p"], {}, 30))
    assert sorted(first, key=int) == [str(n) for n in range(30)]


FILTERED: list[tuple[dict[str, object], list[str]]] = [
    ({"kind": "x"}, ["a", "c"]),
    ({"kind": "nothing"}, []),
    ({"kind": ["y", "nothing"]}, ["b"]),
    ({"kind": ("x", "y")}, ["a", "b", "c"]),
    ({"kind": {"y"}}, ["b"]),
    ({"number": 2}, ["b"]),
    ({"number": [1, 3]}, ["a", "c"]),
    ({"kind": ["y", 1]}, ["b"]),
    ({"yes": True}, ["a"]),
    ({"yes": [True, False]}, ["a", "b"]),
    ({"yes": False, "kind": "y"}, ["b"]),
    ({"number": Range(gte=2)}, ["b", "c"]),
    ({"number": Range(gt=1, lt=3)}, ["b"]),
    ({"number": Range(gte=1.5, lte=2.5)}, ["b"]),
    ({"tags": "red"}, ["a", "b"]),
    ({"nested.deep": "z"}, ["c"]),
    ({"with space": 1}, ["c"]),
    ({"größe": 5}, ["c"]),
    ({"created_at": Range(gte=START + timedelta(hours=1))}, ["b", "c"]),
    ({"created_at": Range(gt=START, lt=START + timedelta(hours=2))}, ["b"]),
    ({"created_at": Range(lte=START)}, ["a"]),
    ({"created_at": Range(lt=START)}, []),
    ({"kind": "x", "number": Range(lt=3)}, ["a"]),
    ({"yes": None}, ["c"]),
    ({"kind": "x", "tags": None}, ["c"]),
    ({"nothing": None}, ["a", "b", "c"]),
]


@pytest.fixture(scope="module")
def filterable(shared_store: RecordStore, note: Note) -> RecordStore:
    """A store with three notes of different fields, an hour apart."""
    fields: list[dict[str, object]] = [
        {"kind": "x", "number": 1, "yes": True, "tags": ["red", "blue"]},
        {"kind": "y", "number": 2, "yes": False, "tags": ["red"]},
        {"kind": "x", "number": 3, "nested": {"deep": "z"}, "with space": 1, "größe": 5},
    ]
    shared_store.put(
        [
            note(name, fields=fields[n], created_at=START + timedelta(hours=n))
            for n, name in enumerate("abc")
        ]
    )
    return shared_store


@pytest.mark.parametrize(("filters", "expected"), FILTERED, ids=str)
def test_filters_select(
    filterable: RecordStore, filters: dict[str, object], expected: list[str]
) -> None:
    """A value, any of several, a range of numbers or of times; all conditions hold."""
    assert _matching(filterable, filters) == expected
    assert filterable.count("notes", ["p"], filters) == len(expected)
    assert sorted(_ids(filterable.newest("notes", ["p"], filters, 9))) == expected


@pytest.mark.parametrize(
    "wanted",
    [
        1.5,
        [],
        [1.5],
        [None],
        {"a": 1},
        2**63,
        Range(),
        Range(gte=float("nan")),
        Range(gte=float("inf")),
        Range(gte=datetime(2026, 1, 1)),  # noqa: DTZ001
        Range(gte=1, lt=START),
    ],
    ids=repr,
)
def test_a_filter_that_no_store_can_compare_is_refused(
    filterable: RecordStore, wanted: object
) -> None:
    """The error names the filter."""
    with pytest.raises(RecordError, match="filter size"):
        filterable.count("notes", ["p"], {"size": wanted})


@pytest.mark.parametrize("name", ["", 'a"b'])
def test_a_filter_on_an_impossible_name_is_refused(filterable: RecordStore, name: str) -> None:
    """A name that no path can hold is an error, not a wrong answer."""
    with pytest.raises(RecordError, match="expected the name of a field"):
        filterable.count("notes", ["p"], {name: 1})


def test_projects_do_not_see_each_other_and_all_see_the_user(store: RecordStore) -> None:
    """Records of one project stay there; the user's own are seen everywhere."""
    here, there = Records(store, "notes", "here"), Records(store, "notes", "there")
    here.put([Record(id="a", text="deploy key of here")])
    there.put([Record(id="a", text="deploy key of there")])
    here.shared.put([Record(id="u", text="deploy key of mine")])
    assert sorted(r.text[14:] for r in here.scan()) == ["here", "mine"]
    assert {hit.record.project for hit in there.search_sync("deploy key")} == {"there", USER}
    assert _ids(here.get("a", "u")) == ["a", "u"]
    assert here.delete("a", "missing") == 1
    assert there.count() == 2
    here.delete_where({})
    assert here.count() == 1


async def test_work_begun_before_a_close_does_not_open_the_store_again(store: RecordStore) -> None:
    """Its thread gets an error; the next one, and a thread of the host's own, get an answer."""

    def count() -> int:
        return store.count(None, None, {})

    def close_and_count() -> int:
        store.close()
        return count()

    assert await in_thread(count) == 0
    with pytest.raises(StoreError, match="was closed during this query: ask again"):
        await in_thread(close_and_count)
    assert await in_thread(count) == 0
    assert close_and_count() == 0


def test_identity_stays_and_a_closed_store_opens_again(store: RecordStore, note: Note) -> None:
    """The id is the store's for good."""
    first = store.identity
    store.put([note("a")])
    store.close()
    store.close()
    assert store.identity.id == first.id
    assert store.identity.sources == {"notes": "wordllama-256"}
    assert store.problem is None
    assert store.count(None, None, {}) == 1


def test_hold_keeps_several_operations_together(store: RecordStore, note: Note) -> None:
    """Within a hold, and within a second one, everything works."""
    store.prepare()
    with store.hold(), store.hold():
        store.put([note("a")])
        assert store.count(None, None, {}) == 1
