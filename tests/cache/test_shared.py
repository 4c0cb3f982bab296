"""What processes with one Redis share beside contexts: queries' vectors, a server's revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from qdrant_client import QdrantClient

from contextkit import ContextKit, Record, SourceInfo, hookimpl
from contextkit.cache.caches import Caches, open_caches
from contextkit.cache.results import QueryVectors
from contextkit.config.sections import CacheSettings, StoreSettings
from contextkit.config.settings import Config
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import KeywordsOnly
from contextkit.store.server import ServerStore
from contextkit.testing import HashingModel
from contextkit.testing.users import wait_until
from tests.cache.conftest import Notes, OpenKit, put
from tests.cache.redis_server import RedisServer
from tests.cache.test_contexts import cache_of

SLOW = {"cache.timeout": 30.0}
DEAD = "http://127.0.0.1:1"


class Counting(HashingModel):
    """A model that counts the queries it embeds."""

    queries: list[str] = []  # noqa: RUF012 - a test's own class

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector, and one more query."""
        Counting.queries.append(text)
        return super().embed_query(text)


class Provider:
    """A plugin that has the model."""

    @hookimpl
    def contextkit_embedder(self, model: str) -> Any:
        """The model, whatever it is called."""
        return Counting(8, model)


@pytest.fixture
def embedding_kit(open_kit: OpenKit, redis: RedisServer, notes: Notes) -> Callable[..., ContextKit]:
    """Opens kits whose queries a plugin's model embeds."""
    notes.info = SourceInfo(cacheable=True)
    Counting.queries.clear()

    def open_one(**settings: Any) -> ContextKit:
        given = {"embedding.model": "count:1", "embedding.timeout": 30.0, **SLOW, **settings}
        kit = open_kit(redis.url, **given)
        kit.register(Provider(), "provider")
        return kit

    return open_one


# -- vectors --------------------------------------------------------------------------------


def test_a_query_is_embedded_once_for_all(
    embedding_kit: Callable[..., ContextKit], redis: RedisServer
) -> None:
    """By the first process; the others have the same vector, for a day."""
    one, other = embedding_kit(**{"cache.jitter": 0.0}), embedding_kit()
    first = one.embedder("notes").query("the tide rises")
    assert first
    assert other.embedder("notes").query("the tide rises") == first
    assert Counting.queries == ["the tide rises"]
    [name] = redis.names("*:embeddings:*")
    assert 86390 <= redis.number("TTL", name) <= 86400
    assert redis.number("STRLEN", name) == len(f"{name}\n") + 8 * 4
    hits = [kit.cache_stats()["embeddings"].hits for kit in (one, other)]
    assert hits == [0, 1]


def test_another_model_or_text_has_another_vector(
    embedding_kit: Callable[..., ContextKit],
) -> None:
    """The name of the model is part of the key."""
    embedding_kit().embedder("notes").query("tide")
    embedding_kit(**{"embedding.model": "count:2"}).embedder("notes").query("tide")
    embedding_kit().embedder("notes").query("Tide")
    assert Counting.queries == ["tide", "tide", "Tide"]


@pytest.mark.parametrize(
    "foreign", [b"", b"x", b"\x80\x04N.", b"x" * 31, np.full(8, np.nan, "<f4").tobytes()]
)
def test_foreign_vectors_are_made_anew(
    embedding_kit: Callable[..., ContextKit], redis: RedisServer, foreign: bytes
) -> None:
    """A vector has its length, and numbers that are some."""
    first = embedding_kit().embedder("notes").query("tide")
    [name] = redis.names("*:embeddings:*")
    redis.command("SET", name, f"{name}\n".encode() + foreign)
    assert embedding_kit().embedder("notes").query("tide") == first
    assert embedding_kit().embedder("notes").query("tide") == first
    assert Counting.queries == ["tide", "tide"]


def test_without_redis_queries_are_embedded(
    embedding_kit: Callable[..., ContextKit], redis: RedisServer
) -> None:
    """It is only slower."""
    redis.kill()
    assert embedding_kit().embedder("notes").query("tide")


def test_in_memory_embedders_remember_by_themselves(open_kit: OpenKit) -> None:
    """There is no second memory beside theirs."""
    kit = open_kit()
    assert isinstance(kit.caches, Caches)
    assert kit.caches.vectors is None
    assert kit.cache_stats()["embeddings"].hit_ratio == 0.0


# -- a server's revisions ---------------------------------------------------------------------


def caches_on(redis: RedisServer) -> Caches:
    """The caches of a process that uses a store on a server."""
    return open_caches(config_on(redis))


def config_on(redis: RedisServer) -> Config:
    """Its configuration."""
    return Config(
        cache=CacheSettings(enabled=True, url=redis.url, timeout=30.0),
        store=StoreSettings(url=DEAD),
    )


@pytest.fixture
def server_store(redis: RedisServer) -> Iterator[Callable[[], ServerStore]]:
    """Stores of several processes on one server, with revisions in one Redis."""
    client, made = QdrantClient(":memory:"), []

    def make() -> ServerStore:
        caches = caches_on(redis)
        made.append(caches)
        revisions = caches.revisions(config_on(redis))
        assert revisions is not None
        return ServerStore(client, OneEmbedder(KeywordsOnly()), revisions=revisions)

    yield make
    for caches in made:
        caches.close()
    client.close()


def records(*ids: str) -> Sequence[Record]:
    """Records of the source `notes`."""
    return [Record(id=each, text=f"tide {each}", source="notes", project="p") for each in ids]


def test_a_servers_revisions_are_in_redis(server_store: Callable[[], ServerStore]) -> None:
    """What one process writes, another that caches there sees at once."""
    one, other = server_store(), server_store()
    seen = [other.revision("notes")]
    assert seen == [one.revision("notes")]
    assert seen[0] is not None
    other_source = other.revision("plain")
    one.put(records("1", "2"))
    seen.append(other.revision("notes"))
    assert other.revision("plain") == other_source
    one.delete_where("notes", ["p"], {"kind": "a"})
    seen.append(other.revision("notes"))
    one.delete([record.point_id for record in records("1")])
    seen.append(other.revision("notes"))
    assert len(set(seen)) == 4
    assert other.revision("plain") != other_source


def test_what_redis_did_not_hear_of_it_hears_first(
    server_store: Callable[[], ServerStore], redis: RedisServer
) -> None:
    """While it hangs no revision is known; after that, no store has the one from before.

    When it goes on, it still carries out what it was sent while it hung. That may give the
    records one more revision, so the two stores are asked until they agree.
    """
    one, other = server_store(), server_store()
    before = other.revision("notes")
    for store in (one, other):
        store.revisions.levels.redis.timeout = 0.05  # type: ignore[attr-defined]
        store.revisions.levels.redis.breaker.cooldown = 0.0  # type: ignore[attr-defined]
    redis.hang()
    one.put(records("1"))
    assert one.revision("notes") is None
    redis.go_on()
    for store in (one, other):
        store.revisions.levels.redis.timeout = 30.0  # type: ignore[attr-defined]
    assert one.revision("notes") not in {None, before}
    assert other.revision("notes") not in {None, before}
    wait_until(lambda: one.revision("notes") == other.revision("notes"), "one revision")


@pytest.fixture
def server_kit(
    redis: RedisServer, server_store: Callable[[], ServerStore], notes: Notes, open_kit: OpenKit
) -> Iterator[Callable[[], ContextKit]]:
    """Kits of several processes on that server and that Redis."""
    base = open_kit(redis.url, **SLOW)
    made = []

    def make() -> ContextKit:
        caches = caches_on(redis)
        made.append(caches)
        caches.revisions(config_on(redis))
        return ContextKit(
            workspace=base.workspace,
            config=base.config,
            registry=base.registry,
            store=server_store(),
            caches=caches,
        )

    yield make
    for caches in made:
        caches.close()


async def test_contexts_of_a_server_follow_its_revisions(
    server_kit: Callable[[], ContextKit],
) -> None:
    """A hit until another process writes."""
    one, other = server_kit(), server_kit()
    put(one, "the tide rises")
    states = [cache_of(await kit.assemble_context("tide")).state for kit in (one, other)]
    put(one, "the tide falls")
    context = await other.assemble_context("tide")
    assert [*states, cache_of(context).state] == ["kept", "hit", "kept"]
    assert len(context.items) == 2


def test_a_redis_of_the_past_has_no_revision_of_today(
    server_store: Callable[[], ServerStore], redis: RedisServer
) -> None:
    """Started from a snapshot it has the tokens of then: nobody takes them for today's."""
    writer = server_store()
    then = writer.revision("notes")
    redis.command("SAVE")
    writer.put(records("1"))
    today = writer.revision("notes")
    redis.kill()
    redis.start()
    # It has the token of then, and who was not there cannot tell that by the token alone.
    newcomer = server_store()
    after = newcomer.revision("notes")
    assert isinstance(then, str)
    assert isinstance(after, str)
    assert after.partition("-")[2] == then.partition("-")[2]
    assert len({then, today, after}) == 3
    assert after == newcomer.revision("notes")
    assert writer.revision("notes") not in {then, today, after}


def test_a_redis_that_was_filled_anew_has_no_revision_of_the_past(
    server_store: Callable[[], ServerStore], redis: RedisServer
) -> None:
    """Who has seen what followed a token replaces it, for all."""
    writer, reader = server_store(), server_store()
    then = [writer.revision("notes"), reader.revision("notes")]
    filled = {name: redis.command("GET", name).split(b"\r\n")[1] for name in redis.names()}
    writer.put(records("1"))
    redis.command("FLUSHALL")
    for name, value in filled.items():
        redis.command("SET", name, value)
    # This one has seen nothing of the write.
    assert reader.revision("notes") == then[0] == then[1]
    assert writer.revision("notes") is None
    after = [writer.revision("notes"), reader.revision("notes")]
    assert after[0] == after[1] is not None
    assert after[0] != then[0]


@pytest.mark.parametrize("store", ["embedded", "server"])
async def test_a_redis_of_the_past_serves_no_context_of_the_past(
    store: str,
    open_kit: OpenKit,
    notes: Notes,
    server_kit: Callable[[], ContextKit],
    redis: RedisServer,
) -> None:
    """The context that it has kept is of records that have changed since."""

    def kit() -> ContextKit:
        return server_kit() if store == "server" else open_kit(redis.url, **SLOW)

    one = kit()
    put(one, "the tide rises")
    assert cache_of(await one.assemble_context("tide")).state == "kept"
    redis.command("SAVE")
    put(one, "the tide falls")
    redis.kill()
    redis.start()
    assert redis.names("*:contexts:*")
    context = await kit().assemble_context("tide")
    assert (cache_of(context).state, len(context.items)) == ("kept", 2)


def test_a_redis_that_does_not_say_its_run_keeps_nothing_of_a_server(
    server_store: Callable[[], ServerStore], redis: RedisServer
) -> None:
    """Without it nobody could tell that it was started from a snapshot."""
    redis.command("ACL", "SETUSER", "default", "-info")
    store = server_store()
    assert store.revision("notes") is None
    store.put(records("1"))
    assert store.revision("notes") is None
    assert store.revisions.levels.redis.problem is None  # type: ignore[attr-defined]


def test_a_kit_on_a_server_has_them(redis: RedisServer, open_kit: OpenKit) -> None:
    """Where the cache is a Redis; without one they are this process' own."""
    shared = open_kit(redis.url, **{"store.url": DEAD, **SLOW})
    alone = open_kit("memory", **{"store.url": DEAD})
    again = open_kit("memory", **{"store.url": DEAD})
    assert shared.store.revision("notes") == shared.store.revision("notes")
    assert redis.names("*:revision:*")
    assert alone.store.revision("notes") != again.store.revision("notes")


def test_vectors_are_little_endian(redis: RedisServer) -> None:
    """Machines of both kinds may share one Redis."""
    caches = caches_on(redis)
    assert isinstance(caches.vectors, QueryVectors)
    caches.vectors.keep("m", "tide", np.array([1.0, 2.0], dtype=np.float32))
    [name] = redis.names()
    assert redis.command("GET", name).endswith(b"\x00\x00\x80\x3f\x00\x00\x00\x40\r\n")
    found = caches.vectors.get("m", 2, "tide")
    assert found is not None
    assert found.tolist() == [1.0, 2.0]
    caches.close()
