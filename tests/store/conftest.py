"""The stores under test: embedded, on a client's own memory, over HTTP, on a real server."""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from contextkit.embedding import Embedder, load_embedder
from contextkit.records import Record
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.server import ServerStore

_SERVER_URL = "CONTEXTKIT_TEST_QDRANT_URL"


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The default embedder, one for all tests."""
    return load_embedder()


@pytest.fixture
def embedded(tmp_path: Path, embedder: Embedder) -> Iterator[EmbeddedStore]:
    """An embedded store in a folder of its own."""
    store = EmbeddedStore(tmp_path / "store", embedder, indexed_fields=("kind",))
    yield store
    store.close()


def _memory(_: Path, embedder: Embedder) -> Iterator[RecordStore]:
    client = QdrantClient(":memory:")
    yield ServerStore(client, embedder, indexed_fields=("kind",))
    client.close()


def _embedded(path: Path, embedder: Embedder) -> Iterator[RecordStore]:
    store = EmbeddedStore(path / "store", embedder, indexed_fields=("kind",))
    yield store
    store.close()


def _http(_: Path, embedder: Embedder) -> Iterator[RecordStore]:
    with HttpQdrant() as server:
        store = ServerStore.connect(server.url, embedder, indexed_fields=("kind",))
        yield store
        store.close()


def _server(_: Path, embedder: Embedder) -> Iterator[RecordStore]:
    name = f"contextkit-test-{uuid.uuid4().hex}"
    store = ServerStore.connect(
        os.environ[_SERVER_URL],
        embedder,
        collection=name,
        api_key=os.environ.get("QDRANT_API_KEY"),
        indexed_fields=("kind",),
    )
    yield store
    store.client.delete_collection(name)
    store.close()


_MAKERS: dict[str, Callable[[Path, Embedder], Iterator[RecordStore]]] = {
    "embedded": _embedded,
    "memory": _memory,
    "http": _http,
}
if _SERVER_URL in os.environ:
    _MAKERS["server"] = _server


@pytest.fixture(params=list(_MAKERS))
def store(
    request: pytest.FixtureRequest, tmp_path: Path, embedder: Embedder
) -> Iterator[RecordStore]:
    """Each kind of store in turn, empty."""
    yield from _MAKERS[request.param](tmp_path, embedder)


@pytest.fixture(scope="module", params=list(_MAKERS))
def shared_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[RecordStore]:
    """Each kind of store in turn, one for all the tests of a module."""
    yield from _MAKERS[request.param](tmp_path_factory.mktemp("shared"), embedder)


@pytest.fixture
def http_qdrant() -> Iterator[HttpQdrant]:
    """The client's own engine behind HTTP, asking for the API key `secret`."""
    with HttpQdrant(api_key="secret") as server:
        yield server


@pytest.fixture(scope="session")
def note() -> Callable[..., Record]:
    """Makes a record of the source `notes`."""

    def make(id: str, text: str = "", project: str = "p", **rest: Any) -> Record:  # noqa: A002
        return Record(id=id, text=text, source="notes", project=project, **rest)

    return make


class HttpQdrant:
    """The part of a Qdrant server's HTTP interface that the store uses, with local data."""

    def __init__(self, api_key: str | None = None) -> None:
        self.client = QdrantClient(":memory:")
        self.api_key = api_key
        self.indexes: dict[str, Any] = {}
        self._turn = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> HttpQdrant:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.client.close()

    def answer(self, method: str, path: str, body: Any) -> Any:  # noqa: PLR0911
        """What the server says to one request."""
        _, _, name, *rest = path.partition("?")[0].split("/")
        match method, "/".join(rest):
            case "GET", "exists":
                return {"exists": self.client.collection_exists(name)}
            case "GET", "":
                info = self.client.get_collection(name)
                return {**info.model_dump(mode="json"), "payload_schema": self._schema()}
            case "PUT", "":
                wanted = models.CreateCollection(**body)
                return self.client.create_collection(
                    name,
                    vectors_config=wanted.vectors,
                    sparse_vectors_config=wanted.sparse_vectors,
                )
            case "DELETE", "":
                return self.client.delete_collection(name)
            case "PUT", "index":
                self.indexes[body["field_name"]] = body["field_schema"]
                return {"status": "completed", "operation_id": 0}
            case "PUT", "points":
                upsert = models.PointsList(**body)
                return self.client.upsert(name, upsert.points, update_mode=upsert.update_mode)
            case "POST", "points":
                return self.client.retrieve(name, models.PointRequest(**body).ids)
            case "POST", "points/scroll":
                scroll = models.ScrollRequest(**body)
                points, offset = self.client.scroll(
                    name, scroll.filter, scroll.limit or 10, scroll.order_by, scroll.offset
                )
                return {"points": points, "next_page_offset": offset}
            case "POST", "points/count":
                return self.client.count(name, models.CountRequest(**body).filter)
            case "POST", "points/delete":
                selector = (
                    models.PointIdsList(**body)
                    if "points" in body
                    else models.FilterSelector(**body)
                )
                return self.client.delete(name, selector)
            case "POST", "points/query/batch":
                batch = models.QueryRequestBatch(**body)
                return self.client.query_batch_points(name, batch.searches)
        raise LookupError(path)

    def _schema(self) -> dict[str, Any]:
        return {
            key: {
                "data_type": kind if isinstance(kind, str) else kind["type"],
                "params": None if isinstance(kind, str) else kind,
                "points": 0,
            }
            for key, kind in self.indexes.items()
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        qdrant = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"null")
                if qdrant.api_key and self.headers.get("api-key") != qdrant.api_key:
                    return self._reply(401, {"status": {"error": "Must provide an API key"}})
                try:
                    with qdrant._turn:
                        result = qdrant.answer(self.command, self.path, body)
                except ValueError as error:
                    status = 404 if "not found" in str(error) else 400
                    return self._reply(status, {"status": {"error": str(error)}})
                return self._reply(200, {"result": result, "status": "ok", "time": 0})

            do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815

            def _reply(self, status: int, answer: Any) -> None:
                content = json.dumps(answer, default=lambda model: model.model_dump(mode="json"))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(content.encode())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
