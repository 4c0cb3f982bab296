"""The stores under test: embedded, over HTTP, on a real server."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from contextkit.config.sections import EmbeddingSettings, SourceSettings
from contextkit.config.settings import Config
from contextkit.embedding.choice import Embedders, PluginEmbedders
from contextkit.models.record import Record
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.server import ServerStore

_SERVER_URL = "CONTEXTKIT_TEST_QDRANT_URL"


def _choose(model: str = "wordllama", **sources: str) -> Embedders:
    chosen = {"notes": "default", "plain": "none", **sources}
    config = Config(
        embedding=EmbeddingSettings(model=model),
        sources={name: SourceSettings(embedder=embedder) for name, embedder in chosen.items()},
    )
    return PluginEmbedders(config, SourceRegistry(config, entry_points=False))


@pytest.fixture(scope="session")
def choose() -> Callable[..., Embedders]:
    """Makes what a configuration chooses: `choose("none", notes="wordllama")`."""
    return _choose


@pytest.fixture(scope="session")
def embedders() -> Embedders:
    """The default model for `notes`, none for `plain`; the same for all tests."""
    return _choose()


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on the disk, whatever other tests have: what is kept there must hold on one."""
    with tempfile.TemporaryDirectory(prefix="contextkit-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def embedded(tmp_path: Path, embedders: Embedders) -> Iterator[EmbeddedStore]:
    """An embedded store in a folder of its own."""
    fields = {"notes": ("kind",), "plain": ("kind",)}
    place = tmp_path / "store"
    store = EmbeddedStore(place, embedders, indexed_fields=fields, lock_timeout=60.0)
    yield store
    store.close()


def _embedded(path: Path, embedders: Embedders) -> Iterator[RecordStore]:
    store = EmbeddedStore(
        path / "store", embedders, indexed_fields={"notes": ("kind",), "plain": ("kind",)}
    )
    yield store
    store.close()


def _http(_: Path, embedders: Embedders) -> Iterator[RecordStore]:
    with HttpQdrant() as server:
        fields = {"notes": ("kind",), "plain": ("kind",)}
        store = ServerStore.connect(server.url, embedders, indexed_fields=fields, timeout=60)
        yield store
        store.close()


def _server(_: Path, embedders: Embedders) -> Iterator[RecordStore]:
    name = f"contextkit-test-{uuid.uuid4().hex}"
    store = ServerStore.connect(
        os.environ[_SERVER_URL],
        embedders,
        collection=name,
        api_key=os.environ.get("QDRANT_API_KEY"),
        indexed_fields={"notes": ("kind",), "plain": ("kind",)},
    )
    yield store
    store.client.delete_collection(name)
    store.close()


_MAKERS: dict[str, Callable[[Path, Embedders], Iterator[RecordStore]]] = {
    "embedded": _embedded,
    "http": _http,
}
if _SERVER_URL in os.environ:
    _MAKERS["server"] = _server


@pytest.fixture(params=list(_MAKERS))
def store(
    request: pytest.FixtureRequest, tmp_path: Path, embedders: Embedders
) -> Iterator[RecordStore]:
    """Each kind of store in turn, empty."""
    yield from _MAKERS[request.param](tmp_path, embedders)


@pytest.fixture(scope="module", params=list(_MAKERS))
def shared_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedders: Embedders
) -> Iterator[RecordStore]:
    """Each kind of store in turn, one for all the tests of a module."""
    yield from _MAKERS[request.param](tmp_path_factory.mktemp("shared"), embedders)


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
        if rest[:1] == ["points"]:
            return self._about_points(name, method, "/".join(rest), body)
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
            case "PUT", vectors if vectors.startswith("vectors/"):
                config = models.DenseVectorNameConfig(**body)
                return self.client.create_vector_name(name, rest[1], config)
            case "DELETE", "":
                return self.client.delete_collection(name)
            case "PUT", "index":
                self.indexes[body["field_name"]] = body["field_schema"]
                return {"status": "completed", "operation_id": 0}
        raise LookupError(path)

    def _about_points(self, name: str, method: str, action: str, body: Any) -> Any:  # noqa: PLR0911
        match method, action:
            case "PUT", "points":
                upsert = models.PointsList(**body)
                return self.client.upsert(name, upsert.points, update_mode=upsert.update_mode)
            case "POST", "points":
                wanted_points = models.PointRequest(**body)
                return self.client.retrieve(
                    name, wanted_points.ids, with_vectors=wanted_points.with_vector or False
                )
            case "POST", "points/payload":
                news = models.SetPayload(**body)
                return self.client.set_payload(
                    name, news.payload, list(news.points or ()), key=news.key
                )
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
        raise LookupError(action)

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
