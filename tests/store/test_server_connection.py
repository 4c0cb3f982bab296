"""The settings of the way to a server, and of its collection."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import certifi
import grpc
import pytest
from qdrant_client.grpc import HealthCheckReply
from qdrant_client.grpc.qdrant_pb2_grpc import QdrantServicer, add_QdrantServicer_to_server
from structlog.testing import capture_logs

from contextkit.config.sections import StoreSettings
from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError
from contextkit.models.record import Record
from contextkit.store.server import ServerStore
from tests.store.http_qdrant import HttpQdrant

Note = Callable[..., Record]


def test_the_form_of_a_collection_follows_the_settings(embedders: Embedders, note: Note) -> None:
    """Unset ones are the server's own; changed ones apply to the collection, except the shards."""
    with HttpQdrant() as server:
        for settings in (
            StoreSettings(),
            StoreSettings(replication_factor=2, write_consistency_factor=2, vectors_on_disk=True),
            StoreSettings(vectors_on_disk=False),
        ):
            store = ServerStore.connect(server.url, embedders, settings=settings)
            store.put([note("a")])
            store.close()
            # A second opening finds nothing to change.
            store.prepare()
            facts = store.facts()
            wanted = settings.replication_factor or facts.replication_factor
            assert facts.replication_factor == wanted
            assert facts.vectors_on_disk == bool(settings.vectors_on_disk)
            store.close()
        assert (facts.replication_factor, facts.write_consistency_factor) == (2, 2)
        changes = [request for request in server.requests if request.startswith("PATCH")]
        assert len(changes) == 2
        store = ServerStore.connect(server.url, embedders, settings=StoreSettings(shard_number=4))
        with capture_logs() as logs:
            store.prepare()
        store.close()
        assert [(entry["event"], entry["wanted"], entry["shards"]) for entry in logs] == [
            ("shards_not_changed", 4, 1)
        ]


def test_vectors_that_are_added_are_on_disk_at_once(embedders: Embedders, note: Note) -> None:
    """A model that comes later follows the setting, too."""
    with HttpQdrant() as server:
        settings = StoreSettings(vectors_on_disk=True)
        store = ServerStore.connect(server.url, embedders, settings=settings)
        store.put([note("a")])
        assert store.facts().vectors_on_disk
        store.close()


def test_a_ca_file_that_cannot_be_read_is_an_error(embedders: Embedders, tmp_path: Path) -> None:
    """It is named with its setting; a readable one is accepted."""
    wrong = tmp_path / "ca.pem"
    for content in (None, "no certificate"):
        if content:
            wrong.write_text(content)
        with pytest.raises(
            StoreError, match=r"store\.ca_file: cannot read certificates from .*PEM"
        ):
            ServerStore.connect("https://q", embedders, settings=StoreSettings(ca_file=wrong))
    good = StoreSettings(ca_file=Path(certifi.where()), grpc_port=6334)
    ServerStore.connect("https://q", embedders, settings=good).close()


class _Health(QdrantServicer):
    """A server that is busy twice, and then says its version."""

    calls = 0

    def HealthCheck(self, _: Any, context: Any) -> Any:  # noqa: N802
        """Answer over gRPC."""
        self.calls += 1
        if self.calls < 3:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "slow down")
        return HealthCheckReply(title="qdrant", version="1.10.1")


def test_grpc_is_used_where_its_port_is_set(
    embedders: Embedders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its errors are repeated and turned into clear ones, as those of HTTP are."""
    monkeypatch.setattr("contextkit.store.server_retry._FIRST_WAIT", 0.001)
    service = _Health()
    server = grpc.server(ThreadPoolExecutor(1))
    add_QdrantServicer_to_server(service, server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    settings = StoreSettings(grpc_port=port, retry_timeout=1.0)
    store = ServerStore.connect("http://127.0.0.1:9", embedders, settings=settings)
    with pytest.raises(StoreError, match=r"is Qdrant 1\.10\.1: upgrade it"):
        store.prepare()
    assert service.calls == 3
    server.stop(None).wait()
    with pytest.raises(StoreError, match=r"cannot be reached over gRPC .*store\.grpc_port"):
        store.prepare()
    store.close()
