"""Strict mode: every filter has an index of its type, or the store filters itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from contextkit.embedding.choice import Embedders
from contextkit.models.record import Range, Record
from contextkit.models.records import Records
from contextkit.store.server import ServerStore
from tests.store.http_qdrant import STRICT, HttpQdrant

Note = Callable[..., Record]
START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def strict() -> Iterator[HttpQdrant]:
    """A server as Qdrant Cloud sets it up."""
    with HttpQdrant(strict=dict(STRICT)) as server:
        yield server


@pytest.fixture
def store(strict: HttpQdrant, embedders: Embedders, note: Note) -> Iterator[ServerStore]:
    """A store there, with ten notes."""
    store = ServerStore.connect(strict.url, embedders)
    store.put(
        [
            note(
                str(n),
                f"harbour {n}",
                fields={
                    "kind": "ab"[n % 2],
                    "size": n,
                    "share": n / 2,
                    "done": n < 5,
                    "due": (START + timedelta(days=n)).isoformat(),
                },
            )
            for n in range(10)
        ]
    )
    yield store
    store.close()


def _ids(store: ServerStore, **filters: object) -> str:
    found = "".join(sorted(each.id for each in store.scan("notes", ["p"], filters)))
    assert store.count("notes", ["p"], filters) == len(found)
    hits = Records(store, "notes", "p").search_sync("harbour", limit=20, filters=filters)
    assert "".join(sorted(hit.record.id for hit in hits)) == found
    return found


def test_each_filter_has_an_index_of_its_values_type(
    store: ServerStore, strict: HttpQdrant
) -> None:
    """Fields need no declaration, and are indexed on their first use."""
    assert _ids(store, kind="a") == "02468"
    assert _ids(store, size=3) == "3"
    assert _ids(store, share=Range(lt=1)) == "01"
    assert _ids(store, done=True) == "01234"
    assert _ids(store, due=Range(gte=START + timedelta(days=8))) == "89"
    assert _ids(store, gone=None) == "0123456789"
    made = {key: strict.kind(key) for key in strict.indexes if key.startswith("fields.")}
    assert made == {
        "fields.kind": "keyword",
        "fields.size": "integer",
        "fields.share": "float",
        "fields.done": "bool",
        "fields.due": "datetime",
        "fields.gone": "bool",
    }


def test_whole_numbers_and_ranges_share_an_index(store: ServerStore, strict: HttpQdrant) -> None:
    """A range makes the index of a field one of floats, which whole numbers are found in, too."""
    assert _ids(store, size=[3, 4]) == "34"
    assert strict.kind("fields.size") == "integer"
    assert _ids(store, size=Range(gt=7)) == "89"
    assert strict.kind("fields.size") == "float"
    assert _ids(store, size=3) == "3"
    assert _ids(store, size=[3, 4]) == "34"
    assert strict.kind("fields.size") == "float"


def test_filters_without_room_for_an_index_are_applied_by_the_store(
    store: ServerStore, strict: HttpQdrant
) -> None:
    """Once there are a hundred, other fields are filtered, searched and deleted by the same."""
    for number in range(120):
        store.count("notes", ["p"], {f"unused{number}": "x"})
    assert len(strict.indexes) == 100
    assert _ids(store, kind="a") == "02468"
    assert _ids(store, size=Range(gt=7), done=False) == "89"
    assert [each.id for each in store.newest("notes", ["p"], {"size": 3}, 5)] == ["3"]
    store.delete_where("notes", ["p"], {"kind": "a"})
    assert _ids(store) == "13579"
    store.delete_where("notes", ["p"], {"kind": "nothing"})
    assert _ids(store) == "13579"


def test_two_sources_may_filter_one_field_by_other_types(
    store: ServerStore, strict: HttpQdrant
) -> None:
    """The field's index stays, and the other source's filter is applied by the store."""
    other = Records(store, "plain", "p")
    other.put([Record(id=str(n), text="quay", fields={"kind": n}) for n in range(3)])
    for _ in range(2):
        assert _ids(store, kind="b") == "13579"
        assert [record.id for record in other.scan({"kind": 2})] == ["2"]
    made = [
        request for request in strict.requests if request.startswith("PUT") and "/index" in request
    ]
    assert len(made) == len(strict.indexes)


def test_strict_mode_that_is_switched_on_later_is_noticed(embedders: Embedders, note: Note) -> None:
    """A running store makes the index and asks again."""
    with HttpQdrant() as server:
        store = ServerStore.connect(server.url, embedders)
        store.put([note("a", fields={"kind": "x"})])
        assert store.count("notes", ["p"], {"kind": "x"}) == 1
        assert "fields.kind" not in server.indexes
        server.strict = dict(STRICT)
        assert store.count("notes", ["p"], {"kind": "x"}) == 1
        assert server.kind("fields.kind") == "keyword"
        store.close()


def test_a_key_that_may_not_make_indexes_still_filters(
    store: ServerStore, strict: HttpQdrant
) -> None:
    """One event says that the filter is slow."""
    strict.strict["max_payload_index_count"] = len(strict.indexes)
    with capture_logs() as logs:
        for _ in range(2):
            assert store.count("notes", ["p"], {"kind": "a"}) == 5
    assert [entry["event"] for entry in logs] == ["index_not_made"]


def test_low_limits_divide_requests(strict: HttpQdrant, store: ServerStore, note: Note) -> None:
    """Pages, writes, searches and conditions are as small as strict mode wants them."""
    strict.strict |= {
        "max_query_limit": 25,
        "upsert_max_batchsize": 30,
        "search_max_batchsize": 1,
        "condition_max_size": 2,
        "search_allow_exact": False,
    }
    store.close()
    store.put([note(f"n{n}", "pier", created_at=START) for n in range(70)])
    assert store.count("notes", ["p"], {}) == 80
    assert len(list(store.scan("notes", ["p"], {}))) == 80
    assert len({each.id for each in store.newest("notes", ["p"], {}, 77)}) == 77
    assert len(store.newest("notes", ["p"], {}, 1000)) == 80
    assert store.count("notes", ["p"], {"kind": ["x", "a", "y", "b", "z"]}) == 10
    assert len(Records(store, "notes", "p").search_sync("pier", limit=20)) == 20
