"""The stores under test: embedded, over HTTP, on a real server."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit.config.sections import EmbeddingSettings, SourceSettings
from contextkit.config.settings import Config
from contextkit.embedding.choice import Embedders, PluginEmbedders
from contextkit.models.record import Record
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.server import ServerStore
from contextkit.testing import own_git
from tests.store.faulty_qdrant import PASSING, FaultyQdrant
from tests.store.http_qdrant import LOW_LIMITS, STRICT, HttpQdrant
from tests.store.team import Team

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
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, as other tests have; on the disk where a test is marked `disk`."""
    if request.node.get_closest_marker("disk") is None:
        yield tmp_path
        return
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
        store = ServerStore.connect(server.url, embedders, indexed_fields=fields)
        yield store
        store.close()


def _unsteady(_: Path, embedders: Embedders) -> Iterator[RecordStore]:
    """Strict mode with low limits, and a fault at each fifth request."""
    limits = {**STRICT, **LOW_LIMITS}
    with (
        pytest.MonkeyPatch.context() as patched,
        FaultyQdrant(PASSING, each=5, strict=limits) as server,
    ):
        patched.setattr("contextkit.store.server_retry._FIRST_WAIT", 0.001)
        store = ServerStore.connect(server.url, embedders)
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
    "unsteady": _unsteady,
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


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Users of one server, who work in the folders of one machine."""
    with HttpQdrant() as server, own_git(tmp_path):
        yield Team(tmp_path, server)


@pytest.fixture(scope="session")
def note() -> Callable[..., Record]:
    """Makes a record of the source `notes`."""

    def make(id: str, text: str = "", project: str = "p", **rest: Any) -> Record:  # noqa: A002
        return Record(id=id, text=text, source="notes", project=project, **rest)

    return make
