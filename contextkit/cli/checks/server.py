"""Check the Qdrant server: version, state of the collection, replicas."""

from __future__ import annotations

from collections.abc import Iterator

from contextkit.cli.checks.finding import Finding, fine, problem, warning
from contextkit.store.base import RecordStore
from contextkit.store.server import ServerStore
from contextkit.store.server_facts import ServerFacts

_STORE = "store"
_STATES = {
    "green": "ready",
    "yellow": "ready, and being optimized",
    "grey": "ready, and not optimized since the server's start",
}


def server_findings(store: RecordStore) -> Iterator[Finding]:
    """Describe the server of a store that opens, and what is wrong with it."""
    if not isinstance(store, ServerStore):
        return
    facts = store.facts()
    yield fine(_STORE, _described(facts, store.url))
    if facts.limits:
        yield fine(_STORE, f"strict mode: {', '.join(facts.limits)}")
    if facts.missing:
        yield warning(_STORE, facts.missing)
    yield from _state(facts)
    yield from _replicas(facts)
    if unfinished := store.identity.unfinished:
        yield warning(_STORE, unfinished, "run `contextkit reembed` until its end")


def _described(facts: ServerFacts, url: str) -> str:
    version = f"Qdrant {facts.version}" if facts.version else "Qdrant of an unknown version"
    state = _STATES.get(facts.status, facts.status)
    vectors = "on disk" if facts.vectors_on_disk else "in memory"
    return (
        f"{version} at {url}, collection '{facts.collection}' is {state}: "
        f"{facts.points:,} points, {facts.segments:,} segments, {_counted(facts.shards, 'shard')}, "
        f"replication factor {facts.replication_factor}, vectors {vectors}"
    )


def _state(facts: ServerFacts) -> Iterator[Finding]:
    if facts.optimizer_error:
        yield problem(
            _STORE,
            f"the server cannot optimize the collection: {facts.optimizer_error}",
            "see the server's log; often its disk is full",
        )
    elif facts.status == "red":
        yield problem(_STORE, "a part of the collection has failed", "see the server's log")
    elif facts.status == "grey":
        yield warning(
            _STORE,
            "the server optimizes the collection only after the next write",
            "store something, or send any update of the collection to the server",
        )


def _replicas(facts: ServerFacts) -> Iterator[Finding]:
    copies = sum(facts.replicas.values())
    if facts.inactive_replicas:
        states = ", ".join(f"{count} {state}" for state, count in sorted(facts.replicas.items()))
        yield warning(
            _STORE,
            f"{facts.inactive_replicas} of {copies} shard copies do not answer: {states}",
            "start the nodes that are down; Qdrant then repairs the copies",
        )
    active = copies - facts.inactive_replicas
    if copies and active < facts.shards * facts.write_consistency_factor:
        yield problem(
            _STORE,
            f"writes fail: each needs {facts.write_consistency_factor} active copies of its shard",
            "start the nodes that are down, or lower store.write_consistency_factor",
        )
    wanted = facts.shards * facts.replication_factor
    if copies and copies < wanted:
        yield warning(
            _STORE,
            f"there are {copies} shard copies instead of {wanted}: the cluster has too few nodes, "
            f"or the replication factor was raised later",
            "replicate the shards as the server's documentation says",
        )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
