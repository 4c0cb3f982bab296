"""A server that is busy, restarts, breaks connections or is too old."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest
from structlog.testing import capture_logs

from contextkit.config.sections import StoreSettings
from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.errors import StoreError
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.server import ServerStore
from tests.store.faulty_qdrant import (
    PASSING,
    Fault,
    FaultyQdrant,
    reset_after,
    slow,
    too_many,
)
from tests.store.http_qdrant import HttpQdrant

Note = Callable[..., Record]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated request follows at once."""
    monkeypatch.setattr("contextkit.store.server_retry._FIRST_WAIT", 0.001)


def _store(server: HttpQdrant, embedders: Embedders, **settings: float) -> ServerStore:
    return ServerStore.connect(server.url, embedders, settings=StoreSettings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: fault.__name__)
def test_nothing_acknowledged_is_lost(embedders: Embedders, note: Note, fault: Fault) -> None:
    """Every second request fails once; each operation succeeds, and applies once."""
    with FaultyQdrant([fault], each=2) as server:
        store = _store(server, embedders)
        store.put([note(str(n), f"harbour {n}") for n in range(20)])
        store.delete([note("0").point_id])
        store.delete_where("notes", ["p"], {"gone": 1})
        assert sorted(int(each.id) for each in store.scan("notes", ["p"], {})) == list(range(1, 20))
        assert len(Records(store, "notes", "p").search_sync("harbour 7")) > 1
        assert store.count(None, None, {}) == 19
        assert server.failed > 5
        store.close()


def test_the_collection_is_made_once_whatever_is_repeated(embedders: Embedders, note: Note) -> None:
    """Creating it and its vectors succeeds if only the answers are lost."""
    with FaultyQdrant([reset_after], each=2) as server:
        store = _store(server, embedders)
        first = store.identity
        store.put([note("a")])
        store.close()
        assert store.identity.id == first.id
        store.close()


def test_a_server_that_stays_down_is_one_clear_error(embedders: Embedders, note: Note) -> None:
    """Writes are repeated for `retry_timeout`, searches for `timeout`; both name the cause."""
    with FaultyQdrant() as server:
        store = _store(server, embedders, timeout=0.2, retry_timeout=1.5)
        store.put([note("a", "harbour")])
        server.down = True
        started = time.monotonic()
        with capture_logs() as logs, pytest.raises(StoreError) as refused:
            store.put([note("b")])
        assert time.monotonic() - started < 3
        assert re.fullmatch(
            r"the store at http://\S+: it is overloaded or restarting, try later; it answered 503: "
            r"no server is available \(repeated for [12] s\)",
            str(refused.value),
        )
        assert [entry["event"] for entry in logs] == ["server_busy"]
        started = time.monotonic()
        with pytest.raises(StoreError, match="overloaded or restarting"):
            Records(store, "notes", "p").search_sync("harbour")
        assert time.monotonic() - started < 1.5
        server.down = False
        assert store.count(None, None, {}) == 1
        store.close()


def test_the_time_that_a_server_asks_for_is_waited(embedders: Embedders, note: Note) -> None:
    """`Retry-After` counts; one beyond the time limit fails at once."""
    with FaultyQdrant() as server:
        store = _store(server, embedders)
        store.prepare()
        server.fail(too_many("1"))
        started = time.monotonic()
        assert store.count(None, None, {}) == 0
        assert 1 <= time.monotonic() - started < 2
        server.fail(too_many("3600"))
        with pytest.raises(StoreError, match="overloaded, try later; it says: Rate limit"):
            store.count(None, None, {})
        store.close()


def test_a_slow_server_is_an_error_after_the_time_limit(embedders: Embedders) -> None:
    """A search gives up after `timeout`, and the next one works."""
    with FaultyQdrant() as server:
        store = _store(server, embedders, timeout=1.0)
        records = Records(store, "notes", "p")
        records.put([Record(id="a", text="harbour")])
        server.fail(slow(1.5))
        with pytest.raises(StoreError, match="did not answer in time"):
            records.search_sync("harbour")
        assert len(records.search_sync("harbour")) == 1
        store.close()


@pytest.mark.parametrize("content", [b"<html>", b"[1]"])
def test_an_answer_that_is_no_qdrants_is_an_error(embedders: Embedders, content: bytes) -> None:
    """A first answer that is not JSON, or not of the form, is not repeated."""

    def other(_: FaultyQdrant, handler: BaseHTTPRequestHandler, __: object) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(content)

    with FaultyQdrant([other], each=1) as server:
        store = _store(server, embedders)
        with pytest.raises(StoreError, match="it is not a Qdrant server"):
            store.count(None, None, {})
        assert server.failed == 1


def test_a_server_that_is_too_old_is_refused(embedders: Embedders) -> None:
    """Nothing is created there."""
    with HttpQdrant(version="1.10.1") as server:
        with pytest.raises(StoreError, match=r"is Qdrant 1\.10\.1: upgrade it to 1\.11 or later"):
            _store(server, embedders).prepare()
        assert server.requests == ["GET /"]


def test_an_old_server_works_and_says_what_it_lacks(note: Note) -> None:
    """Records are stored and found; one log event tells to upgrade."""
    with HttpQdrant(version="1.16.0") as server, capture_logs() as logs:
        store = _store(server, OneEmbedder(load_embedder("wordllama")))
        store.put([note("a", "harbour")])
        assert len(Records(store, "notes", "p").search_sync("harbour")) == 1
        store.close()
    [entry] = [entry for entry in logs if entry["event"] == "server_outdated"]
    assert "word frequencies per source" in entry["reason"]
