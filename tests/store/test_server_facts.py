"""What a server says about itself: version, state, replicas and limits."""

from __future__ import annotations

from collections.abc import Callable

from contextkit.embedding.choice import Embedders
from contextkit.models.record import Record
from contextkit.store.server import ServerStore
from tests.store.http_qdrant import STRICT, HttpQdrant

Note = Callable[..., Record]


def test_facts_tell_the_state_of_the_collection(embedders: Embedders, note: Note) -> None:
    """Version, status, points, shard copies and the limits of strict mode."""
    with HttpQdrant(strict={**STRICT, "max_query_limit": 50}) as server:
        store = ServerStore.connect(server.url, embedders)
        store.put([note("a"), note("b")])
        server.created["replication_factor"] = 3
        facts = store.facts()
        store.close()
    assert (facts.version, facts.missing, facts.status) == ("1.19.0", None, "green")
    assert (facts.optimizer_error, facts.segments, facts.shards) == (None, 1, 1)
    assert (facts.replication_factor, facts.write_consistency_factor) == (3, 1)
    assert (facts.replicas, facts.inactive_replicas) == ({"Active": 1, "Dead": 2}, 2)
    assert facts.points == 3
    assert facts.indexes["created_at"] == "datetime"
    assert facts.limits == [
        "max_payload_index_count = 100",
        "max_query_limit = 50",
        "unindexed_filtering_retrieve = false",
        "unindexed_filtering_update = false",
    ]


def test_an_old_version_says_what_it_lacks(embedders: Embedders) -> None:
    """One sentence names the features and the versions that have them."""
    with HttpQdrant(version="1.17.1") as server:
        store = ServerStore.connect(server.url, embedders)
        missing = store.facts().missing
        store.close()
    assert missing == (
        "Qdrant 1.17.1 cannot add a model's vectors to a collection (needs 1.18); count word "
        "frequencies per source, which makes keyword scores less exact (needs 1.19): upgrade it"
    )
