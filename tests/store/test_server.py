"""What only a store on a server can get wrong: the way there, and what is there."""

from __future__ import annotations

import functools
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from httpx import Headers, ReadError
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from structlog.testing import capture_logs

from contextkit.config.load import load_config
from contextkit.config.sections import StoreSettings
from contextkit.embedding.built_in import StaticModel, load_embedder
from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.errors import StoreError, StoreModelMismatchError
from contextkit.models.record import Record
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.open import open_store
from contextkit.store.server import ServerStore
from contextkit.store.server_errors import server_errors
from contextkit.workspace.find import find_workspace

Note = Callable[..., Record]


@pytest.fixture
def client() -> Iterator[QdrantClient]:
    """A client with its data in memory."""
    client = QdrantClient(":memory:")
    yield client
    client.close()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where somebody listens and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def _error(store: ServerStore) -> str:
    with pytest.raises(StoreError) as raised:
        store.count(None, None, {})
    text = str(raised.value)
    assert "\n" not in text
    return text


def test_an_unreachable_server_is_an_error(embedders: Embedders) -> None:
    """The URL and what to do are named."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        text = _error(ServerStore.connect(url, embedders))
    assert text.startswith(f"the store at {url}: it cannot be reached")
    assert "store.url" in text


def test_a_silent_server_does_not_hang(embedders: Embedders, silent_port: int) -> None:
    """After the timeout there is an error."""
    settings = StoreSettings(timeout=1.0)
    store = ServerStore.connect(f"http://127.0.0.1:{silent_port}", embedders, settings=settings)
    assert "did not answer in time" in _error(store)


@pytest.mark.parametrize(
    "url", ["qdrant:6333", "ftp://host", "http://", "", "localhost", "http://[::1", "http://host:x"]
)
def test_what_is_no_url_is_refused_at_once(embedders: Embedders, url: str) -> None:
    """The error shows what one looks like."""
    with pytest.raises(StoreError, match="expected http://HOST:PORT"):
        ServerStore.connect(url, embedders)


def test_a_missing_api_key_is_an_error(embedders: Embedders, http_qdrant: Any) -> None:
    """The setting that names the key's variable is named; with the key it works."""
    text = _error(ServerStore.connect(http_qdrant.url, embedders))
    assert "store.api_key_variable" in text
    assert "store.api_key_variable" in _error(
        ServerStore.connect(http_qdrant.url, embedders, api_key="wrong")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store = ServerStore.connect(http_qdrant.url, embedders, api_key="secret")
    assert store.count(None, None, {}) == 0
    store.close()


def test_payload_indexes_are_made_once(embedders: Embedders, http_qdrant: Any) -> None:
    """The keys of every filter have one; a source's field has one once it is filtered by."""
    for fields in ({}, {"notes": ("kind",), "plain": ("kind",)}):
        store = ServerStore.connect(
            http_qdrant.url, embedders, api_key="secret", indexed_fields=fields
        )
        for _ in range(2):
            store.count("notes", ["p"], {"kind": "x", "other": 1})
        store.close()
    assert http_qdrant.indexes == {
        "scope": {"type": "keyword", "is_tenant": True},
        "source": "keyword",
        "project": "keyword",
        "created_at": "datetime",
        "fields.kind": "keyword",
    }
    made = [request for request in http_qdrant.requests if "/index" in request]
    assert len(made) == len(http_qdrant.indexes)


def test_something_else_than_qdrant_is_an_error(embedders: Embedders, tmp_path: Any) -> None:
    """A web server, say."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    (tmp_path / "collections/contextkit").mkdir(parents=True)
    (tmp_path / "collections/contextkit/exists").write_text("<html>")
    (tmp_path / "collections/other").mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{web.server_address[1]}"
        assert "not a Qdrant server" in _error(ServerStore.connect(url, embedders))
        assert "not a Qdrant server" in _error(
            ServerStore.connect(url, embedders, collection="other")
        )
        web.shutdown()


def test_another_model_is_refused(client: QdrantClient, embedders: Embedders, note: Note) -> None:
    """Both models and what to do are named; a model that cannot be had refuses nothing."""
    ServerStore(client, embedders).put([note("a")])
    with pytest.raises(
        StoreModelMismatchError, match=r"wordllama-256'.*'none'.*contextkit reembed"
    ):
        ServerStore(client, OneEmbedder(load_embedder("none"))).prepare()

    def lost() -> StaticModel:
        raise FileNotFoundError("lost")

    missing = ServerStore(client, OneEmbedder(ModelEmbedder("lost", lost, timeout=None)))
    assert missing.count(None, None, {}) == 1
    assert "'lost' fails (FileNotFoundError: lost)" in str(missing.problem)


@pytest.mark.parametrize(
    "schema",
    [
        {"vectors_config": models.VectorParams(size=256, distance=models.Distance.COSINE)},
        {
            "vectors_config": {
                "dense": models.VectorParams(size=64, distance=models.Distance.COSINE)
            },
            "sparse_vectors_config": {
                "bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)
            },
        },
        {
            "vectors_config": {
                "dense": models.VectorParams(size=256, distance=models.Distance.COSINE)
            },
            "sparse_vectors_config": {"bm25": models.SparseVectorParams()},
        },
        {"vectors_config": {}},
    ],
)
def test_a_collection_of_somebody_else_is_refused(
    client: QdrantClient, embedders: Embedders, schema: dict[str, Any]
) -> None:
    """Nothing is written to it."""
    client.create_collection("contextkit", **schema)
    assert "set store.collection to another name" in _error(ServerStore(client, embedders))
    assert client.count("contextkit").count == 0


def test_a_collection_of_another_version_is_refused(
    client: QdrantClient, embedders: Embedders
) -> None:
    """The error tells the way over."""
    store = ServerStore(client, embedders)
    store.prepare()
    [meta], _ = client.scroll("contextkit")
    client.set_payload("contextkit", {"schema": 99}, points=[meta.id])
    store.close()
    assert "another version of contextkit" in _error(store)


def test_two_who_make_the_collection_at_once_agree(
    client: QdrantClient, embedders: Embedders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first identity that was written stays."""
    first, second = ServerStore(client, embedders), ServerStore(client, embedders)
    exists = client.collection_exists

    def late(name: str) -> bool:
        monkeypatch.setattr(client, "collection_exists", exists)
        first.prepare()
        return False

    monkeypatch.setattr(client, "collection_exists", late)
    second.prepare()
    assert first.identity == second.identity


def test_a_failure_to_make_the_collection_is_told(
    client: QdrantClient, embedders: Embedders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is not there afterwards."""

    def refuse(*_: object, **__: object) -> None:
        raise ValueError("no room")

    monkeypatch.setattr(client, "create_collection", refuse)
    assert "no room" in _error(ServerStore(client, embedders))


def test_a_deleted_collection_is_an_error_and_then_made_anew(
    client: QdrantClient, embedders: Embedders, note: Note
) -> None:
    """A store that was running notices."""
    store = ServerStore(client, embedders)
    store.put([note("a")])
    client.delete_collection("contextkit")
    assert "not found" in _error(store)
    assert store.count(None, None, {}) == 0


def test_large_records_go_in_several_requests(
    client: QdrantClient, embedders: Embedders, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server refuses a request that is too large."""
    sizes = []
    upsert = client.upsert

    def counted(name: str, points: list[Any], **options: Any) -> Any:
        sizes.append(len(points))
        return upsert(name, points, **options)

    store = ServerStore(client, embedders)
    store.prepare()
    monkeypatch.setattr(client, "upsert", counted)
    store.put([note(str(n), "x" * 1_500_000) for n in range(5)])
    store.put([note(f"s{n}") for n in range(600)])
    assert sizes == [2, 2, 1, 256, 256, 88]


def test_close_leaves_a_hosts_client_open(client: QdrantClient, embedders: Embedders) -> None:
    """Who made it closes it."""
    store = ServerStore(client, embedders)
    store.prepare()
    store.close()
    assert client.collection_exists("contextkit")


def test_a_store_that_keeps_nothing_is_an_error(
    client: QdrantClient, embedders: Embedders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written has to be there to be read."""
    monkeypatch.setattr(client, "retrieve", lambda *_, **__: [])
    assert "did not keep" in _error(ServerStore(client, embedders))


def test_an_api_key_over_plain_http_is_warned_of(embedders: Embedders) -> None:
    """Anybody on the way could read it."""
    with capture_logs() as logs:
        ServerStore.connect("http://qdrant.example:6333", embedders, api_key="secret").close()
    assert [entry["event"] for entry in logs] == ["api_key_sent_unencrypted"]
    assert "secret" not in str(logs)


def _refusal(status: int, content: bytes) -> UnexpectedResponse:
    return UnexpectedResponse(status, "", content, Headers())


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        (
            _refusal(500, b'{"status": {"error": "out of \\n disk"}}'),
            "it answered 500: out of disk",
        ),
        (_refusal(502, b"<html>\n bad gateway"), "it answered 502: <html> bad gateway"),
        (_refusal(403, b""), "the API key may not do that"),
        (_refusal(413, b""), "max_request_size_mb"),
        (ResponseHandlingException(ReadError("reset\nby peer")), "ReadError: reset by peer"),
        (ResourceExhaustedResponse("slow down", 3), "overloaded"),
        (RuntimeError("client has been closed"), "client has been closed"),
    ],
)
def test_whatever_goes_wrong_on_the_way_is_one_line(raised: Exception, says: str) -> None:
    """It names the server."""
    with pytest.raises(StoreError) as error, server_errors("http://q"):
        raise raised
    assert says in str(error.value)
    assert str(error.value).startswith("the store at http://q: ")
    assert "\n" not in str(error.value)


def test_the_configuration_chooses_the_store(
    tmp_path: Path, embedders: Embedders, http_qdrant: Any
) -> None:
    """A server where `store.url` is set, else the folder."""
    workspace = find_workspace(tmp_path)
    flags = {"store.url": http_qdrant.url, "store.collection": "team"}
    key = {"QDRANT_API_KEY": "secret"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("QDRANT_API_KEY", "secret")
        server = open_store(load_config(workspace, environment=key, flags=flags), embedders)
    assert isinstance(server, ServerStore)
    assert server.count(None, None, {}) == 0
    assert http_qdrant.client.collection_exists("team")
    server.close()
    folder = {"store.path": str(tmp_path / "here"), "store.lock_timeout": 3.0}
    config = load_config(workspace, environment={}, flags=folder)
    embedded = open_store(config, embedders, {"notes": ("kind",)})
    assert isinstance(embedded, EmbeddedStore)
    assert (embedded.path, embedded.lock_timeout) == (tmp_path / "here", 3.0)
