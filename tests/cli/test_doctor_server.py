"""`contextkit doctor` on a Qdrant server: version, state, replicas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from contextkit.cli.checks.server import server_findings
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import KeywordsOnly
from contextkit.store.server import ServerStore
from contextkit.store.server_facts import ServerFacts
from tests.cli.test_doctor import findings, those
from tests.store.http_qdrant import STRICT, HttpQdrant

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

pytestmark = pytest.mark.one_python


@pytest.fixture
def server() -> Iterator[HttpQdrant]:
    """A server in strict mode."""
    with HttpQdrant(strict=STRICT) as server:
        yield server


def test_a_server_and_its_collection_are_described(
    contextkit: CommandLine, server: HttpQdrant
) -> None:
    """Before the first record, nothing is created."""
    served = contextkit.with_variables(CONTEXTKIT_STORE_URL=server.url)
    told = those(findings(served), "ok")
    assert any(f"none yet; it will be created at {server.url}" in line for line in told)
    assert not server.client.collection_exists("contextkit")
    served.json("remember", "Tabs, never spaces")
    found = findings(served)
    assert not those(found, "problem")
    [line] = [line for line in those(found, "ok") if "Qdrant 1.19.0" in line]
    assert "collection 'contextkit' is ready: 2 points" in line
    assert "1 shard, replication factor 1, vectors in memory" in line
    assert any("strict mode: max_payload_index_count = 100" in line for line in those(found, "ok"))


def test_dead_replicas_and_old_versions_are_warnings(
    contextkit: CommandLine, server: HttpQdrant
) -> None:
    """Each with what to do."""
    served = contextkit.with_variables(CONTEXTKIT_STORE_URL=server.url)
    served.json("remember", "Tabs, never spaces")
    server.version = "1.17.1"
    server.created["replication_factor"] = 3
    warned = those(findings(served), "warning")
    assert any("Qdrant 1.17.1 cannot add a model's vectors" in line for line in warned)
    [line] = [line for line in warned if "shard copies" in line]
    assert "2 of 3 shard copies do not answer: 1 Active, 2 Dead; start the nodes" in line


@pytest.mark.parametrize(
    ("facts", "state", "words"),
    [
        ({"optimizer_error": "disk full"}, "problem", "cannot optimize the collection: disk full"),
        ({"status": "red"}, "problem", "a part of the collection has failed"),
        ({"status": "grey"}, "warning", "only after the next write"),
        (
            {"write_consistency_factor": 2, "replicas": {"Active": 1, "Dead": 1}},
            "problem",
            "writes fail: each needs 2 active copies",
        ),
        ({"replication_factor": 2, "replicas": {"Active": 1}}, "warning", "1 shard copies instead"),
    ],
)
def test_what_is_wrong_with_a_server_is_named(
    monkeypatch: pytest.MonkeyPatch,
    server: HttpQdrant,
    facts: dict[str, Any],
    state: str,
    words: str,
) -> None:
    """The stand-in cannot be in these states, so they are given."""
    sound: dict[str, Any] = {
        "version": "1.19.0",
        "missing": None,
        "collection": "contextkit",
        "status": "green",
        "optimizer_error": None,
        "points": 1,
        "segments": 1,
        "shards": 1,
        "replication_factor": 1,
        "write_consistency_factor": 1,
        "replicas": {"Active": 1},
    }
    given = ServerFacts(**{**sound, **facts})
    monkeypatch.setattr(ServerStore, "facts", lambda _: given)
    store = ServerStore.connect(server.url, OneEmbedder(KeywordsOnly()))
    found = [each for each in server_findings(store) if each.state != "ok"]
    store.close()
    assert any(each.state == state and words in each.text for each in found)
